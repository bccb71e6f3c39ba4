import fc from 'fast-check';
import { expect, test } from 'vitest';
import { centralDifferences } from '../../testing/random-rows.ts';
import { tokenWeights } from './aggregation.ts';
import { valueLoss } from './value.ts';

test('the gradient is the derivative of the loss', () => {
  const number = fc.double({ min: -2, max: 2, noNaN: true });
  fc.assert(
    fc.property(fc.array(fc.tuple(number, number, number), { minLength: 1, maxLength: 6 }), (entries) => {
      const rows = {
        rowStart: [0, entries.length],
        mask: entries.map(() => 1),
        value: entries.map(([value]) => value),
        oldValue: entries.map(([, old]) => old),
        returns: entries.map(([, , target]) => target),
      };
      // Kinks: the edge of the clip, and where both errors are equally large.
      for (const [value, old, target] of entries) {
        const clip = Math.min(Math.max(value, old - 0.5), old + 0.5);
        fc.pre(Math.abs(Math.abs(value - old) - 0.5) > 1e-3);
        fc.pre(value === clip || Math.abs(Math.abs(value - target) - Math.abs(clip - target)) > 1e-3);
      }
      const weights = tokenWeights('token-mean', rows);
      const { gradient } = valueLoss(rows, weights, 0.5);
      const slopes = centralDifferences((value) => valueLoss({ ...rows, value }, weights, 0.5).loss, rows.value);
      slopes.forEach((slope, i) => expect(Math.abs(gradient[i]! - slope)).toBeLessThan(1e-7));
    }),
  );
});
