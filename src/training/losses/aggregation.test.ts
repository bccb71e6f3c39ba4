import fc from 'fast-check';
import { expect, test } from 'vitest';
import { objectiveRows } from '../../testing/random-rows.ts';
import { aggregate, aggregationModes, tokenWeights } from './aggregation.ts';

const rows = { rowStart: [0, 3, 3, 5], mask: [1, 0, 1, 0, 0] };

test('rows without a token that counts are left out of the mean over rows', () => {
  expect([...tokenWeights('seq-mean-token-sum', rows)]).toEqual([1, 0, 1, 0, 0]);
  expect([...tokenWeights('seq-mean-token-mean', rows)]).toEqual([0.5, 0, 0.5, 0, 0]);
});

test('the constant of seq-mean-token-sum-norm is the longest row, masked tokens included, unless given', () => {
  expect([...tokenWeights('seq-mean-token-sum-norm', rows)]).toEqual([1 / 3, 0, 1 / 3, 0, 0]);
  expect([...tokenWeights('seq-mean-token-sum-norm', rows, 8)]).toEqual([1 / 8, 0, 1 / 8, 0, 0]);
});

test('a NaN behind the mask does not leak', () => {
  for (const mode of aggregationModes) {
    const loss = aggregate(rows, tokenWeights(mode, rows), [1, NaN, 1, NaN, Infinity]);
    expect(loss).toBeGreaterThan(0);
  }
});

test('without a token that counts every weight is 0 and so is the loss', () => {
  const empty = { rowStart: [0, 2, 2], mask: [0, 0] };
  for (const mode of aggregationModes) {
    expect([...tokenWeights(mode, empty)]).toEqual([0, 0]);
    expect(aggregate(empty, tokenWeights(mode, empty), [5, 5])).toBe(0);
  }
});

test('a loss of 1 on every token has mean 1 in the two means', () => {
  fc.assert(
    fc.property(objectiveRows, (some) => {
      const ones = Array.from(some.mask, () => 1);
      fc.pre(Array.from(some.mask).includes(1));
      expect(aggregate(some, tokenWeights('token-mean', some), ones)).toBeCloseTo(1, 12);
      expect(aggregate(some, tokenWeights('seq-mean-token-mean', some), ones)).toBeCloseTo(1, 12);
    }),
  );
});
