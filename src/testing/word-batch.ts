import { rolloutBatch, type RolloutBatch } from '../rollouts/batch.ts';

/** Trajectories of one task, each a word of one-letter states. */
export function wordBatch(...words: readonly string[]): RolloutBatch {
  return rolloutBatch(
    words.flatMap((word, trajectory) =>
      [...word].map((observation, step) => ({
        task: 'task',
        trajectory: `t${trajectory}`,
        step,
        observation,
        action: '',
        reward: 0,
        valid: true,
      })),
    ),
  );
}
