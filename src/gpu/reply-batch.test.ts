import { expect, test } from 'vitest';
import { PrefixTree } from './prefix-tree.ts';
import { replyBatch } from './reply-batch.ts';

test('every reply token is a target at the position before it, within what was allowed there', () => {
  const tree = new PrefixTree([
    [4, 9],
    [5, 9],
  ]);
  const batch = replyBatch(
    [
      { prompt: [1, 2, 3], reply: [4, 9], tree },
      { prompt: [6], reply: [7, 8, 9], tree: null },
    ],
    10,
    0.5,
  );
  expect([...batch.tokens]).toEqual([1, 2, 3, 4, 6, 7, 8]);
  expect([...batch.sequenceStart]).toEqual([0, 4, 7]);
  expect([...batch.responseIndex]).toEqual([2, 3, 4, 5, 6]);
  expect([...batch.targets]).toEqual([4, 9, 7, 8, 9]);
  expect([...batch.rowStart]).toEqual([0, 2, 5]);
  expect([...batch.allowed!]).toEqual([0b110000, 1 << 9, 0xffffffff, 0xffffffff, 0xffffffff]);
  expect(batch.temperature).toBe(0.5);
});

test('without a tree there is no mask', () => {
  expect(replyBatch([{ prompt: [1], reply: [2], tree: null }], 10).allowed).toBeUndefined();
});
