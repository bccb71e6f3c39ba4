/**
 * Where adapters differ, a kernel has variants; this record says which to use. Chosen by measurement (src/gpu/tune.ts), stored
 * in checkpoints and pinned by `--variants`: with the same seed, adapter and variants a run repeats bit for bit.
 */
export interface KernelVariants {
  /**
   * Invocations that share one row in kernels that reduce along rows (norms, softmax): 1 on CPU adapters, where barriers are
   * emulated, more on GPUs, where neighbours should read neighbouring words.
   */
  readonly rowLanes: 1 | 8 | 32;
  /** How a matrix product keeps its operands; see shaders/linear.wgsl. */
  readonly matmul: 'registers-8x8' | 'registers-16x4' | 'registers-4x4' | 'workgroup-64';
  /**
   * Tokens that one invocation of the attention kernels takes together when heads are 16 wide; wider heads take fewer, so that
   * registers stay the same. A tile shares the keys and values that it loads.
   */
  readonly attentionTile: 1 | 2 | 4 | 8;
}

/** Safe everywhere and the fastest measured on software adapters. */
export const DEFAULT_VARIANTS: KernelVariants = { rowLanes: 1, matmul: 'registers-8x8', attentionTile: 4 };

/** Constants that shaders/lanes.wgsl needs. */
export function laneConstants(variants: KernelVariants, workgroup: number) {
  return { WORKGROUP: workgroup, LANES: variants.rowLanes, COOPERATIVE: variants.rowLanes > 1 };
}
