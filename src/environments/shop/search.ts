/** Frequent English words that searches ignore (the list that Lucene, WebShop's engine, ships). */
const stopWords = new Set(
  (
    'a an and are as at be but by for if in into is it no not of on or such that the their then there these they ' +
    'this to was will with'
  ).split(' '),
);

const K1 = 0.9;
const B = 0.4;

/** No search lists more than this. */
export const MAX_RESULTS = 50;

/** Rankings that are kept for queries asked again; at most 100 bytes each. */
const CACHED_RANKINGS = 4096;

/** The words that count: lower case, split where neither letter nor digit stands, without stop words, no stemming. */
export function searchWords(text: string): string[] {
  return (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).filter((word) => !stopWords.has(word));
}

/**
 * A BM25 index over texts (Robertson and Zaragoza, "The probabilistic relevance framework: BM25 and beyond", 2009):
 *
 *     score(text, query) = Σ over query words: idf · tf / (tf + k1 · (1 − b + b · length / mean length))
 *     idf = ln(1 + (N − n + 0.5) / (n + 0.5))
 *
 * N texts, n of them with the word, tf occurrences in the text; k1 0.9, b 0.4. Sums run in the order of the query's
 * words and equal scores keep the order of the texts, so that every machine gives the same ranking.
 */
export class SearchIndex {
  private readonly numberOfWord = new Map<string, number>();
  /** [words + 1] where the postings of each word begin */
  private readonly start: Uint32Array;
  /** [postings] text numbers, ascending within a word */
  private readonly text: Uint32Array;
  /** [postings] the word's addend to the score of that text */
  private readonly addend: Float64Array;
  /** [texts] scores of the search under way; all 0 between searches */
  private readonly score: Float64Array;
  /** [texts] numbers of the texts that the search under way has met */
  private readonly met: Uint32Array;
  private readonly rankings = new Map<string, Uint16Array>();

  constructor(texts: readonly string[]) {
    if (texts.length > 65536) throw new RangeError(`A search index holds at most 65536 texts, not ${texts.length}.`);
    const postings: { text: number; count: number }[][] = [];
    const lengths = texts.map((text, number) => {
      const words = searchWords(text);
      for (const word of words) {
        let id = this.numberOfWord.get(word);
        if (id === undefined) {
          id = postings.length;
          this.numberOfWord.set(word, id);
          postings.push([]);
        }
        const last = postings[id]!.at(-1);
        if (last?.text === number) last.count++;
        else postings[id]!.push({ text: number, count: 1 });
      }
      return words.length;
    });
    const meanLength = lengths.reduce((sum, length) => sum + length, 0) / texts.length;
    const size = postings.reduce((sum, list) => sum + list.length, 0);
    this.start = new Uint32Array(postings.length + 1);
    this.text = new Uint32Array(size);
    this.addend = new Float64Array(size);
    this.score = new Float64Array(texts.length);
    this.met = new Uint32Array(texts.length);
    let at = 0;
    for (const [word, list] of postings.entries()) {
      const idf = Math.log(1 + (texts.length - list.length + 0.5) / (list.length + 0.5));
      for (const { text, count } of list) {
        const saturation = K1 * (1 - B + (B * lengths[text]!) / meanLength);
        this.text[at] = text;
        this.addend[at] = (idf * count) / (count + saturation);
        at++;
      }
      this.start[word + 1] = at;
    }
  }

  /**
   * Numbers of the best texts for plain words, best first, at most 50. A word that the query repeats counts once; words
   * that no text has are ignored. Rankings are remembered, so asking again costs a look-up.
   */
  search(query: string): Uint16Array {
    const known = this.rankings.get(query);
    if (known !== undefined) return known;
    const ranking = this.rank(query);
    if (this.rankings.size >= CACHED_RANKINGS) this.rankings.delete(this.rankings.keys().next().value!);
    this.rankings.set(query, ranking);
    return ranking;
  }

  /** The ranking, computed afresh: what `search` costs for a query that it has not seen. */
  rank(query: string): Uint16Array {
    const { score, met, text, addend, start } = this;
    let metCount = 0;
    for (const word of new Set(searchWords(query))) {
      const id = this.numberOfWord.get(word);
      if (id === undefined) continue;
      for (let i = start[id]!; i < start[id + 1]!; i++) {
        const number = text[i]!;
        // Every addend is positive (idf > 0 as n ≤ N), so a score of 0 means "not met yet".
        if (score[number] === 0) met[metCount++] = number;
        score[number]! += addend[i]!;
      }
    }
    const found = best(score, met.subarray(0, metCount));
    for (let i = 0; i < metCount; i++) score[met[i]!] = 0;
    return found;
  }
}

/**
 * The at most 50 numbers in `candidates` with the highest scores, best first, equal scores by number. Insertion into a
 * short sorted list: most candidates are turned away by one comparison with the last place.
 */
function best(score: Float64Array, candidates: Uint32Array): Uint16Array {
  const list = new Uint16Array(Math.min(MAX_RESULTS, candidates.length));
  let length = 0;
  for (const candidate of candidates) {
    const value = score[candidate]!;
    const precedes = (other: number) => value > score[other]! || (value === score[other]! && candidate < other);
    if (length === list.length && !precedes(list[length - 1]!)) continue;
    let place = length < list.length ? length++ : length - 1;
    while (place > 0 && precedes(list[place - 1]!)) {
      list[place] = list[place - 1]!;
      place--;
    }
    list[place] = candidate;
  }
  return list;
}
