import { levelColumn, levelMasks, maskShares, type CombineSettings, type Mode } from './columns.ts';
import type { Figure } from './measures.ts';
import { studentT975 } from './measures.ts';
import { keyOrder, type LabSample, type Target } from './sample.ts';

/**
 * Everything that HGPO's bias, variance and MSE need of a sample, so that they can be redrawn for any α without looking
 * at a row again. Given which levels count in a row (its mask m), the advantage is a fixed weighted sum of its levels,
 *
 *     Â = Σ_k w_mk a_k,      w_mk = (k + c)^α / Σ_{l ∈ m} (l + c)^α
 *
 * so mean, square and product over batches are linear and quadratic forms in the weights. With a vector of features φ
 * (one for each level of each mask, and one for −A) the sums Σ φ and Σ φφᵀ of each task are kept, and as much for each
 * block of batches, from which intervals come by leaving blocks out. A change of α costs O(blocks · tasks · F²), F
 * features, whatever the number of rows.
 *
 * All rows are the support, absent counting as 0.
 */
export interface AlphaMoments {
  readonly mode: Mode;
  readonly target: Target;
  readonly K: number;
  readonly skipZero: boolean;
  readonly masks: readonly (readonly number[])[];
  /** Features: (mask, level) pairs, then −A. */
  readonly featureMask: Int32Array;
  readonly featureLevel: Int32Array;
  readonly batchCount: number;
  readonly blockCount: number;
  readonly tasks: readonly TaskMoments[];
}

/** Weighted averages over the keys of a task; symmetric matrices are [F × F]. */
interface TaskMoments {
  /** The whole, then each block left out. */
  readonly sets: readonly {
    /** [F] mean of φ */
    readonly mean: Float64Array;
    /** [F × F] mean of φφᵀ inside rows: the second moment */
    readonly square: Float64Array;
    /** [F × F] mean of φφᵀ over pairs of different batches: the square of the expectation */
    readonly product: Float64Array;
  }[];
}

export interface AlphaSettings {
  readonly K: number;
  readonly mode: Mode;
  readonly target: Target;
  readonly skipZero: boolean;
  /** Blocks of batches that are left out in turn. Default: 10. */
  readonly blocks?: number;
}

/** Sums a sample up. O(rows · (K + 1)² + keys · blocks · F²). */
export function alphaMoments(sample: LabSample, settings: AlphaSettings): AlphaMoments {
  const { K, mode, target, skipZero } = settings;
  const blocks = Math.min(settings.blocks ?? 10, sample.batchCount);
  const levels = Array.from({ length: K + 1 }, (_, k) => sample.columns.get(levelColumn(k, mode))!);
  const { set, items } = levelMasks(levels, skipZero);
  const featureMask: number[] = [];
  const featureLevel: number[] = [];
  const firstFeature = items.map((mask, m) => {
    const first = featureMask.length;
    for (const k of mask) {
      featureMask.push(m);
      featureLevel.push(k);
    }
    return first;
  });
  const truthFeature = featureMask.length;
  const F = truthFeature + 1;
  const { start, rows } = keyOrder(sample);
  const A = sample.truths[target];
  const error = sample.truthVariance?.[target];

  const tasks = Array.from({ length: sample.taskCount }, () => ({
    weights: new Float64Array(blocks + 1),
    sets: Array.from({ length: blocks + 1 }, () => ({
      mean: new Float64Array(F),
      square: new Float64Array(F * F),
      product: new Float64Array(F * F),
    })),
  }));

  // Of the key at hand: sums of each block, sums over the cells (key, batch), and what differs between them.
  const blockOf = (batch: number) => Math.floor((batch * blocks) / sample.batchCount);
  const sum = Array.from({ length: blocks }, () => new Float64Array(F));
  const square = Array.from({ length: blocks }, () => new Float64Array(F * F));
  const same = Array.from({ length: blocks }, () => new Float64Array(F * F));
  const count = new Float64Array(blocks);
  const samePairs = new Float64Array(blocks);
  const cell = new Float64Array(F);
  const totalSum = new Float64Array(F);
  const totalSquare = new Float64Array(F * F);
  const totalSame = new Float64Array(F * F);
  for (let key = 0; key < sample.keyCount; key++) {
    for (let b = 0; b < blocks; b++) {
      sum[b]!.fill(0);
      square[b]!.fill(0);
      same[b]!.fill(0);
    }
    count.fill(0);
    samePairs.fill(0);
    let j = start[key]!;
    while (j < start[key + 1]!) {
      const batch = sample.rowBatch[rows[j]!]!;
      const b = blockOf(batch);
      cell.fill(0);
      let n = 0;
      for (; j < start[key + 1]! && sample.rowBatch[rows[j]!] === batch; j++, n++) {
        const row = rows[j]!;
        const mask = items[set[row]!]!;
        const first = firstFeature[set[row]!]!;
        const squares = square[b]!;
        for (let p = 0; p < mask.length; p++) {
          const x = levels[mask[p]!]![row]!;
          cell[first + p]! += x;
          squares[truthFeature * F + first + p]! -= x * A[key]!;
          for (let q = 0; q <= p; q++) squares[(first + p) * F + first + q]! += x * levels[mask[q]!]![row]!;
        }
      }
      cell[truthFeature] = -n * A[key]!;
      square[b]![truthFeature * F + truthFeature]! += n * A[key]! ** 2;
      count[b]! += n;
      samePairs[b]! += n * n;
      for (let p = 0; p < F; p++) {
        if (cell[p] === 0) continue;
        sum[b]![p]! += cell[p]!;
        for (let q = 0; q <= p; q++) same[b]![p * F + q]! += cell[p]! * cell[q]!;
      }
    }
    totalSum.fill(0);
    totalSquare.fill(0);
    totalSame.fill(0);
    let n = 0;
    let pairs = 0;
    for (let b = 0; b < blocks; b++) {
      n += count[b]!;
      pairs += samePairs[b]!;
      for (let p = 0; p < F; p++) totalSum[p]! += sum[b]![p]!;
      for (let p = 0; p < F * F; p++) {
        totalSquare[p]! += square[b]![p]!;
        totalSame[p]! += same[b]![p]!;
      }
    }
    const task = tasks[sample.keyTask[key]!]!;
    for (let out = -1; out < blocks; out++) {
      const left = out < 0 ? 0 : count[out]!;
      const rowsLeft = n - left;
      const pairsLeft = rowsLeft * rowsLeft - (pairs - (out < 0 ? 0 : samePairs[out]!));
      if (!(pairsLeft > 0)) continue;
      const weight = sample.keyWeight[key]!;
      task.weights[out + 1]! += weight;
      const into = task.sets[out + 1]!;
      for (let p = 0; p < F; p++) {
        const x = totalSum[p]! - (out < 0 ? 0 : sum[out]![p]!);
        into.mean[p]! += (weight * x) / rowsLeft;
        for (let q = 0; q <= p; q++) {
          const at = p * F + q;
          const y = totalSum[q]! - (out < 0 ? 0 : sum[out]![q]!);
          into.square[at]! += (weight * (totalSquare[at]! - (out < 0 ? 0 : square[out]![at]!))) / rowsLeft;
          into.product[at]! += (weight * (x * y - (totalSame[at]! - (out < 0 ? 0 : same[out]![at]!)))) / pairsLeft;
        }
      }
      if (error) {
        const own = truthFeature * F + truthFeature;
        into.square[own]! -= weight * error[key]!;
        into.product[own]! -= weight * error[key]!;
      }
    }
  }
  for (const { weights, sets } of tasks) {
    for (const [s, { mean, square: squares, product }] of sets.entries()) {
      if (weights[s] === 0) continue;
      for (const values of [mean, squares, product]) for (let p = 0; p < values.length; p++) values[p]! /= weights[s]!;
    }
  }
  return {
    mode,
    target,
    K,
    skipZero,
    masks: items,
    featureMask: Int32Array.from(featureMask),
    featureLevel: Int32Array.from(featureLevel),
    batchCount: sample.batchCount,
    blockCount: blocks,
    tasks: tasks.filter(({ weights }) => weights[0]! > 0),
  };
}

/** Bias, variance and MSE of HGPO at one α. */
export interface AlphaFigures {
  readonly rmsBias: Figure;
  readonly meanSquareBias: Figure;
  readonly signedBias: Figure;
  readonly variance: Figure;
  readonly mse: Figure;
}

/**
 * The figures of HGPO for any weights, from the moments alone: what dragging α calls. Intervals are over batches, the
 * keys taken as given.
 */
export function figuresAt(moments: AlphaMoments, settings: Omit<CombineSettings, 'skipZero'>): AlphaFigures {
  const { masks, featureMask, featureLevel, tasks, blockCount, K, skipZero } = moments;
  const shares = maskShares(masks, K + 1, { ...settings, skipZero });
  const F = featureMask.length + 1;
  const w = new Float64Array(F);
  for (let p = 0; p < F - 1; p++) w[p] = shares[featureMask[p]!]![featureLevel[p]!]!;
  w[F - 1] = 1; // −A
  const found: number[][] = [];
  for (let s = 0; s <= blockCount; s++) {
    const figures = [0, 0, 0, 0, 0];
    for (const { sets } of tasks) {
      const { mean, square, product } = sets[s]!;
      const signed = mean.reduce((total, x, p) => total + w[p]! * x, 0);
      const mse = quadraticForm(square, w);
      const bias = quadraticForm(product, w);
      figures[0]! += Math.sign(bias) * Math.sqrt(Math.abs(bias));
      figures[1]! += bias;
      figures[2]! += signed;
      figures[3]! += mse - bias;
      figures[4]! += mse;
    }
    found.push(figures.map((total) => total / tasks.length));
  }
  const [whole, ...without] = found as [number[], ...number[][]];
  const t = studentT975(blockCount - 1);
  const figure = (f: number, floor = -Infinity): Figure => {
    const mean = without.reduce((total, figures) => total + figures[f]!, 0) / blockCount;
    const spread = without.reduce((total, figures) => total + (figures[f]! - mean) ** 2, 0);
    const half = t * Math.sqrt(((blockCount - 1) / blockCount) * spread);
    return {
      value: Math.max(floor, whole[f]!),
      low: Math.max(floor, whole[f]! - half),
      high: Math.max(floor, whole[f]! + half),
    };
  };
  return {
    rmsBias: figure(0, 0),
    meanSquareBias: figure(1),
    signedBias: figure(2),
    variance: figure(3),
    mse: figure(4),
  };
}

/** wᵀ M w of a symmetric matrix of which the lower triangle is stored. */
function quadraticForm(lower: Float64Array, w: Float64Array): number {
  const F = w.length;
  let total = 0;
  for (let p = 0; p < F; p++) {
    if (w[p] === 0) continue;
    let row = 0;
    for (let q = 0; q < p; q++) row += lower[p * F + q]! * w[q]!;
    total += w[p]! * (2 * row + lower[p * F + p]! * w[p]!);
  }
  return total;
}

/** A cell of the α × K map. */
export interface MapCell extends AlphaFigures {
  readonly K: number;
  readonly alpha: number;
}

/** The map over α and K at fixed K_mem. */
export function alphaMap(
  sample: LabSample,
  histories: readonly number[],
  alphas: readonly number[],
  settings: Omit<AlphaSettings, 'K'> & Omit<CombineSettings, 'alpha'>,
): MapCell[] {
  return histories.flatMap((K) => {
    const moments = alphaMoments(sample, { ...settings, K });
    return alphas.map((alpha) => ({ K, alpha, ...figuresAt(moments, { ...settings, alpha }) }));
  });
}
