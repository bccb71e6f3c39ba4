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
  /** [shared groups] inverse-variance weights; null where the weight depends on k alone */
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
    return hierarchy.map((groups, k) => {
      const { advantage, sd } = compareInGroups(rows, returns, groups, { ...settings, freedom: 0 });
      return { k, groups, comparison: { advantage, sd }, precision: null };
    });
  }
  const tasks = taskGroups(rows);
  const ofTask = groupStatistics(returns, tasks);
  const taskVariance = Float64Array.from(ofTask.count, (n, u) => (n > 1 ? ofTask.squares[u]! / (n - 1) : 0));
  return hierarchy.map((groups, k) => {
    const variance = new Float64Array(groups.shared);
    for (let i = 0; i < rows.rowCount; i++) {
      const g = groups.group[i]!;
      if (g >= 0 && g < groups.shared) variance[g] = taskVariance[rows.task[i]!]!;
    }
    const { advantage, sd, statistics } = compareInGroups(rows, returns, groups, {
      ...settings,
      freedom: 0,
      sd: variance.map(Math.sqrt),
    });
    const { count, squares } = statistics;
    const precision = variance.map((ofItsTask, g) => {
      const shrunk = shrunkVariance(squares[g]!, count[g]! - 1, ofItsTask, settings.kappa);
      return shrunk > 0 ? (ofItsTask * count[g]!) / shrunk : 0;
    });
    return { k, groups, comparison: { advantage, sd }, precision };
  });
}

/**
 * A sample variance that is pulled to a prior variance worth κ samples: (Σ(x−m)² + κ σ²) / (freedom + κ). With no
 * freedom and κ = 0 it is the prior's.
 */
export function shrunkVariance(squares: number, freedom: number, prior: number, kappa: number): number {
  return freedom + kappa > 0 ? (squares + kappa * prior) / (freedom + kappa) : prior;
}

/**
 * Which items of the weighted mean count for each row. Rows with the same set share the same weights, so the sets are
 * numbered: a change of α then costs a multiplication a level and row.
 */
export interface ActiveSets {
  /** [rows] number of the row's set */
  readonly set: Int32Array;
  /** [sets] the items of each, ascending: levels by k, the base group as K + 1 */
  readonly items: readonly (readonly number[])[];
}

/**
 * L of each row: the levels that are present and, with `skipZero`, not 0, and the base group likewise.
 * O(rows · (K + 1)).
 *
 * @param base [rows] GRPO's advantage, or null
 */
export function activeSets(
  rowCount: number,
  levels: readonly Level[],
  base: Float64Array | null,
  skipZero: boolean,
): ActiveSets {
  const set = new Int32Array(rowCount);
  const items: number[][] = [[]];
  const columns = levels.map((level) => level.comparison.advantage);
  if (base) columns.push(base);
  columns.forEach((values, item) => {
    // [sets so far] number of the set that has this item too, −1 = not seen
    const extended = items.map(() => -1);
    for (let i = 0; i < rowCount; i++) {
      const a = values[i]!;
      // NaN, an absent level, fails all three.
      if (!(a > 0 || a < 0 || (a === 0 && !skipZero))) continue;
      const before = set[i]!;
      let after = extended[before]!;
      if (after < 0) {
        after = extended[before] = items.length;
        items.push([...items[before]!, item]);
      }
      set[i] = after;
    }
  });
  return { set, items };
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

type CombineSettings = Pick<Settings, 'alpha' | 'weightOffset' | 'denominator' | 'variant' | 'eps'>;

/**
 * HGPO (arXiv:2602.22817, Eq. 7):
 *
 *     A_i = Σ_{k∈L} w_k a_k(i) / (Σ_{k∈L} w_k + ε),    w_k = (k + weightOffset)^α
 *
 * With `denominator: 'all'` the sum below runs over all levels. The base group, GRPO's advantage, is one more item of
 * weight 1. An empty L gives 0. O(rows · (K + 1)).
 *
 * @param base [rows] GRPO's advantage with `crossSteps`, or null
 * @param active L of each row, from the same levels and base
 */
export function hgpoAdvantages(
  levels: readonly Level[],
  base: Float64Array | null,
  active: ActiveSets,
  settings: CombineSettings,
): HgpoAdvantages {
  const rowCount = active.set.length;
  const result: HgpoAdvantages = {
    advantage: new Float64Array(rowCount),
    weights: levels.map(() => new Float64Array(rowCount)),
    baseWeight: base && new Float64Array(rowCount),
    inLoss: new Uint8Array(rowCount).fill(1),
  };
  if (settings.variant !== 'full') useOracleGroups(levels, settings.variant, result);
  else if (levels[0]!.precision === null) weighByDepth(levels, base, active, settings, result);
  else weighByPrecision(levels, base, active, settings, result);
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
  { set, items }: ActiveSets,
  { alpha, weightOffset, denominator, eps }: CombineSettings,
  { advantage, weights, baseWeight }: HgpoAdvantages,
): void {
  const bases = [...levels.map(({ k }) => k + weightOffset), ...(base ? [1] : [])];
  const shares = items.map((active) => depthShares(active, bases, alpha, denominator, eps));
  const add = (item: number, values: Values, weight: Float64Array) => {
    const share = Float64Array.from(shares, (ofSet) => ofSet[item]!);
    for (let i = 0; i < weight.length; i++) {
      const w = share[set[i]!]!;
      // Absent values are NaN, also times 0.
      if (w === 0) continue;
      weight[i] = w;
      advantage[i] = advantage[i]! + w * values[i]!;
    }
  };
  for (const { k, comparison } of levels) add(k, comparison.advantage, weights[k]!);
  if (base) add(levels.length, base, baseWeight!);
}

/**
 * [items] w / (Σ w + ε) with w = base^α. Powers are taken relative to the largest base of the sum, so no α overflows:
 * a huge one leaves the deepest level in L.
 */
function depthShares(
  active: readonly number[],
  bases: readonly number[],
  alpha: number,
  denominator: Settings['denominator'],
  eps: number,
): Float64Array {
  const shares = new Float64Array(bases.length);
  const summed = denominator === 'all' ? bases : active.map((item) => bases[item]!);
  const largest = Math.max(...summed);
  const weight = (base: number) => Math.pow(base / largest, alpha);
  const total = summed.reduce((sum, base) => sum + weight(base), 0) + eps * weight(1);
  for (const item of active) shares[item] = weight(bases[item]!) / total;
  return shares;
}

/** As by depth, with each group's own weight; levels that a row does not have have no variance, so `all` = present. */
function weighByPrecision(
  levels: readonly Level[],
  base: Float64Array | null,
  { set, items }: ActiveSets,
  { denominator, eps }: CombineSettings,
  { advantage, weights, baseWeight }: HgpoAdvantages,
): void {
  const precisionOf = ({ groups, precision }: Level, row: number) => precision![groups.group[row]!]!;
  for (let i = 0; i < advantage.length; i++) {
    const active = items[set[i]!]!;
    let total = eps;
    if (denominator === 'all') {
      for (const level of levels) if (!Number.isNaN(level.comparison.advantage[i]!)) total += precisionOf(level, i);
      if (base) total += 1;
    } else for (const item of active) total += item < levels.length ? precisionOf(levels[item]!, i) : 1;
    for (const item of active) {
      const level = levels[item];
      const share = (level ? precisionOf(level, i) : 1) / total;
      (level ? weights[item]! : baseWeight!)[i] = share;
      advantage[i] = advantage[i]! + share * (level ? level.comparison.advantage : base!)[i]!;
    }
  }
}
