/**
 * How alike two texts are as sets of words, 0 … 100 (the `token_set_ratio` of the fuzzywuzzy library, which WebShop's
 * reward calls). With t0 = the sorted common words, t1 and t2 = t0 and the sorted rest of each text, the result is the
 * largest ratio of two of the three. A text whose words all occur in the other therefore gives 100.
 */
export function tokenSetRatio(a: string, b: string): number {
  const wordsOfA = wordSet(a);
  const wordsOfB = wordSet(b);
  const common = sortedText(wordsOfA, (word) => wordsOfB.has(word));
  const t1 = joinWords(
    common,
    sortedText(wordsOfA, (word) => !wordsOfB.has(word)),
  );
  const t2 = joinWords(
    common,
    sortedText(wordsOfB, (word) => !wordsOfA.has(word)),
  );
  return Math.max(ratio(common, t1), ratio(common, t2), ratio(t1, t2));
}

function wordSet(text: string): Set<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []);
}

function sortedText(words: ReadonlySet<string>, isWanted: (word: string) => boolean): string {
  return [...words].filter(isWanted).sort().join(' ');
}

function joinWords(a: string, b: string): string {
  return a === '' || b === '' ? a + b : `${a} ${b}`;
}

/** 100 · 2 · LCS / (|x| + |y|), rounded: the similarity under insertions and deletions. 0 where a text is empty. */
function ratio(x: string, y: string): number {
  if (x === '' || y === '') return 0;
  return Math.round((200 * longestCommonSubsequence(x, y)) / (x.length + y.length));
}

function longestCommonSubsequence(x: string, y: string): number {
  // row[j]: length for the part of x read so far and the first j characters of y
  const row = new Uint16Array(y.length + 1);
  for (let i = 0; i < x.length; i++) {
    let diagonal = 0;
    for (let j = 0; j < y.length; j++) {
      const above = row[j + 1]!;
      row[j + 1] = x[i] === y[j] ? diagonal + 1 : Math.max(above, row[j]!);
      diagonal = above;
    }
  }
  return row[y.length]!;
}
