import fc from 'fast-check';
import { expect, test } from 'vitest';
import { randomStream } from '../random/stream.ts';
import { meanAndError, wilsonInterval } from './intervals.ts';

test('Wilson intervals agree with published values', () => {
  // Newcombe, "Two-sided confidence intervals for the single proportion", Statistics in Medicine 17 (1998), table I.
  const cases: [number, number, number, number][] = [
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ];
  for (const [successes, trials, low, high] of cases) {
    const interval = wilsonInterval(successes, trials);
    expect(interval.low).toBeCloseTo(low, 4);
    expect(interval.high).toBeCloseTo(high, 4);
  }
});

test('an interval holds its share and lies in [0, 1]', () => {
  fc.assert(
    fc.property(fc.nat(500), fc.nat(500), (a, b) => {
      const trials = Math.max(a, b, 1);
      const successes = Math.min(a, b);
      const { low, high } = wilsonInterval(successes, trials);
      expect(low).toBeGreaterThanOrEqual(0);
      expect(high).toBeLessThanOrEqual(1);
      expect(low).toBeLessThanOrEqual(successes / trials);
      expect(high).toBeGreaterThanOrEqual(successes / trials);
    }),
  );
});

test('the error of a mean shrinks with the root of the number of values', () => {
  const stream = randomStream(1, 'intervals');
  const values = Array.from({ length: 10_000 }, () => stream.nextNormal());
  expect(meanAndError(values).error).toBeCloseTo(0.01, 3);
  expect(meanAndError([3]).error).toBeNaN();
});
