/**
 * Where adapters differ, a kernel has variants; this record says which to use. Chosen by measurement (src/gpu/tune.ts), stored
 * in checkpoints and pinned by `--variants`: with the same seed, adapter and variants a run repeats bit for bit.
 */
export type MatmulVariant = 'spread-8x8' | 'spread-16x4' | 'grid-8x8' | 'grid-4x4';

export interface KernelVariants {
  /**
   * Invocations that share one row in kernels that reduce along rows (norms, softmax): 1 on CPU adapters, where barriers are
   * emulated, more on GPUs, where neighbours should read neighbouring words.
   */
  readonly rowLanes: 1 | 8 | 32;
  /**
   * How a matrix product is laid out: sums that one invocation keeps in registers (rows × columns), and whether the invocations of a
   * workgroup spread along the columns alone (CPU adapters: all read the same rows of x) or over a grid of 8 columns (GPUs).
   */
  readonly matmul: MatmulVariant;
  /**
   * Tokens that one invocation of the attention kernels takes together when heads are 16 wide; wider heads take fewer, so that
   * registers stay the same. A tile shares the keys and values that it loads.
   */
  readonly attentionTile: 1 | 2 | 4 | 8;
}

/** Safe everywhere and the fastest measured on software adapters. */
export const DEFAULT_VARIANTS: KernelVariants = { rowLanes: 1, matmul: 'spread-8x8', attentionTile: 4 };

/** Constants that shaders/lanes.wgsl needs. */
export function laneConstants(variants: KernelVariants, workgroup: number) {
  return { WORKGROUP: workgroup, LANES: variants.rowLanes, COOPERATIVE: variants.rowLanes > 1 };
}
