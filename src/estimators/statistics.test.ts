import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { rolloutBatch } from '../rollouts/batch.ts';
import { arbitraryRows, batchOf, trajectory } from '../testing/rollout-batches.ts';
import { contextGroups, grouping } from './groups.ts';
import { activeSets, compareLevels, hgpoAdvantages } from './hgpo.ts';
import { returnsAndScores } from './returns.ts';
import { resolveSettings, type Settings } from './settings.ts';
import { compareInGroups, groupMean, groupStatistics, standardDeviation, type Values } from './statistics.ts';

const precisions = [
  ['float64', (values: readonly number[]): Values => Float64Array.from(values)],
  ['float32', (values: readonly number[]): Values => Float32Array.from(values)],
] as const;

const everyRow = { mode: 'mean_std_norm', eps: 1e-6, leaveOut: 'none', visits: 'every' } as const;
/** Rows of one trajectory each. */
const lone = (n: number) => ({ trajectory: Int32Array.from({ length: n }, (_, i) => i), byStep: new Int32Array(0) });
const oneGroup = (n: number) => grouping(new Int32Array(n), 1);

describe.each(precisions)('group statistics in %s', (_, array) => {
  test('a group of 2 to 40 equal returns 10·0.95^d has advantages of exactly 0', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 40 }), fc.nat(60), fc.constantFrom(0, 1), (n, d, freedom) => {
        const values = array(new Array(n).fill(10 * 0.95 ** d));
        const comparison = { ...everyRow, freedom: freedom as 0 | 1 };
        const { advantage, sd } = compareInGroups(lone(n), values, oneGroup(n), comparison);
        expect(Array.from(advantage)).toEqual(new Array(n).fill(0));
        expect(sd[0]).toBe(0);
      }),
    );
  });

  test('a group that differs by rounding alone has advantages of exactly 0', () => {
    const values = array([9.025, 9.025 * (1 + 1e-7), 9.025 * (1 - 1e-7)]);
    const { advantage } = compareInGroups(lone(3), values, oneGroup(3), { ...everyRow, freedom: 0 });
    expect(Array.from(advantage)).toEqual([0, 0, 0]);
  });

  test('deviations in a group sum to 0 and have the standard deviation 1', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -1000, max: 1000 }), { minLength: 2, maxLength: 60 }), (integers) => {
        fc.pre(new Set(integers).size > 1);
        const values = array(integers.map((x) => x / 8));
        const { advantage } = compareInGroups(lone(values.length), values, oneGroup(values.length), {
          ...everyRow,
          freedom: 0,
        });
        const deviations = Array.from(advantage);
        const sum = deviations.reduce((total, a) => total + a, 0);
        const squares = deviations.reduce((total, a) => total + a * a, 0);
        expect(Math.abs(sum)).toBeLessThan(1e-3);
        expect(Math.abs(squares / values.length - 1)).toBeLessThan(1e-3);
      }),
    );
  });
});

test('mean and both standard deviations are the textbook’s', () => {
  const statistics = groupStatistics(Float64Array.of(2, 4, 4, 4, 5, 5, 7, 9), oneGroup(8));
  expect(groupMean(statistics, 0)).toBe(5);
  expect(standardDeviation(statistics, 0, 0)).toBe(2);
  expect(standardDeviation(statistics, 0, 1)).toBeCloseTo(Math.sqrt(32 / 7), 14);
});

test('HGPO in float32 stays within 1e-5 of float64', () => {
  fc.assert(
    fc.property(arbitraryRows(), fc.constantFrom('mean_std_norm', 'mean_norm'), (rows, mode) => {
      const batch = rolloutBatch(rows);
      const settings = resolveSettings({ method: 'hgpo', options: { mode, K: 3 } });
      const hierarchy = contextGroups(batch, settings);
      const { returns } = returnsAndScores(batch, settings.gamma, settings.invalidPenalty);
      const under = (values: Values) => {
        const levels = compareLevels(batch, hierarchy, values, settings);
        return hgpoAdvantages(levels, null, activeSets(batch.rowCount, levels, null, true), settings).advantage;
      };
      const double = under(returns);
      const single = under(Float32Array.from(returns));
      single.forEach((a, i) => expect(Math.abs(a - double[i]!)).toBeLessThan(1e-5 * Math.max(1, Math.abs(double[i]!))));
    }),
  );
});

describe('leaveOut and visits', () => {
  // One trajectory visits the kitchen twice, another once.
  const batch = batchOf(trajectory('t', 'a', ['kitchen', 'kitchen'], 8), trajectory('t', 'b', ['kitchen'], 2));
  const compared = (options: Partial<Settings>) => {
    const settings = resolveSettings({ method: 'hgpo', options: { gamma: 0.5, mode: 'mean_norm', ...options } });
    const groups = contextGroups(batch, { ...settings, K: 0 });
    const { returns } = returnsAndScores(batch, settings.gamma, settings.invalidPenalty);
    return Array.from(compareInGroups(batch, returns, groups[0]!, { ...settings, freedom: 0 }).advantage);
  };
  // Returns: 4 and 8 in a, 2 in b.
  test('every visit is a member by default', () => {
    expect(compared({})).toEqual([4 - 14 / 3, 8 - 14 / 3, 2 - 14 / 3].map((x) => expect.closeTo(x, 12)));
  });
  test('a step can be left out of its own baseline', () => {
    expect(compared({ leaveOut: 'row' })).toEqual([4 - 5, 8 - 3, 2 - 6].map((x) => expect.closeTo(x, 12)));
  });
  test('a whole trajectory can be left out of the baseline of its steps', () => {
    expect(compared({ leaveOut: 'trajectory' })).toEqual([4 - 2, 8 - 2, 2 - 6].map((x) => expect.closeTo(x, 12)));
  });
  test('later visits are compared with the first visits', () => {
    expect(compared({ visits: 'first' })).toEqual([4 - 3, 8 - 3, 2 - 3].map((x) => expect.closeTo(x, 12)));
  });
  test('first visits of other trajectories alone are a baseline too', () => {
    expect(compared({ visits: 'first', leaveOut: 'trajectory' })).toEqual(
      [4 - 2, 8 - 2, 2 - 4].map((x) => expect.closeTo(x, 12)),
    );
  });
  test('a step has no comparison when nobody is left', () => {
    const alone = batchOf(trajectory('t', 'a', ['kitchen', 'kitchen'], 8));
    const settings = resolveSettings({ method: 'hgpo', options: { leaveOut: 'trajectory' } });
    const groups = contextGroups(alone, settings)[0]!;
    const { advantage } = compareInGroups(alone, Float64Array.of(1, 2), groups, { ...settings, freedom: 0 });
    expect(Array.from(advantage)).toEqual([NaN, NaN]);
  });
});
