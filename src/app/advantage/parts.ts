import type { AdvantagePart } from '../../estimators/explain.ts';

/** What a part adds to the sum; a part without weight may have no advantage at all. */
export const contribution = ({ advantage, weight }: AdvantagePart): number => (weight === 0 ? 0 : weight * advantage);

/** Members of what the step is compared with; 0 = no such group. */
export const sizeOf = (part: AdvantagePart): number => ('members' in part ? part.members.length : 0);

/** The parts that count, each from where the sum stood before it to where it stands after. */
export function runningSum(parts: readonly AdvantagePart[]): { part: AdvantagePart; from: number; to: number }[] {
  const segments: { part: AdvantagePart; from: number; to: number }[] = [];
  for (const part of parts) {
    const from = segments.at(-1)?.to ?? 0;
    if (contribution(part) !== 0) segments.push({ part, from, to: from + contribution(part) });
  }
  return segments;
}
