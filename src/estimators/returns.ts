import type { RolloutBatch } from '../rollouts/batch.ts';

/** The columns of a batch that returns are computed from. */
export type RewardRows = Pick<RolloutBatch, 'rowCount' | 'trajectory' | 'reward' | 'valid' | 'byStep' | 'rowStart'>;

/**
 * Discounted rewards-to-go, backward inside each trajectory:
 *
 *     R_i = r_i + γ · R_next(i),   0 after the last row
 *
 * Nothing is bootstrapped where the step limit cut an episode off.
 *
 * @returns [rows] R
 */
export function discountedReturns(rows: RewardRows, gamma: number): Float64Array {
  const { byStep, rowStart, reward } = rows;
  const returns = new Float64Array(rows.rowCount);
  for (let t = 0; t + 1 < rowStart.length; t++) {
    let next = 0;
    for (let j = rowStart[t + 1]! - 1; j >= rowStart[t]!; j--) {
      const row = byStep[j]!;
      next = reward[row]! + gamma * next;
      returns[row] = next;
    }
  }
  return returns;
}

/**
 * Undiscounted episode rewards `E_τ = Σ r_i`, summed in step order.
 *
 * @returns [trajectories] E
 */
export function episodeRewards(rows: RewardRows): Float64Array {
  const { byStep, rowStart, reward } = rows;
  const episode = new Float64Array(rowStart.length - 1);
  for (let t = 0; t < episode.length; t++) {
    let sum = 0;
    for (let j = rowStart[t]!; j < rowStart[t + 1]!; j++) sum += reward[byStep[j]!]!;
    episode[t] = sum;
  }
  return episode;
}

/**
 * Takes the invalid-action penalty from the rows whose reply was not valid. It is charged once, after discounting, so it
 * touches no other row of the trajectory:
 *
 *     x_i − c · (1 − v_i)
 *
 * @param values [rows], changed in place: returns become Q, scores become S
 */
export function chargeInvalid(values: Float64Array, valid: Uint8Array, penalty: number): Float64Array {
  if (penalty !== 0) for (let i = 0; i < values.length; i++) if (valid[i] === 0) values[i] = values[i]! - penalty;
  return values;
}

/** What every estimator starts from. */
export interface Returns {
  /** [rows] Q: discounted reward-to-go, less the row's own penalty */
  readonly returns: Float64Array;
  /** [rows] S: episode reward, less the row's own penalty */
  readonly score: Float64Array;
  /** [trajectories] E: episode reward without any penalty */
  readonly episodeReward: Float64Array;
}

/** Returns, scores and episode rewards of a batch. */
export function returnsAndScores(rows: RewardRows, gamma: number, invalidPenalty: number): Returns {
  const episodeReward = episodeRewards(rows);
  const score = new Float64Array(rows.rowCount);
  for (let i = 0; i < score.length; i++) score[i] = episodeReward[rows.trajectory[i]!]!;
  return {
    returns: chargeInvalid(discountedReturns(rows, gamma), rows.valid, invalidPenalty),
    score: chargeInvalid(score, rows.valid, invalidPenalty),
    episodeReward,
  };
}
