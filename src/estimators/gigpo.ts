import type { RolloutBatch } from '../rollouts/batch.ts';
import { grpoAdvantages, type TrajectoryAdvantages, type TrajectoryRows } from './grpo.ts';
import type { Grouping } from './groups.ts';
import { compareInGroups, type GroupComparison } from './statistics.ts';
import type { Settings } from './settings.ts';

export interface GigpoAdvantages {
  /** [rows] */
  readonly advantage: Float64Array;
  /** A^E: the comparison of whole trajectories */
  readonly episode: TrajectoryAdvantages;
  /** A^S: the comparison at equal observations; NaN for a step without company, which then counts as 0 */
  readonly step: GroupComparison;
}

/**
 * GiGPO (arXiv:2505.10978):
 *
 *     A_i = episodeWeight · A^E_i + ω · A^S_i
 *
 * A^E is GRPO's advantage. A^S compares Q_i inside the rows of the task with the same observation (level 0 of the
 * hierarchy, sample standard deviation); every visit is a member. A lone row has A^S = 0. O(rows).
 *
 * @param states level 0 of the hierarchy of groups
 * @param returns [rows] Q
 * @param score [rows] S
 */
export function gigpoAdvantages(
  rows: TrajectoryRows & Pick<RolloutBatch, 'trajectory'>,
  states: Grouping,
  returns: Float64Array,
  score: Float64Array,
  settings: Pick<Settings, 'mode' | 'crossSteps' | 'eps' | 'omega' | 'episodeWeight' | 'leaveOut' | 'visits'>,
): GigpoAdvantages {
  const episode = grpoAdvantages(rows, score, settings);
  const { advantage: atStates, sd } = compareInGroups(rows, returns, states, { ...settings, freedom: 1 });
  const advantage = new Float64Array(rows.rowCount);
  for (let i = 0; i < advantage.length; i++) {
    const atState = atStates[i]!;
    advantage[i] =
      settings.episodeWeight * episode.advantage[i]! + (Number.isNaN(atState) ? 0 : settings.omega * atState);
  }
  return { advantage, episode, step: { advantage: atStates, sd } };
}
