import fc from 'fast-check';
import type { ObjectiveRows } from '../training/losses/total.ts';

/** Rows of a mini-batch with everything a loss reads: 1–5 rows of 0–6 tokens, some masked, some rows empty. */
export const objectiveRows: fc.Arbitrary<Required<ObjectiveRows>> = fc
  .array(fc.array(fc.boolean(), { maxLength: 6 }), { minLength: 1, maxLength: 5 })
  .chain((masks) => {
    const rowStart = [0];
    for (const mask of masks) rowStart.push(rowStart.at(-1)! + mask.length);
    const tokens = rowStart.at(-1)!;
    const column = (min: number, max: number) =>
      fc.array(fc.double({ min, max, noNaN: true }), { minLength: tokens, maxLength: tokens });
    return fc
      .record({
        oldLogProb: column(-3, -0.01),
        change: column(-1, 1),
        rowAdvantage: fc.array(fc.double({ min: -2, max: 2, noNaN: true }), {
          minLength: masks.length,
          maxLength: masks.length,
        }),
        refLogProb: column(-3, -0.01),
        entropy: column(0, 3),
      })
      .map(({ oldLogProb, change, rowAdvantage, refLogProb, entropy }) => ({
        rowStart,
        mask: masks.flat().map(Number),
        oldLogProb,
        logProb: oldLogProb.map((value, i) => value + change[i]!),
        advantage: masks.flatMap((mask, row) => mask.map(() => rowAdvantage[row]!)),
        refLogProb,
        entropy,
      }));
  });

/** ∂f/∂x at every entry by central differences. */
export function centralDifferences(f: (x: Float64Array) => number, x: ArrayLike<number>, step = 1e-6): Float64Array {
  const moved = Float64Array.from(x);
  return moved.map((_, i) => {
    const kept = moved[i]!;
    moved[i] = kept + step;
    const above = f(moved);
    moved[i] = kept - step;
    const below = f(moved);
    moved[i] = kept;
    return (above - below) / (2 * step);
  });
}
