import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MAX_RESULTS, SearchIndex, searchWords } from './search.ts';

const word = fc.constantFrom('red', 'shoes', 'tea', 'lamp', 'gel', 'pen', 'the');
const text = fc.array(word, { minLength: 1, maxLength: 8 }).map((words) => words.join(' '));

/** BM25 as its formula stands, over plain arrays. */
function slowScores(texts: string[], query: string): number[] {
  const documents = texts.map(searchWords);
  const meanLength = documents.reduce((sum, words) => sum + words.length, 0) / documents.length;
  return documents.map((words) => {
    let score = 0;
    for (const wanted of new Set(searchWords(query))) {
      const tf = words.filter((word) => word === wanted).length;
      const n = documents.filter((other) => other.includes(wanted)).length;
      const idf = Math.log(1 + (documents.length - n + 0.5) / (n + 0.5));
      if (tf > 0) score += (idf * tf) / (tf + 0.9 * (1 - 0.4 + (0.4 * words.length) / meanLength));
    }
    return score;
  });
}

test('the ranking is that of the BM25 formula, equal scores in the order of the texts', () => {
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 70 }), text, (texts, query) => {
      const scores = slowScores(texts, query);
      const expected = texts
        .map((_, number) => number)
        .filter((number) => scores[number]! > 0)
        .sort((a, b) => scores[b]! - scores[a]! || a - b)
        .slice(0, MAX_RESULTS);
      const index = new SearchIndex(texts);
      expect([...index.search(query)]).toEqual(expected);
      expect([...index.search(query)]).toEqual(expected);
      expect([...index.rank(query)]).toEqual(expected);
    }),
  );
});

test('stop words, unknown words, repetitions and case do not matter', () => {
  const index = new SearchIndex(['green tea', 'gel pen', 'table lamp']);
  expect([...index.search('a GEL, gel pen for the zzzz!')]).toEqual([1]);
  expect([...index.search('the of')]).toEqual([]);
  expect([...index.search('…')]).toEqual([]);
});

test('the memory of rankings stays bounded and keeps giving right answers', () => {
  const index = new SearchIndex(['green tea', 'gel pen']);
  for (let i = 0; i < 10_000; i++) index.search(`pen ${i}`);
  expect([...index.search('pen 0')]).toEqual([1]);
  expect((index as unknown as { rankings: Map<string, unknown> }).rankings.size).toBeLessThanOrEqual(4096);
});
