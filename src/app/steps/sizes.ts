import type { LevelDiagnostics } from '../../analysis/groups.ts';

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

/** [bins] how many steps (`rows`) or groups fall into each bin. */
export function binned(histogram: LevelDiagnostics['histogram'], unit: 'rows' | 'groups'): number[] {
  const counts = sizeBins.map(() => 0);
  for (const bin of histogram) counts[sizeBins.findIndex(({ to }) => bin.size <= to)]! += bin[unit];
  return counts;
}
