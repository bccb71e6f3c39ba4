import type { RolloutBatch } from '../rollouts/batch.ts';
import { grouping, taskGroups } from './groups.ts';
import {
  deviation,
  divisor,
  groupMean,
  groupStatistics,
  standardDeviation,
  type GroupStatistics,
} from './statistics.ts';
import type { Settings } from './settings.ts';

/** The columns that comparisons of whole trajectories read. */
export type TrajectoryRows = Pick<
  RolloutBatch,
  'rowCount' | 'tasks' | 'task' | 'byStep' | 'rowStart' | 'trajectoryTask'
>;

/** What the trajectories of each task are compared with. */
export interface TaskBaseline {
  /** [tasks] numbers in the set behind mean and sd: rows with `crossSteps`, else trajectories */
  readonly count: Int32Array;
  /** [tasks] mean score; 0 where the set has a single value, whose score then passes through as it is */
  readonly mean: Float64Array;
  /** [tasks] sample standard deviation; 1 where the set has a single value */
  readonly sd: Float64Array;
}

export interface TrajectoryAdvantages {
  /** [rows] */
  readonly advantage: Float64Array;
  readonly baseline: TaskBaseline;
}

/**
 * GRPO (arXiv:2402.03300), and Dr.GRPO (arXiv:2503.20783) with `mode: 'mean_norm'`:
 *
 *     A_i = (S_i − m) / (sd + ε)    or, without scaling, S_i − m
 *
 * over the scores of the task: one for each row (`crossSteps`), or one for each trajectory, that of its first row.
 * A task with a single score has m = 0 and sd = 1. O(rows).
 *
 * @param score [rows] S
 */
export function grpoAdvantages(
  rows: TrajectoryRows,
  score: Float64Array,
  { mode, crossSteps, eps }: Pick<Settings, 'mode' | 'crossSteps' | 'eps'>,
): TrajectoryAdvantages {
  const statistics = scoreStatistics(rows, score, crossSteps);
  const baseline = taskBaseline(statistics);
  const advantage = new Float64Array(rows.rowCount);
  for (let i = 0; i < advantage.length; i++) {
    const task = rows.task[i]!;
    const lone = baseline.count[task] === 1;
    const difference = lone ? score[i]! : deviation(statistics, task, score[i]!);
    advantage[i] = difference / divisor(mode, baseline.sd[task]!, eps);
  }
  return { advantage, baseline };
}

/** Statistics of the scores of each task. */
export function scoreStatistics(rows: TrajectoryRows, score: Float64Array, crossSteps: boolean): GroupStatistics {
  if (crossSteps) return groupStatistics(score, taskGroups(rows));
  const first = Float64Array.from(rows.trajectoryTask, (_, t) => score[rows.byStep[rows.rowStart[t]!]!]!);
  return groupStatistics(first, grouping(rows.trajectoryTask, rows.tasks.size));
}

export function taskBaseline(statistics: GroupStatistics): TaskBaseline {
  const { count } = statistics;
  return {
    count,
    mean: Float64Array.from(count, (n, task) => (n === 1 ? 0 : groupMean(statistics, task))),
    sd: Float64Array.from(count, (n, task) => (n === 1 ? 1 : standardDeviation(statistics, task, 1))),
  };
}
