import type { RolloutBatch } from '../rollouts/batch.ts';
import { taskGroups, type Grouping } from './groups.ts';
import { compareInGroups, groupStatistics, type GroupComparison, type Values } from './statistics.ts';
import type { Settings } from './settings.ts';

/** One level of the hierarchy: its groups, the comparison in each, and what it weighs for each row. */
export interface Level {
  readonly k: number;
  readonly groups: Grouping;
  /** a_k: (Q − mean) / (sd + ε) in the group; NaN where the row has no group or no company. */
  readonly comparison: GroupComparison;
  /** [groups] inverse-variance weights; null where the weight depends on k alone */
  readonly precision: Float64Array | null;
}

type LevelSettings = Pick<Settings, 'mode' | 'eps' | 'leaveOut' | 'visits' | 'weights' | 'kappa'>;

/**
 * The comparison at each level (population standard deviation):
 *
 *     a_k(i) = (Q_i − mean_{G_k} Q) / (sd_{G_k} + ε)    or without the division
 *
 * With `weights: 'inverse-variance'` the levels share a scale, the standard deviation of the task, and weigh σ²/u_k with
 *
 *     u_k = s̃²_k / n_k,   s̃²_k = ((n_k − 1) s²_k + κ σ²) / (n_k − 1 + κ)
 *
 * where s² is the sample variance in the group and σ² that of the task. The factor σ² changes no ratio; it gives a single
 * sample weight 1 and keeps ε negligible at every scale of rewards.
 *
 * @param returns [rows] Q; in a Float32Array the comparison is computed in float32
 */
export function compareLevels(
  rows: Pick<RolloutBatch, 'rowCount' | 'tasks' | 'task' | 'trajectory' | 'byStep'>,
  hierarchy: readonly Grouping[],
  returns: Values,
  settings: LevelSettings,
): Level[] {
  if (settings.weights === 'power') {
    return hierarchy.map((groups, k) => ({
      k,
      groups,
      comparison: compareInGroups(rows, returns, groups, { ...settings, freedom: 0 }),
      precision: null,
    }));
  }
  const { groupCount, group: task } = taskGroups(rows);
  const ofTask = groupStatistics(returns, task, groupCount);
  const taskVariance = Float64Array.from(ofTask.count, (n, g) => (n > 1 ? ofTask.squares[g]! / (n - 1) : 0));
  return hierarchy.map((groups, k) => {
    const variance = new Float64Array(groups.groupCount);
    for (let i = 0; i < rows.rowCount; i++) {
      if (groups.group[i]! >= 0) variance[groups.group[i]!] = taskVariance[task[i]!]!;
    }
    const comparison = compareInGroups(rows, returns, groups, {
      ...settings,
      freedom: 0,
      sd: variance.map(Math.sqrt),
    });
    const { count, squares } = comparison.statistics;
    const precision = variance.map((ofItsTask, g) => {
      const shrunk = shrunkVariance(squares[g]!, count[g]! - 1, ofItsTask, settings.kappa);
      return shrunk > 0 ? (ofItsTask * count[g]!) / shrunk : 0;
    });
    return { k, groups, comparison, precision };
  });
}

/**
 * A sample variance that is pulled to a prior variance worth κ samples: (Σ(x−m)² + κ σ²) / (freedom + κ). With no
 * freedom and κ = 0 it is the prior's.
 */
export function shrunkVariance(squares: number, freedom: number, prior: number, kappa: number): number {
  return freedom + kappa > 0 ? (squares + kappa * prior) / (freedom + kappa) : prior;
}

export interface HgpoAdvantages {
  /** [rows] */
  readonly advantage: Float64Array;
  /** [levels][rows] share of the level in the row's advantage; 0 where it does not count */
  readonly weights: readonly Float64Array[];
  /** [rows] share of the base group; null without one */
  readonly baseWeight: Float64Array | null;
  /** [rows] 0 = the row leaves the loss (W/o HoG-1) */
  readonly inLoss: Uint8Array;
}

type CombineSettings = Pick<Settings, 'alpha' | 'weightOffset' | 'skipZero' | 'denominator' | 'variant' | 'eps'>;

/**
 * HGPO (arXiv:2602.22817, Eq. 7):
 *
 *     A_i = Σ_{k∈L} w_k a_k(i) / (Σ_{k∈L} w_k + ε),    w_k = (k + weightOffset)^α
 *
 * L holds the levels that are present and, with `skipZero`, not 0; with `denominator: 'all'` the sum below runs over all
 * levels. The base group, GRPO's advantage, is one more item of weight 1. An empty L gives 0. Powers are taken relative
 * to the deepest level in L, so no α overflows. O(rows · (K + 1)).
 *
 * @param base [rows] GRPO's advantage with `crossSteps`, or null
 */
export function hgpoAdvantages(
  rowCount: number,
  levels: readonly Level[],
  base: Float64Array | null,
  settings: CombineSettings,
): HgpoAdvantages {
  const result: HgpoAdvantages = {
    advantage: new Float64Array(rowCount),
    weights: levels.map(() => new Float64Array(rowCount)),
    baseWeight: base && new Float64Array(rowCount),
    inLoss: new Uint8Array(rowCount).fill(1),
  };
  if (settings.variant !== 'full') useOracleGroups(levels, settings.variant, result);
  else if (levels[0]!.precision === null) weighByDepth(levels, base, settings, result);
  else weighByPrecision(levels, base, settings, result);
  return result;
}

/** W/o HoG-1 (`oracle_only`): the deepest level alone. W/o HoG-2 (`oracle_else_step`): else the state level. */
function useOracleGroups(levels: readonly Level[], variant: Settings['variant'], result: HgpoAdvantages): void {
  const { advantage, weights, inLoss } = result;
  const deepest = levels.length - 1;
  const oracle = levels[deepest]!.comparison.advantage;
  const state = levels[0]!.comparison.advantage;
  for (let i = 0; i < advantage.length; i++) {
    let k = -1;
    if (!Number.isNaN(oracle[i]!)) k = deepest;
    else if (variant === 'oracle_only') inLoss[i] = 0;
    else if (!Number.isNaN(state[i]!)) k = 0;
    if (k < 0) continue;
    advantage[i] = levels[k]!.comparison.advantage[i]!;
    weights[k]![i] = 1;
  }
}

function weighByDepth(
  levels: readonly Level[],
  base: Float64Array | null,
  { alpha, weightOffset, skipZero, denominator, eps }: CombineSettings,
  { advantage, weights, baseWeight }: HgpoAdvantages,
): void {
  const count = levels.length;
  const values = levels.map((level) => level.comparison.advantage);
  // relative[d][k] = w_k / w_d; [d][count] = 1 / w_d, the weight of the base group and the factor of ε
  const relative = levels.map((_, d) =>
    Float64Array.from({ length: count + 1 }, (_, k) =>
      Math.pow((k < count ? k + weightOffset : 1) / (d + weightOffset), alpha),
    ),
  );
  const everything = relative[count - 1]!.reduce((sum, w, k) => sum + (k < count || base ? w : 0), 0);
  for (let i = 0; i < advantage.length; i++) {
    let top: Float64Array | null = null;
    let total = 0;
    for (let k = count - 1; k >= 0; k--) {
      const a = values[k]![i]!;
      // NaN, an absent level, fails both comparisons.
      if (!(a > 0 || a < 0 || (a === 0 && !skipZero))) continue;
      top ??= denominator === 'all' ? relative[count - 1]! : relative[k]!;
      total += top[k]!;
      weights[k]![i] = top[k]!;
    }
    const b = base === null ? 0 : base[i]!;
    const withBase = base !== null && (b !== 0 || !skipZero);
    if (top === null && !withBase) continue;
    // With the base group alone, weights are relative to its own, 1.
    top ??= denominator === 'all' ? relative[count - 1]! : null;
    const baseShare = top === null ? 1 : top[count]!;
    if (withBase) total += baseShare;
    const scale = 1 / ((denominator === 'all' ? everything : total) + eps * baseShare);
    let sum = 0;
    for (let k = 0; k < count; k++) {
      const w = weights[k]![i]!;
      if (w === 0) continue;
      weights[k]![i] = w * scale;
      sum += w * scale * values[k]![i]!;
    }
    if (withBase) {
      baseWeight![i] = baseShare * scale;
      sum += baseShare * scale * b;
    }
    advantage[i] = sum;
  }
}

/** As by depth, with each group's own weight; levels that a row does not have have no variance, so `all` = present. */
function weighByPrecision(
  levels: readonly Level[],
  base: Float64Array | null,
  { skipZero, denominator, eps }: CombineSettings,
  { advantage, weights, baseWeight }: HgpoAdvantages,
): void {
  for (let i = 0; i < advantage.length; i++) {
    let total = 0;
    let everything = base === null ? 0 : 1;
    for (const [k, { groups, comparison, precision }] of levels.entries()) {
      const a = comparison.advantage[i]!;
      if (Number.isNaN(a)) continue;
      const w = precision![groups.group[i]!]!;
      everything += w;
      if (a === 0 && skipZero) continue;
      total += w;
      weights[k]![i] = w;
    }
    const b = base === null ? 0 : base[i]!;
    const withBase = base !== null && (b !== 0 || !skipZero);
    if (withBase) total += 1;
    const scale = 1 / ((denominator === 'all' ? everything : total) + eps);
    let sum = 0;
    for (const [k, { comparison }] of levels.entries()) {
      const w = weights[k]![i]!;
      if (w === 0) continue;
      weights[k]![i] = w * scale;
      sum += w * scale * comparison.advantage[i]!;
    }
    if (withBase) {
      baseWeight![i] = scale;
      sum += scale * b;
    }
    advantage[i] = sum;
  }
}
