import fc from 'fast-check';
import { expect, test } from 'vitest';
import { PairNumbers } from './pair-numbers.ts';

test('pairs are numbered in order of first appearance, however small the expected capacity', () => {
  const int = fc.integer({ min: -3, max: 3 });
  fc.assert(
    fc.property(fc.array(fc.tuple(int, fc.oneof(int, fc.integer()))), fc.nat(20), (pairs, capacity) => {
      const table = new PairNumbers(capacity);
      const known = new Map<string, number>();
      for (const [first, second] of pairs) {
        const key = `${first} ${second}`;
        if (!known.has(key)) known.set(key, known.size);
        expect(table.number(first, second)).toBe(known.get(key));
      }
      expect(table.size).toBe(known.size);
    }),
  );
});

test('a number given out once is no pair’s', () => {
  const int = fc.integer({ min: -2, max: 2 });
  fc.assert(
    fc.property(fc.array(fc.option(fc.tuple(int, int))), fc.nat(5), (asked, capacity) => {
      const table = new PairNumbers(capacity);
      const known = new Map<string, number>();
      asked.forEach((pair) => {
        const next = table.size;
        if (pair === null) expect(table.once()).toBe(next);
        else {
          const expected = known.get(String(pair)) ?? next;
          known.set(String(pair), expected);
          expect(table.number(...pair)).toBe(expected);
        }
      });
    }),
  );
});
