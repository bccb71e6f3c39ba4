import fc from 'fast-check';
import { rolloutBatch, type RolloutBatch, type RolloutRow } from '../rollouts/batch.ts';

/**
 * Random rollouts for property tests: up to three tasks, five trajectories each, eight steps, few observations (so that
 * groups form, within trajectories too), rewards that tie often.
 */
export const arbitraryRows = (
  reward: fc.Arbitrary<number> = fc.constantFrom(0, 0, 0, 0, 1, 10, -0.1, 0.3),
): fc.Arbitrary<RolloutRow[]> => {
  const step = fc.record({
    observation: fc.constantFrom('kitchen', 'hall', 'fridge', ''),
    action: fc.constantFrom('go', 'open'),
    reward,
    valid: fc.boolean(),
    value: fc.integer({ min: -2, max: 10 }),
  });
  const trajectory = fc.array(step, { minLength: 1, maxLength: 8 });
  const task = fc.array(trajectory, { minLength: 1, maxLength: 5 });
  return fc
    .array(task, { minLength: 1, maxLength: 3 })
    .map((tasks) =>
      tasks.flatMap((trajectories, u) =>
        trajectories.flatMap((steps, t) =>
          steps.map((row, i) => ({ task: `task ${u}`, trajectory: `${u}-${t}`, step: i, ...row })),
        ),
      ),
    );
};

/** The same rows in a random order across and inside trajectories, and where each of them was before. */
export const arbitraryOrder = (rows: readonly RolloutRow[]): fc.Arbitrary<number[]> =>
  fc.shuffledSubarray(
    rows.map((_, i) => i),
    { minLength: rows.length, maxLength: rows.length },
  );

/** One trajectory in short: `trajectory('t', 'a', ['kitchen', 'hall'], 10)` earns 10 in its last step. */
export function trajectory(
  task: string,
  name: string,
  observations: readonly string[],
  lastReward: number,
): RolloutRow[] {
  return observations.map((observation, step) => ({
    task,
    trajectory: name,
    step,
    observation,
    action: 'go',
    reward: step === observations.length - 1 ? lastReward : 0,
    valid: true,
  }));
}

export const batchOf = (...trajectories: readonly RolloutRow[][]): RolloutBatch => rolloutBatch(trajectories.flat());
