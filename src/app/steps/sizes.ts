import type { Grouping } from '../../estimators/groups.ts';

/** Group sizes in doubling bins: fine where groups are small, the same at every level so that levels compare. */
export const sizeBins = [
  { from: 1, to: 1 },
  { from: 2, to: 2 },
  { from: 3, to: 4 },
  { from: 5, to: 8 },
  { from: 9, to: 16 },
  { from: 17, to: 32 },
  { from: 33, to: 64 },
  { from: 65, to: Infinity },
] as const;

export interface LevelSizes {
  readonly level: number;
  /** [bins] steps whose group has a size in the bin. */
  readonly steps: readonly number[];
  /** [bins] groups with a size in the bin. */
  readonly groups: readonly number[];
  /** Share of all steps that are in a group of two or more at this level. */
  readonly utilisation: number;
}

/** Counts per level, by steps and by groups. Steps that have no such level count as alone. */
export function levelSizes(level: number, groups: Grouping, rowCount: number): LevelSizes {
  const steps = sizeBins.map(() => 0);
  const counts = sizeBins.map(() => 0);
  let grouped = 0;
  let inAny = 0;
  for (let g = 0; g < groups.groupCount; g++) {
    const size = groups.size[g]!;
    if (size === 0) continue;
    const bin = sizeBins.findIndex(({ to }) => size <= to);
    steps[bin]! += size;
    counts[bin]!++;
    inAny += size;
    if (size > 1) grouped += size;
  }
  steps[0]! += rowCount - inAny;
  return { level, steps, groups: counts, utilisation: rowCount === 0 ? 0 : grouped / rowCount };
}
