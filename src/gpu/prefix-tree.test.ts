import fc from 'fast-check';
import { expect, test } from 'vitest';
import { allowedMask, NO_TREE, packTrees, PrefixTree, PrefixTreeError } from './prefix-tree.ts';

const END = 9;
const commands = fc
  .uniqueArray(fc.array(fc.nat(8), { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 12, selector: String })
  .map((lists) => lists.map((tokens) => [...tokens, END]));

/** Every reply that can be written by following edges to a node without any. */
function replies(allowed: (node: number) => [token: number, next: number][], node = 0): number[][] {
  const edges = allowed(node);
  if (edges.length === 0) return [[]];
  return edges.flatMap(([token, next]) => replies(allowed, next).map((rest) => [token, ...rest]));
}

test('the replies that can be written are exactly the sequences', () => {
  fc.assert(
    fc.property(commands, (sequences) => {
      const tree = new PrefixTree(sequences);
      const written = replies((node) => [...tree.allowed(node)].map((token) => [token, tree.next(node, token)]));
      expect(written.map(String).sort()).toEqual(sequences.map(String).sort());
      expect(tree.depth).toBe(Math.max(...sequences.map(({ length }) => length)));
    }),
  );
});

test('packed trees say the same in words, and equal objects are packed once', () => {
  fc.assert(
    fc.property(commands, commands, (one, other) => {
      const trees = [new PrefixTree(one), new PrefixTree(other)];
      const { words, roots } = packTrees([trees[0]!, null, trees[1]!, trees[0]!]);
      expect(roots[1]).toBe(NO_TREE);
      expect(roots[3]).toBe(roots[0]);
      [one, other].forEach((sequences, i) => {
        const edges = (node: number): [number, number][] =>
          Array.from({ length: words[2 * node + 1]! }, (_, e) => {
            const at = words[2 * node]! + 2 * e;
            return [words[at]!, words[at + 1]!];
          });
        expect(
          replies(edges, roots[2 * i])
            .map(String)
            .sort(),
        ).toEqual(sequences.map(String).sort());
      });
    }),
  );
});

test('the mask along a reply is what was allowed when each token came', () => {
  const tree = new PrefixTree([
    [3, 1, END],
    [3, 2, END],
    [5, END],
  ]);
  expect(tree.allowedAlong([3, 2, END]).map((tokens) => [...tokens])).toEqual([[3, 5], [1, 2], [END]]);
  expect(() => tree.allowedAlong([3, 5])).toThrow(PrefixTreeError);
});

test('a mask has one bit for each token of the vocabulary, and all of them where nothing is forbidden', () => {
  expect([...allowedMask([[0, 31, 32, 40], null, []], 41)]).toEqual([0x80000001, 0x101, 0xffffffff, 0xffffffff, 0, 0]);
});

test('a sequence that is the beginning of another, and an empty list, are refused', () => {
  expect(() => new PrefixTree([[1], [1, 2]])).toThrow(PrefixTreeError);
  expect(() => new PrefixTree([[1, 2], [1]])).toThrow(PrefixTreeError);
  expect(() => new PrefixTree([])).toThrow(PrefixTreeError);
});
