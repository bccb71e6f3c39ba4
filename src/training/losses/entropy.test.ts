import fc from 'fast-check';
import { expect, test } from 'vitest';
import { centralDifferences } from '../../testing/random-rows.ts';
import { entropy, entropyGradient } from './entropy.ts';

function logSoftmax(logits: ArrayLike<number>): number[] {
  const values = Array.from(logits);
  const max = Math.max(...values);
  const logSum = max + Math.log(values.reduce((sum, z) => sum + Math.exp(z - max), 0));
  return values.map((z) => z - logSum);
}

test('the gradient in the logits is the derivative of the entropy', () => {
  const logits = fc.array(fc.double({ min: -4, max: 4, noNaN: true }), { minLength: 2, maxLength: 7 });
  fc.assert(
    fc.property(logits, (z) => {
      const gradient = new Float64Array(z.length);
      entropyGradient(logSoftmax(z), gradient);
      const slopes = centralDifferences((moved) => entropy(logSoftmax(moved)), z, 1e-5);
      slopes.forEach((slope, v) => expect(Math.abs(gradient[v]! - slope)).toBeLessThan(1e-8));
    }),
  );
});

test('a uniform distribution over n tokens has entropy log n, and tokens that may not be emitted do not count', () => {
  const logProbs = [-Infinity, Math.log(1 / 3), Math.log(1 / 3), -Infinity, Math.log(1 / 3)];
  const gradient = new Float64Array(5).fill(NaN);
  entropyGradient(logProbs, gradient);
  expect(entropy(logProbs)).toBeCloseTo(Math.log(3), 12);
  for (const g of gradient) expect(g).toBeCloseTo(0, 12);
});
