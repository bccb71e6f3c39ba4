import type { RolloutBatch } from '../rollouts/batch.ts';
import { PairNumbers } from './pair-numbers.ts';
import type { Settings } from './settings.ts';

/**
 * Text similarity of observations, and groups of similar ones. Two measures: the cosine of character-trigram counts
 * (ours: needs no model), and the ratio of Python's `difflib.SequenceMatcher`, the option of verl-agent's GiGPO.
 */

/** Similarity of two texts, 0 … 1; equal texts have 1. */
export type Similarity = (a: string, b: string) => number;

/** Counts of the character trigrams of a text, by hash, sorted by hash. */
interface Trigrams {
  readonly hashes: Uint32Array;
  readonly counts: Float64Array;
  readonly norm: number;
}

function trigramsOf(text: string): Trigrams {
  const width = Math.min(3, text.length);
  const total = text.length === 0 ? 0 : text.length - width + 1;
  const all = new Uint32Array(total);
  for (let i = 0; i < total; i++) {
    // FNV-1a over 16-bit code units: two different trigrams of one task practically never share 32 bits.
    let hash = 0x811c9dc5;
    for (let j = i; j < i + width; j++) hash = Math.imul(hash ^ text.charCodeAt(j), 0x01000193);
    all[i] = hash;
  }
  all.sort();
  const hashes: number[] = [];
  const counts: number[] = [];
  for (const hash of all) {
    if (hashes.length > 0 && hashes[hashes.length - 1] === hash) counts[counts.length - 1]!++;
    else {
      hashes.push(hash);
      counts.push(1);
    }
  }
  return {
    hashes: Uint32Array.from(hashes),
    counts: Float64Array.from(counts),
    norm: Math.sqrt(counts.reduce((sum, count) => sum + count * count, 0)),
  };
}

function cosine(a: Trigrams, b: Trigrams): number {
  if (a.norm === 0 || b.norm === 0) return 0;
  let dot = 0;
  for (let i = 0, j = 0; i < a.hashes.length && j < b.hashes.length;) {
    if (a.hashes[i]! < b.hashes[j]!) i++;
    else if (a.hashes[i]! > b.hashes[j]!) j++;
    else dot += a.counts[i++]! * b.counts[j++]!;
  }
  return Math.min(1, dot / (a.norm * b.norm));
}

/**
 * The cosine of hashed character-trigram counts. A text of fewer than three characters is one gram; the empty text is
 * similar to itself alone. The returned function remembers the counts of each text that it has seen.
 */
export function trigramSimilarity(): Similarity {
  const seen = new Map<string, Trigrams>();
  const counted = (text: string) => {
    let trigrams = seen.get(text);
    if (!trigrams) seen.set(text, (trigrams = trigramsOf(text)));
    return trigrams;
  };
  return (a, b) => (a === b ? 1 : cosine(counted(a), counted(b)));
}

/**
 * The ratio of Python's `difflib.SequenceMatcher(None, a, b)`: twice the length of the matching blocks over the length
 * of both texts, where blocks are found by taking the longest common run (the earliest in `a`, then in `b`) and going on
 * left and right of it. As there, characters that make up more than 1 % of a `b` of 200 or more are too common to start
 * a run ("autojunk"). Characters are code points. Not symmetric. O(|a|·|b|) at worst.
 */
export function sequenceRatio(a: string, b: string): number {
  if (a === b) return 1;
  const first = Array.from(a);
  const second = Array.from(b);
  const total = first.length + second.length;
  if (total === 0) return 1;
  const positions = new Map<string, number[]>();
  second.forEach((character, j) => {
    const list = positions.get(character);
    if (list) list.push(j);
    else positions.set(character, [j]);
  });
  if (second.length >= 200) {
    const popular = Math.floor(second.length / 100) + 1;
    for (const [character, list] of positions) if (list.length > popular) positions.delete(character);
  }

  let matched = 0;
  const open: [number, number, number, number][] = [[0, first.length, 0, second.length]];
  // run[j + 1]: length of the common run that ends at the row before and second[j]
  let run = new Int32Array(second.length + 1);
  let nextRun = new Int32Array(second.length + 1);
  for (let block = open.pop(); block; block = open.pop()) {
    const [aLow, aHigh, bLow, bHigh] = block;
    let bestA = aLow;
    let bestB = bLow;
    let length = 0;
    run.fill(0, bLow, bHigh + 1);
    for (let i = aLow; i < aHigh; i++) {
      nextRun.fill(0, bLow, bHigh + 1);
      for (const j of positions.get(first[i]!) ?? []) {
        if (j < bLow) continue;
        if (j >= bHigh) break;
        const k = (nextRun[j + 1] = (j === bLow ? 0 : run[j]!) + 1);
        if (k > length) {
          bestA = i - k + 1;
          bestB = j - k + 1;
          length = k;
        }
      }
      [run, nextRun] = [nextRun, run];
    }
    // Common characters start no run but may prolong one.
    while (bestA > aLow && bestB > bLow && first[bestA - 1] === second[bestB - 1]) {
      bestA--;
      bestB--;
      length++;
    }
    while (bestA + length < aHigh && bestB + length < bHigh && first[bestA + length] === second[bestB + length]) {
      length++;
    }
    if (length === 0) continue;
    matched += length;
    if (aLow < bestA && bLow < bestB) open.push([aLow, bestA, bLow, bestB]);
    if (bestA + length < aHigh && bestB + length < bHigh) {
      open.push([bestA + length, aHigh, bestB + length, bHigh]);
    }
  }
  return (2 * matched) / total;
}

/**
 * Replaces each observation by the first observation of its cluster. Rows are taken in (step, trajectory) order; an
 * observation joins the first cluster of its task whose first member is at least `threshold` similar, else it opens a
 * new one. So the clusters depend on the order of trajectories.
 *
 * @returns [rows] numbers of observations
 */
export function clusteredObservations(
  rows: Pick<RolloutBatch, 'rowCount' | 'tasks' | 'task' | 'observation' | 'observations' | 'byStep' | 'rowStart'>,
  threshold: number,
  measure: Settings['similarityMeasure'],
): Int32Array {
  const similarity = measure === 'trigram-cosine' ? trigramSimilarity() : sequenceRatio;
  const texts = rows.observations.values;
  const clustered = new Int32Array(rows.rowCount);
  const seen = new PairNumbers(rows.rowCount);
  const clusterOf: number[] = [];
  const clusters: number[][] = Array.from({ length: rows.tasks.size }, () => []);
  let longest = 0;
  for (let t = 0; t + 1 < rows.rowStart.length; t++) {
    longest = Math.max(longest, rows.rowStart[t + 1]! - rows.rowStart[t]!);
  }
  for (let step = 0; step < longest; step++) {
    for (let t = 0; t + 1 < rows.rowStart.length; t++) {
      const j = rows.rowStart[t]! + step;
      if (j >= rows.rowStart[t + 1]!) continue;
      const row = rows.byStep[j]!;
      const task = rows.task[row]!;
      const observation = rows.observation[row]!;
      const pair = seen.number(task, observation);
      if (pair === clusterOf.length) {
        const known = clusters[task]!;
        let cluster = known.find((first) => similarity(texts[observation]!, texts[first]!) >= threshold);
        if (cluster === undefined) known.push((cluster = observation));
        clusterOf.push(cluster);
      }
      clustered[row] = clusterOf[pair]!;
    }
  }
  return clustered;
}
