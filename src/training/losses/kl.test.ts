import fc from 'fast-check';
import { expect, test } from 'vitest';
import { klGradient, klKinds, klValue, klValueLimit } from './kl.ts';

const difference = fc.double({ min: -60, max: 60, noNaN: true });

test('the gradient of every plain kind is the derivative of its value', () => {
  fc.assert(
    fc.property(difference, (d) => {
      for (const kind of ['k1', 'abs', 'k2', 'k3'] as const) {
        const step = 1e-6 * Math.max(1, Math.abs(d));
        // Not differentiable at 0 (abs) and at the clamp (k3).
        fc.pre(Math.abs(d) > 2 * step && Math.abs(Math.exp(Math.min(-d, 30)) + d - 1 - klValueLimit) > 1e-3);
        const slope = (klValue(kind, d + step) - klValue(kind, d - step)) / (2 * step);
        expect(Math.abs(klGradient(kind, d) - slope)).toBeLessThan(1e-5 * Math.max(1, Math.abs(slope)));
      }
    }),
  );
});

test('a + form has the value of its kind and the gradient of k2', () => {
  fc.assert(
    fc.property(difference, (d) => {
      for (const kind of ['k1', 'abs', 'k3'] as const) {
        expect(klValue(`${kind}+`, d)).toBe(klValue(kind, d));
        expect(klGradient(`${kind}+`, d)).toBe(d);
      }
    }),
  );
});

test('every kind is 0 where the policies agree, and k3 is never negative', () => {
  for (const kind of klKinds) expect(klValue(kind, 0)).toBe(0);
  fc.assert(fc.property(difference, (d) => klValue('k3', d) >= 0));
});

test('k1, k3 estimate the KL divergence on samples of the new policy: exactly in expectation', () => {
  const next = [0.5, 0.3, 0.2];
  const reference = [0.2, 0.2, 0.6];
  const divergence = next.reduce((sum, p, v) => sum + p * Math.log(p / reference[v]!), 0);
  for (const kind of ['k1', 'k3'] as const) {
    const mean = next.reduce((sum, p, v) => sum + p * klValue(kind, Math.log(p / reference[v]!)), 0);
    expect(mean).toBeCloseTo(divergence, 12);
  }
});
