/**
 * Where adapters differ, a kernel has variants; this record says which to use. Chosen by measurement
 * (src/gpu/tune.ts) or pinned: with the same seed, adapter and variants a run repeats bit for bit.
 */
export type MatmulVariant = 'spread-8x8' | 'spread-16x4' | 'grid-8x8' | 'tiled-8x8' | 'tiled-4x4';

export interface KernelVariants {
  /**
   * Invocations that share one row in kernels that reduce along rows (norms, softmax): 1 on CPU adapters, where barriers are
   * emulated, more on GPUs, where neighbours should read neighbouring words.
   */
  readonly rowLanes: 1 | 4 | 8 | 32;
  /** How those invocations add up: through workgroup memory, or within a subgroup that holds them all, where the device has such. */
  readonly rowSums: 'memory' | 'subgroups';
  /**
   * How a matrix product is laid out: sums that one invocation keeps in registers (rows × columns), and whether the invocations of a
   * workgroup spread along the columns alone (CPU adapters: all read the same rows of x), over a grid of 8 columns, or over 8 × 8 with
   * operands in workgroup memory (GPUs).
   */
  readonly matmul: MatmulVariant;
  /**
   * Tokens that one invocation of the attention kernels takes together when heads are 16 wide; wider heads take fewer, so that
   * registers stay the same. A tile shares the keys and values that it loads.
   */
  readonly attentionTile: 1 | 2 | 4 | 8;
}

/** Safe everywhere and the fastest measured on software adapters. */
export const DEFAULT_VARIANTS: KernelVariants = {
  rowLanes: 1,
  rowSums: 'memory',
  matmul: 'spread-8x8',
  attentionTile: 4,
};

/** Every value that a variant can take, in the order in which src/gpu/tune.ts tries them: the one that differs most from the default first. */
export const variantChoices: { readonly [Name in keyof KernelVariants]: readonly KernelVariants[Name][] } = {
  matmul: ['spread-8x8', 'tiled-8x8', 'grid-8x8', 'spread-16x4', 'tiled-4x4'],
  rowLanes: [1, 32, 8, 4],
  rowSums: ['memory', 'subgroups'],
  attentionTile: [1, 2, 4, 8],
};

/** Variants that do not exist. */
export class VariantsError extends Error {
  override readonly name = 'VariantsError';
}

/** `matmul=spread-8x8,rowLanes=1`: what `parseVariants` takes and reports print. */
export function formatVariants(variants: KernelVariants): string {
  return Object.keys(variantChoices)
    .map((name) => `${name}=${variants[name as keyof KernelVariants]}`)
    .join(',');
}

/** @throws VariantsError that lists what there is. */
export function parseVariants(text: string): Partial<KernelVariants> {
  const pinned: Record<string, string | number> = {};
  for (const item of text.split(',').filter(Boolean)) {
    const [name, value] = item.split('=') as [string, string | undefined];
    const choices: readonly (string | number)[] | undefined = Object.hasOwn(variantChoices, name)
      ? variantChoices[name as keyof KernelVariants]
      : undefined;
    const choice = choices?.find((one) => String(one) === value);
    if (choice === undefined) {
      const known = Object.entries(variantChoices).map(([key, values]) => `${key} = ${values.join(' | ')}`);
      throw new VariantsError(`There is no variant ${JSON.stringify(item)}; there are ${known.join('; ')}.`);
    }
    pinned[name] = choice;
  }
  return pinned;
}

/** Constants that shaders/lanes.wgsl needs. */
export function laneConstants(variants: KernelVariants, workgroup: number) {
  const { rowLanes, rowSums } = variants;
  return {
    WORKGROUP: workgroup,
    LANES: rowLanes,
    COOPERATIVE: rowLanes > 1,
    SUBGROUPS: rowLanes > 1 && rowSums === 'subgroups',
  };
}

/** Whether a device can sum rows as these variants say: subgroups must be there and hold all lanes of a row. */
export function canSum(device: { readonly subgroupSize: number }, { rowLanes, rowSums }: KernelVariants): boolean {
  return rowSums === 'memory' || rowLanes === 1 || rowLanes <= device.subgroupSize;
}
