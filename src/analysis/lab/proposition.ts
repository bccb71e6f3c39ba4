import { combineLevels, levelColumn, maskShares, type CombineSettings } from './columns.ts';
import { supportRows } from './figures.ts';
import { measure, type Figure } from './measures.ts';
import { keyOrder, type LabSample } from './sample.ts';

/**
 * Proposition 4.1 of the paper on trial. It says of A^H = Σ w_k a_k, where every level is present and the levels are
 * independent with b_0 ≥ … ≥ b_K and v_0 ≤ … ≤ v_K,
 *
 *     b_K ≤ Bias[A^H] ≤ b_0,        v_0 / (K+1) ≤ Var[A^H] ≤ v_K,        Var[A^H] = Σ w_k² v_k
 *
 * Measured in `mean_norm`, on the rows whose deepest level is present, zeros included, so that the weights are fixed.
 */
export interface PropositionTrial {
  readonly K: number;
  readonly alpha: number;
  /** Share of visits with the deepest level present. */
  readonly coverage: number;
  readonly weights: readonly number[];
  /** RMS of b_k, and v_k, of each level alone. */
  readonly levelBias: readonly Figure[];
  readonly levelVariance: readonly Figure[];
  readonly bias: Figure;
  readonly variance: Figure;
  /** Σ w² v: what independent levels would give. */
  readonly independentVariance: number;
  /** Σ w w' cov: with the measured covariance of the levels. */
  readonly covarianceVariance: number;
  /** [K + 1 × K + 1] correlation of the levels at fixed (prefix, action). */
  readonly correlation: readonly (readonly number[])[];
  readonly holds: {
    readonly biasFalls: boolean;
    readonly varianceRises: boolean;
    readonly biasBounds: boolean;
    readonly varianceBounds: boolean;
    readonly independence: boolean;
  };
  /** The verdict in words, from these numbers. */
  readonly sentences: readonly string[];
}

/** @param settings HGPO's; `skipZero` is not read, zeros count */
export function propositionOnTrial(
  sample: LabSample,
  K: number,
  settings: Omit<CombineSettings, 'skipZero'>,
): PropositionTrial {
  const levels = Array.from({ length: K + 1 }, (_, k) => sample.columns.get(levelColumn(k, 'mean_norm'))!);
  const support = supportRows(sample, 'deepest', null, K)!;
  const fixed = { ...settings, skipZero: false };
  const [shares] = maskShares([levels.map((_, k) => k)], K + 1, fixed);
  const weights = [...shares!];
  const ofLevel = levels.map((level) => measure(sample, level, { target: 'state', support }));
  const whole = measure(sample, combineLevels(levels, fixed), { target: 'state', support });
  const covariance = levelCovariance(sample, levels, support);
  const levelBias = ofLevel.map(({ rmsBias }) => rmsBias);
  const levelVariance = ofLevel.map(({ variance }) => variance);
  const variances = covariance.map((row, k) => row[k]!);
  const independentVariance = weights.reduce((sum, w, k) => sum + w * w * variances[k]!, 0);
  const covarianceVariance = weights.reduce(
    (sum, w, k) => weights.reduce((inner, u, l) => inner + w * u * covariance[k]![l]!, sum),
    0,
  );
  const correlation = covariance.map((row, k) => row.map((c, l) => c / Math.sqrt(variances[k]! * variances[l]!)));
  const v = whole.variance.value;
  const at = (values: readonly number[], k: number) => values[k]!;
  const rms = levelBias.map(({ value }) => value);
  const bounds = {
    low: at(variances, 0) / (K + 1),
    high: at(variances, K),
  };
  const holds = {
    biasFalls: rms.every((b, k) => k === 0 || b <= rms[k - 1]! + SLACK),
    varianceRises: variances.every((x, k) => k === 0 || x >= variances[k - 1]! - SLACK),
    biasBounds: whole.rmsBias.value >= at(rms, K) - SLACK && whole.rmsBias.value <= at(rms, 0) + SLACK,
    varianceBounds: v >= bounds.low - SLACK && v <= bounds.high + SLACK,
    independence: whole.variance.low <= independentVariance && independentVariance <= whole.variance.high,
  };
  const offDiagonal = correlation.flatMap((row, k) => row.filter((_, l) => l < k));
  const number = (x: number) => x.toFixed(3);
  const list = (values: readonly number[]) => values.map(number).join(', ');
  const sentences = [
    holds.biasFalls
      ? `The bias of the levels falls with depth, as assumed: ${list(rms)}.`
      : `The bias of the levels does not fall with depth: ${list(rms)}.`,
    holds.varianceRises
      ? `Their variance rises with depth, as assumed: ${list(variances)}.`
      : `Their variance does not rise with depth: ${list(variances)}.`,
    holds.biasBounds
      ? `The bias of the weighted sum, ${number(whole.rmsBias.value)}, lies between that of the deepest and of the first level.`
      : `The bias of the weighted sum, ${number(whole.rmsBias.value)}, leaves the range from ${number(at(rms, K))} to ${number(at(rms, 0))}.`,
    ...(K === 0
      ? []
      : [
          `The levels are not independent: their correlations lie between ${number(Math.min(...offDiagonal))} and ${number(Math.max(...offDiagonal))}. ` +
            `Independence predicts a variance of ${number(independentVariance)}, measured is ${number(v)}: ${number(v / independentVariance)} times that.`,
        ]),
    holds.varianceBounds
      ? `The measured variance still lies within the bounds, ${number(bounds.low)} to ${number(bounds.high)}.`
      : `The measured variance, ${number(v)}, lies outside the bounds, ${number(bounds.low)} to ${number(bounds.high)}.`,
  ];
  return {
    K,
    alpha: settings.alpha,
    coverage: whole.coverage,
    weights,
    levelBias,
    levelVariance,
    bias: whole.rmsBias,
    variance: whole.variance,
    independentVariance,
    covarianceVariance,
    correlation,
    holds,
    sentences,
  };
}

/** Differences below this are rounding. */
const SLACK = 1e-9;

/**
 * Covariance of the levels at fixed keys, averaged by visits per task and over tasks. Products of expectations come from
 * different batches, as in `measure`.
 */
function levelCovariance(sample: LabSample, levels: readonly Float64Array[], support: Uint8Array): number[][] {
  const { start, rows } = keyOrder(sample);
  const L = levels.length;
  const sums = Array.from({ length: sample.taskCount }, () => new Float64Array(L * L));
  const weights = new Float64Array(sample.taskCount);
  const sum = new Float64Array(L);
  const cell = new Float64Array(L);
  const square = new Float64Array(L * L);
  const same = new Float64Array(L * L);
  for (let key = 0; key < sample.keyCount; key++) {
    sum.fill(0);
    square.fill(0);
    same.fill(0);
    let n = 0;
    let samePairs = 0;
    let j = start[key]!;
    while (j < start[key + 1]!) {
      const batch = sample.rowBatch[rows[j]!]!;
      cell.fill(0);
      let count = 0;
      for (; j < start[key + 1]! && sample.rowBatch[rows[j]!] === batch; j++) {
        const row = rows[j]!;
        if (support[row] === 0) continue;
        count++;
        for (let k = 0; k < L; k++) {
          cell[k]! += levels[k]![row]!;
          for (let l = 0; l < L; l++) square[k * L + l]! += levels[k]![row]! * levels[l]![row]!;
        }
      }
      n += count;
      samePairs += count * count;
      for (let k = 0; k < L; k++) {
        sum[k]! += cell[k]!;
        for (let l = 0; l < L; l++) same[k * L + l]! += cell[k]! * cell[l]!;
      }
    }
    const pairs = n * n - samePairs;
    if (!(pairs > 0)) continue;
    const task = sample.keyTask[key]!;
    const weight = (sample.keyWeight[key]! * n) / (start[key + 1]! - start[key]!);
    weights[task]! += weight;
    for (let k = 0; k < L; k++) {
      for (let l = 0; l < L; l++) {
        const at = k * L + l;
        sums[task]![at]! += weight * (square[at]! / n - (sum[k]! * sum[l]! - same[at]!) / pairs);
      }
    }
  }
  const counted = weights.reduce((tasks, w) => tasks + (w > 0 ? 1 : 0), 0);
  return Array.from({ length: L }, (_, k) =>
    Array.from(
      { length: L },
      (_, l) =>
        sums.reduce(
          (total, ofTask, task) => (weights[task]! > 0 ? total + ofTask[k * L + l]! / weights[task]! : total),
          0,
        ) / counted,
    ),
  );
}
