import { scoreStatistics, taskBaseline, type TrajectoryAdvantages, type TrajectoryRows } from './grpo.ts';
import { deviation } from './statistics.ts';
import type { Settings } from './settings.ts';

/**
 * RLOO (arXiv:2402.14740): each score less the mean of the others of its task,
 *
 *     A_i = n / (n − 1) · (S_i − m)
 *
 * where n counts rows (`crossSteps`: the other rows of the same trajectory then stay in the baseline) or trajectories.
 * A single score passes through as it is. O(rows).
 *
 * @param score [rows] S
 */
export function rlooAdvantages(
  rows: TrajectoryRows,
  score: Float64Array,
  { crossSteps }: Pick<Settings, 'crossSteps'>,
): TrajectoryAdvantages {
  const statistics = scoreStatistics(rows, score, crossSteps);
  const { count } = statistics;
  const advantage = new Float64Array(rows.rowCount);
  for (let i = 0; i < advantage.length; i++) {
    const task = rows.task[i]!;
    const n = count[task]!;
    advantage[i] = n === 1 ? score[i]! : (n / (n - 1)) * deviation(statistics, task, score[i]!);
  }
  return { advantage, baseline: taskBaseline(statistics) };
}
