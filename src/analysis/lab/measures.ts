import { keyOrder, halfOf, type LabSample, type Target } from './sample.ts';

/** A measured number with its 95 % interval. */
export interface Figure {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/** What an estimator does to the rows of a support, against one truth A. Averages are over visits, then over tasks. */
export interface Measures {
  /**
   * sqrt of the mean square of E[Â | key] − A per task, averaged over tasks. Squares are products of different batches,
   * so noise does not count as bias; clipped at 0 for display.
   */
  readonly rmsBias: Figure;
  /** The mean square itself, not clipped: MSE = mean square bias + variance. */
  readonly meanSquareBias: Figure;
  /** Mean of Â − A. */
  readonly signedBias: Figure;
  /** Mean over keys of the variance of Â over batches. */
  readonly variance: Figure;
  /** Mean of (Â − A)². */
  readonly mse: Figure;
  /** Correlation of Â with A over rows; NaN where either is constant. */
  readonly correlation: number;
  /** Share of rows with the sign of A, among those with |A| clear of 0 and Â ≠ 0. */
  readonly signAgreement: number;
  /** Share of rows with Â = 0 or without Â. */
  readonly noSignal: number;
  /** Share of the sample's visits that lie in the support and in keys met in at least two batches. */
  readonly coverage: number;
  /** Keys that counted. */
  readonly keys: number;
  /** Batches. */
  readonly repeats: number;
}

export interface MeasureSettings {
  readonly target: Target;
  /** [rows] 1 = in the support; all rows where it is left out. Rows without an estimate count as 0 inside the support. */
  readonly support?: Uint8Array | null;
  /**
   * What the intervals cover: `batches` takes the keys as given, `batches and keys` counts them as drawn by visitation,
   * as pinned probes are. Default: by the kind of sample.
   */
  readonly over?: 'batches' | 'batches and keys';
}

/** |A| above this counts as having a sign (and twice its standard error, where it was estimated). */
const SIGN_THRESHOLD = 0.01;

/** Order of the figures in the arrays below. */
const SQUARE = 0;
const SIGNED = 1;
const MSE = 2;
const FIGURES = 3;

/**
 * Measures a column of estimates. O(rows), and as much again for the intervals, which resample whole batches: every
 * batch is left out in turn (jackknife), since rows of one batch share their luck.
 *
 * @param estimates [rows] Â; NaN counts as 0
 */
export function measure(sample: LabSample, estimates: Float64Array, settings: MeasureSettings): Measures {
  const { batchCount, taskCount, keyTask, keyWeight, rowBatch } = sample;
  const { target, support = null } = settings;
  const over = settings.over ?? (sample.keys === 'pinned' ? 'batches and keys' : 'batches');
  const truth = sample.truths[target];
  const truthVariance = sample.truthVariance?.[target] ?? null;
  const { start, rows } = keyOrder(sample);

  // [tasks] sums, and what each batch changes in them when it is left out.
  const numerator = Array.from({ length: FIGURES }, () => new Float64Array(taskCount));
  const weight = new Float64Array(taskCount);
  const numeratorWithout = Array.from({ length: FIGURES }, () => new Float64Array(batchCount * taskCount));
  const weightWithout = new Float64Array(batchCount * taskCount);
  const keyShare = new Float64Array(sample.keyCount);
  const keyTerms = Array.from({ length: FIGURES }, () => new Float64Array(sample.keyCount));

  const allWeight = new Float64Array(taskCount);
  const agreement = new Agreement(taskCount);
  let keys = 0;

  // The cells (key, batch) of the key at hand.
  const cellBatch = new Int32Array(batchCount);
  const cellCount = new Float64Array(batchCount);
  const cellAll = new Float64Array(batchCount);
  const cellSum = new Float64Array(batchCount);
  const cellSquares = new Float64Array(batchCount);

  for (let key = 0; key < sample.keyCount; key++) {
    const task = keyTask[key]!;
    const A = truth[key]!;
    const error = truthVariance?.[key] ?? 0;
    allWeight[task]! += keyWeight[key]!;
    let cells = 0;
    for (let j = start[key]!; j < start[key + 1]!; j++) {
      const row = rows[j]!;
      const batch = rowBatch[row]!;
      if (cells === 0 || cellBatch[cells - 1] !== batch) {
        cellBatch[cells] = batch;
        cellCount[cells] = cellAll[cells] = cellSum[cells] = cellSquares[cells] = 0;
        cells++;
      }
      const cell = cells - 1;
      cellAll[cell]!++;
      if (support !== null && support[row] === 0) continue;
      const estimate = estimates[row]!;
      const deviation = (Number.isNaN(estimate) ? 0 : estimate) - A;
      cellCount[cell]!++;
      cellSum[cell]! += deviation;
      cellSquares[cell]! += deviation * deviation;
    }
    // Sums over cells, and over pairs of the same cell.
    let n = 0;
    let all = 0;
    let sum = 0;
    let squares = 0;
    let samePairs = 0;
    let sameProducts = 0;
    for (let c = 0; c < cells; c++) {
      n += cellCount[c]!;
      all += cellAll[c]!;
      sum += cellSum[c]!;
      squares += cellSquares[c]!;
      samePairs += cellCount[c]! ** 2;
      sameProducts += cellSum[c]! ** 2;
    }
    const pairs = n * n - samePairs;
    if (!(pairs > 0)) continue;
    keys++;
    const share = (keyWeight[key]! * n) / all;
    const square = (sum * sum - sameProducts) / pairs - error;
    const mse = squares / n - error;
    weight[task]! += share;
    numerator[SQUARE]![task]! += share * square;
    numerator[SIGNED]![task]! += (share * sum) / n;
    numerator[MSE]![task]! += share * mse;
    keyShare[key] = share;
    keyTerms[SQUARE]![key] = square;
    keyTerms[SIGNED]![key] = sum / n;
    keyTerms[MSE]![key] = mse;
    for (let c = 0; c < cells; c++) {
      const at = cellBatch[c]! * taskCount + task;
      const nWithout = n - cellCount[c]!;
      const sumWithout = sum - cellSum[c]!;
      const pairsWithout = nWithout * nWithout - (samePairs - cellCount[c]! ** 2);
      const counts = pairsWithout > 0;
      const shareWithout = counts ? (keyWeight[key]! * nWithout) / (all - cellAll[c]!) : 0;
      weightWithout[at]! += shareWithout - share;
      numeratorWithout[SQUARE]![at]! +=
        (counts ? shareWithout * ((sumWithout ** 2 - (sameProducts - cellSum[c]! ** 2)) / pairsWithout - error) : 0) -
        share * square;
      numeratorWithout[SIGNED]![at]! += (counts ? (shareWithout * sumWithout) / nWithout : 0) - (share * sum) / n;
      numeratorWithout[MSE]![at]! +=
        (counts ? shareWithout * ((squares - cellSquares[c]!) / nWithout - error) : 0) - share * mse;
    }
    const clear = Math.abs(A) > Math.max(SIGN_THRESHOLD, 2 * Math.sqrt(error));
    for (let j = start[key]!; j < start[key + 1]!; j++) {
      const row = rows[j]!;
      if (support !== null && support[row] === 0) continue;
      agreement.add(task, share / n, Number.isNaN(estimates[row]!) ? 0 : estimates[row]!, A, clear);
    }
  }

  const figures = (sums: readonly Float64Array[], weights: Float64Array, offset = 0) =>
    overTasks(taskCount, (task) => {
      const w = weights[offset + task]!;
      return w > 1e-12 * allWeight[task]!
        ? [sums[SQUARE]![offset + task]! / w, sums[SIGNED]![offset + task]! / w, sums[MSE]![offset + task]! / w]
        : null;
    });
  const whole = figures(numerator, weight);
  const withoutBatch: (readonly number[])[] = [];
  const sums = Array.from({ length: FIGURES }, () => new Float64Array(taskCount));
  const weights = new Float64Array(taskCount);
  for (let b = 0; b < batchCount; b++) {
    for (let task = 0; task < taskCount; task++) {
      for (let f = 0; f < FIGURES; f++)
        sums[f]![task] = numerator[f]![task]! + numeratorWithout[f]![b * taskCount + task]!;
      weights[task] = weight[task]! + weightWithout[b * taskCount + task]!;
    }
    withoutBatch.push(figures(sums, weights));
  }
  const spread = jackknifeVariance(withoutBatch, whole);
  if (over === 'batches and keys') {
    const keySpread = keyVariance(sample, keyShare, keyTerms, numerator, weight, whole.length);
    for (let f = 0; f < spread.length; f++) spread[f]! += keySpread[f]!;
  }
  const t = studentT975(batchCount - 1);
  const figure = (f: number, floor = -Infinity): Figure => {
    const half = t * Math.sqrt(spread[f]!);
    return {
      value: Math.max(floor, whole[f]!),
      low: Math.max(floor, whole[f]! - half),
      high: Math.max(floor, whole[f]! + half),
    };
  };
  const covered = weight.reduce((a, w) => a + w, 0) / allWeight.reduce((a, w) => a + w, 0);
  return {
    rmsBias: figure(RMS, 0),
    meanSquareBias: figure(SQUARE),
    signedBias: figure(SIGNED),
    variance: figure(VARIANCE),
    mse: figure(MSE),
    ...agreement.shares(weight),
    coverage: covered,
    keys,
    repeats: batchCount,
  };
}

// Figures that follow from the three sums of a task.
const VARIANCE = 3;
const RMS = 4;

// The root keeps the sign of a mean square that noise has pushed below 0, so that the average over tasks stays honest.
const signedRoot = (square: number) => Math.sign(square) * Math.sqrt(Math.abs(square));

/** Averages over the tasks that have any visits in the support. */
function overTasks(taskCount: number, of: (task: number) => readonly number[] | null): number[] {
  const mean = [0, 0, 0, 0, 0];
  let tasks = 0;
  for (let task = 0; task < taskCount; task++) {
    const figures = of(task);
    if (figures === null) continue;
    tasks++;
    const [square, signed, mse] = figures as [number, number, number];
    mean[SQUARE]! += square;
    mean[SIGNED]! += signed;
    mean[MSE]! += mse;
    mean[VARIANCE]! += mse - square;
    mean[RMS]! += signedRoot(square);
  }
  return mean.map((sum) => sum / tasks);
}

/** (B−1)/B Σ (θ_−b − mean)², for each figure. */
function jackknifeVariance(without: readonly (readonly number[])[], whole: readonly number[]): number[] {
  const B = without.length;
  return whole.map((_, f) => {
    let mean = 0;
    for (const figures of without) mean += figures[f]! / B;
    let sum = 0;
    for (const figures of without) sum += (figures[f]! - mean) ** 2;
    return ((B - 1) / B) * sum;
  });
}

/** The same with keys left out in turn, task by task: they were drawn within each task. */
function keyVariance(
  { keyTask, keyCount, taskCount }: LabSample,
  share: Float64Array,
  terms: readonly Float64Array[],
  numerator: readonly Float64Array[],
  weight: Float64Array,
  figureCount: number,
): number[] {
  const counted = new Int32Array(taskCount);
  for (let key = 0; key < keyCount; key++) if (share[key]! > 0) counted[keyTask[key]!]!++;
  const tasks = weight.reduce((count, w) => count + (w > 0 ? 1 : 0), 0);
  const squares = Array.from({ length: figureCount }, () => new Float64Array(taskCount));
  const sums = Array.from({ length: figureCount }, () => new Float64Array(taskCount));
  for (let key = 0; key < keyCount; key++) {
    const task = keyTask[key]!;
    const w = weight[task]! - share[key]!;
    if (share[key] === 0 || !(w > 1e-12 * weight[task]!)) continue;
    const without = [SQUARE, SIGNED, MSE].map((f) => (numerator[f]![task]! - share[key]! * terms[f]![key]!) / w);
    const figures = [...without, without[MSE]! - without[SQUARE]!, signedRoot(without[SQUARE]!)];
    for (let f = 0; f < figureCount; f++) {
      sums[f]![task]! += figures[f]!;
      squares[f]![task]! += figures[f]! ** 2;
    }
  }
  return squares.map((ofTask, f) =>
    ofTask.reduce((sum, square, task) => {
      const n = counted[task]!;
      return n < 2 ? sum : sum + (((n - 1) / n) * Math.max(0, square - sums[f]![task]! ** 2 / n)) / tasks ** 2;
    }, 0),
  );
}

/** Correlation, sign and silence, row by row, each task with the same weight. */
class Agreement {
  private readonly sums: readonly Float64Array[];

  constructor(private readonly taskCount: number) {
    this.sums = Array.from({ length: 9 }, () => new Float64Array(taskCount));
  }

  add(task: number, weight: number, estimate: number, truth: number, clear: boolean): void {
    const { sums } = this;
    const silent = estimate === 0;
    sums[0]![task]! += weight;
    sums[1]![task]! += weight * estimate;
    sums[2]![task]! += weight * truth;
    sums[3]![task]! += weight * estimate * estimate;
    sums[4]![task]! += weight * truth * truth;
    sums[5]![task]! += weight * estimate * truth;
    if (silent) sums[6]![task]! += weight;
    else if (clear) {
      sums[7]![task]! += weight;
      if (Math.sign(estimate) === Math.sign(truth)) sums[8]![task]! += weight;
    }
  }

  shares(weight: Float64Array): Pick<Measures, 'correlation' | 'signAgreement' | 'noSignal'> {
    const total = this.sums.map((sum) => {
      let mean = 0;
      for (let task = 0; task < this.taskCount; task++) if (weight[task]! > 0) mean += sum[task]! / weight[task]!;
      return mean;
    });
    const [n, x, a, xx, aa, xa, silent, clear, agreeing] = total as [number, ...number[]] & number[];
    const covariance = xa! / n - (x! / n) * (a! / n);
    const spread = Math.sqrt((xx! / n - (x! / n) ** 2) * (aa! / n - (a! / n) ** 2));
    return {
      correlation: spread > 0 ? covariance / spread : NaN,
      signAgreement: clear! > 0 ? agreeing! / clear! : NaN,
      noSignal: silent! / n,
    };
  }
}

/** A measure after multiplying the estimates by one constant. */
export interface ScaledMeasures extends Measures {
  /** The constant: least squares of A on Â over the batches with even numbers. */
  readonly scale: number;
}

/**
 * Normalised estimates are not in units of returns, so they are compared up to one constant: fitted on the batches with
 * even numbers, scored on the others.
 */
export function measureScaled(sample: LabSample, estimates: Float64Array, settings: MeasureSettings): ScaledMeasures {
  const { support = null, target } = settings;
  const fit = halfOf(sample, 0);
  const score = halfOf(sample, 1);
  const of = (rows: Int32Array, column: Float64Array) => Float64Array.from(rows, (row) => column[row]!);
  const supportOf = (rows: Int32Array) => support && Uint8Array.from(rows, (row) => support[row]!);
  const scale = leastSquares(fit.sample, of(fit.rows, estimates), sample.truths[target], supportOf(fit.rows));
  const scaled = of(score.rows, estimates).map((x) => scale * x);
  return { ...measure(score.sample, scaled, { ...settings, support: supportOf(score.rows) }), scale };
}

/** The constant c that makes Σ (A − c Â)² least, each task with the same weight. */
function leastSquares(
  { taskCount, keyTask, keyWeight, rowKey, rowCount }: LabSample,
  estimates: Float64Array,
  truth: Float64Array,
  support: Uint8Array | null,
): number {
  const products = new Float64Array(taskCount);
  const squares = new Float64Array(taskCount);
  const weights = new Float64Array(taskCount);
  const perKey = new Float64Array(keyWeight.length);
  for (let row = 0; row < rowCount; row++) perKey[rowKey[row]!]!++;
  for (let row = 0; row < rowCount; row++) {
    const x = estimates[row]!;
    if (Number.isNaN(x) || (support !== null && support[row] === 0)) continue;
    const key = rowKey[row]!;
    const task = keyTask[key]!;
    const w = keyWeight[key]! / perKey[key]!;
    products[task]! += w * x * truth[key]!;
    squares[task]! += w * x * x;
    weights[task]! += w;
  }
  let product = 0;
  let square = 0;
  for (let task = 0; task < taskCount; task++) {
    if (weights[task] === 0) continue;
    product += products[task]! / weights[task]!;
    square += squares[task]! / weights[task]!;
  }
  return square > 0 ? product / square : 0;
}

/** The 97.5 % point of Student's distribution (Abramowitz and Stegun 26.7.5); within 0.002 from 4 degrees of freedom on. */
export function studentT975(freedom: number): number {
  if (freedom < 1) return Infinity;
  const z = 1.959963984540054;
  const v = freedom;
  return (
    z +
    (z ** 3 + z) / (4 * v) +
    (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * v ** 2) +
    (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / (384 * v ** 3)
  );
}
