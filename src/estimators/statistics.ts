import type { RolloutBatch } from '../rollouts/batch.ts';
import type { Grouping } from './groups.ts';
import { PairNumbers } from './pair-numbers.ts';
import type { Settings } from './settings.ts';

/**
 * Group means, deviations and standard deviations, without made-up advantages. A plain mean of equal numbers can be off
 * by one unit in the last place while their standard deviation is exactly 0, and (x − m) / (0 + ε) then is a large
 * advantage out of nothing. Therefore
 *
 * 1. values are shifted by the first member: d = x − x_first, deviation = d − mean(d); equal members give exactly 0;
 * 2. a deviation of at most 1e-6 · max(1, max|x|) is 0;
 * 3. a group with max − min of at most that has standard deviation 0;
 * 4. a standard deviation of 0 divides by 1, not by ε.
 *
 * Values in a Float32Array are computed in float32 throughout, each operation rounded, as a shader does.
 */
export type Values = Float64Array | Float32Array;

/** Relative size under which a difference inside a group is rounding. */
const TOLERANCE = 1e-6;

export interface GroupStatistics {
  /** [shared groups] values counted; 0 = empty */
  readonly count: Int32Array;
  /** [shared groups] the first value */
  readonly first: Values;
  /** [shared groups] mean of x − first */
  readonly shift: Values;
  /** [shared groups] Σ (x − mean)²; exactly 0 in a constant group */
  readonly squares: Values;
  /** [shared groups] the largest deviation that counts as 0 */
  readonly tolerance: Values;
}

const exactly = (x: number): number => x;
const roundingOf = (values: Values) => (values instanceof Float32Array ? Math.fround : exactly);
const like = (values: Values, length: number): Values =>
  values instanceof Float32Array ? new Float32Array(length) : new Float64Array(length);

/**
 * Statistics of the values of each group, in one fixed order (rows ascending), O(values).
 *
 * @param values [n]
 * @param groups of the n values
 * @param member [n] 1 = the value counts; all count where null
 */
export function groupStatistics(
  values: Values,
  { group, shared }: Grouping,
  member: Uint8Array | null = null,
): GroupStatistics {
  const round = roundingOf(values);
  const count = new Int32Array(shared);
  const first = like(values, shared);
  const low = like(values, shared);
  const high = like(values, shared);
  const shift = like(values, shared);
  const squares = like(values, shared);
  const tolerance = like(values, shared);
  for (let i = 0; i < values.length; i++) {
    const g = group[i]!;
    if (g < 0 || g >= shared || (member !== null && member[i] === 0)) continue;
    const x = values[i]!;
    if (count[g]!++ === 0) {
      first[g] = x;
      low[g] = x;
      high[g] = x;
    } else {
      shift[g] = shift[g]! + round(x - first[g]!);
      if (x < low[g]!) low[g] = x;
      else if (x > high[g]!) high[g] = x;
    }
  }
  for (let g = 0; g < shared; g++) {
    if (count[g]! > 1) shift[g] = shift[g]! / count[g]!;
    tolerance[g] = TOLERANCE * Math.max(1, Math.abs(low[g]!), Math.abs(high[g]!));
  }
  for (let i = 0; i < values.length; i++) {
    const g = group[i]!;
    if (g < 0 || g >= shared || (member !== null && member[i] === 0)) continue;
    const d = round(round(values[i]! - first[g]!) - shift[g]!);
    squares[g] = squares[g]! + round(d * d);
  }
  for (let g = 0; g < shared; g++) if (high[g]! - low[g]! <= tolerance[g]!) squares[g] = 0;
  return { count, first, shift, squares, tolerance };
}

/** Mean of a group. */
export function groupMean(statistics: GroupStatistics, group: number): number {
  return statistics.first[group]! + statistics.shift[group]!;
}

/**
 * Standard deviation of a group: population (`freedom` 0, divides by n) or sample (`freedom` 1, divides by n − 1).
 * 0 for constant groups and where n ≤ freedom.
 */
export function standardDeviation(statistics: GroupStatistics, group: number, freedom: 0 | 1): number {
  const n = statistics.count[group]! - freedom;
  return n > 0 ? Math.sqrt(statistics.squares[group]! / n) : 0;
}

/** x less the mean of the group; exactly 0 within rounding. */
export function deviation(statistics: GroupStatistics, group: number, x: number): number {
  const round = roundingOf(statistics.first);
  const d = round(round(x - statistics.first[group]!) - statistics.shift[group]!);
  return Math.abs(d) <= statistics.tolerance[group]! ? 0 : d;
}

/** The number that a deviation is divided by: sd + ε, or 1 where the sd is 0 or the mode does not scale. */
export function divisor(mode: Settings['mode'], sd: number, eps: number): number {
  return mode === 'mean_norm' || sd === 0 ? 1 : sd + eps;
}

/** How a row is compared with its group. */
export interface Comparison {
  readonly mode: Settings['mode'];
  readonly eps: number;
  /** Divisor of the variance: n − freedom. */
  readonly freedom: 0 | 1;
  readonly leaveOut: Settings['leaveOut'];
  readonly visits: Settings['visits'];
  /** [shared groups] standard deviations to divide by instead of the group's own */
  readonly sd?: Float64Array;
}

export interface GroupComparison {
  /** [rows] normalised deviation; NaN where the row has no group or nobody to be compared with */
  readonly advantage: Values;
  /** [shared groups] standard deviation that deviations are divided by, before ε */
  readonly sd: Float64Array;
}

/**
 * Compares each row with its group:
 *
 *     a_i = (x_i − mean) / (sd + ε)    or without the division (`mean_norm`)
 *
 * `visits: 'first'` counts only the first visit of each trajectory to a group in mean and sd; later visits are compared
 * with those. `leaveOut` takes the row itself, or all members of its trajectory, out of the mean (not out of the sd,
 * which would be erratic in small groups); a row has no comparison when nobody remains.
 *
 * @param rows whose `trajectory`, `byStep` say what a visit is
 * @param values [rows]
 */
export function compareInGroups(
  rows: Pick<RolloutBatch, 'trajectory' | 'byStep'>,
  values: Values,
  groups: Grouping,
  comparison: Comparison,
): GroupComparison & { readonly statistics: GroupStatistics } {
  const { group, shared } = groups;
  const { mode, eps, freedom, leaveOut, visits } = comparison;
  const member = visits === 'first' ? firstVisits(rows, group) : null;
  const statistics = groupStatistics(values, groups, member);
  const { count, first, shift, tolerance } = statistics;
  const round = roundingOf(values);

  const sd = comparison.sd ?? new Float64Array(shared);
  const scale = like(values, shared);
  for (let g = 0; g < shared; g++) {
    if (!comparison.sd) sd[g] = round(standardDeviation(statistics, g, freedom));
    scale[g] = divisor(mode, sd[g]!, eps);
  }
  const own = leaveOut === 'trajectory' ? ownTrajectory(rows, values, group, member, statistics) : null;

  const advantage = like(values, values.length);
  for (let i = 0; i < values.length; i++) {
    const g = group[i]!;
    if (g < 0 || g >= shared) {
      advantage[i] = NaN;
      continue;
    }
    const n = count[g]!;
    let d = round(round(values[i]! - first[g]!) - shift[g]!);
    let others = n - 1;
    if (leaveOut === 'row') {
      if (member === null || member[i] === 1) d *= n / Math.max(1, n - 1);
      else others = n;
    } else if (own !== null) {
      others = n - own.count[i]!;
      d = values[i]! - first[g]! - (n * shift[g]! - own.sum[i]!) / Math.max(1, others);
    }
    if (others < 1) advantage[i] = NaN;
    else advantage[i] = Math.abs(d) <= tolerance[g]! ? 0 : d / scale[g]!;
  }
  return { advantage, statistics, sd };
}

/** [rows] 1 where a trajectory is in a group for the first time */
export function firstVisits(rows: Pick<RolloutBatch, 'trajectory' | 'byStep'>, group: Int32Array): Uint8Array {
  const seen = new PairNumbers(group.length);
  const first = new Uint8Array(group.length);
  for (const row of rows.byStep) {
    const before = seen.size;
    if (group[row]! >= 0 && seen.number(group[row]!, rows.trajectory[row]!) === before) first[row] = 1;
  }
  return first;
}

/** For each row, how many members of its group are of its own trajectory, and the sum of their x − first. */
function ownTrajectory(
  rows: Pick<RolloutBatch, 'trajectory'>,
  values: Values,
  group: Int32Array,
  member: Uint8Array | null,
  { first }: GroupStatistics,
): { count: Int32Array; sum: Float64Array } {
  const pairs = new PairNumbers(group.length);
  const part = new Int32Array(group.length).fill(-1);
  const partCount = new Int32Array(group.length);
  const partSum = new Float64Array(group.length);
  for (let i = 0; i < group.length; i++) {
    const g = group[i]!;
    if (g < 0) continue;
    const p = pairs.number(g, rows.trajectory[i]!);
    part[i] = p;
    if (member !== null && member[i] === 0) continue;
    partCount[p]!++;
    partSum[p] = partSum[p]! + (values[i]! - first[g]!);
  }
  const count = new Int32Array(group.length);
  const sum = new Float64Array(group.length);
  for (let i = 0; i < group.length; i++) {
    if (part[i]! < 0) continue;
    count[i] = partCount[part[i]!]!;
    sum[i] = partSum[part[i]!]!;
  }
  return { count, sum };
}
