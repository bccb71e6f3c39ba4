import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { IncompleteTrajectoryError, rolloutBatch, RolloutBatchBuilder, type RolloutRow } from './batch.ts';

const row = (trajectory: string, step: number, more: Partial<RolloutRow> = {}): RolloutRow => ({
  task: 'u',
  trajectory,
  step,
  observation: 'o',
  action: 'a',
  reward: 0,
  valid: true,
  ...more,
});

describe('a rollout batch', () => {
  it('gives the rows of each trajectory in step order, whatever order they came in', () => {
    fc.assert(
      fc.property(
        fc
          .array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 6 })
          .map((lengths) => lengths.flatMap((length, t) => Array.from({ length }, (_, step) => row(`t${t}`, step))))
          .chain((rows) => fc.shuffledSubarray(rows, { minLength: rows.length })),
        (rows) => {
          const batch = rolloutBatch(rows);
          for (let t = 0; t < batch.trajectories.size; t++) {
            const ordered = [...batch.byStep.subarray(batch.rowStart[t]!, batch.rowStart[t + 1]!)];
            expect(ordered.map((i) => rows[i]!.step)).toEqual(ordered.map((_, i) => i));
            expect(new Set(ordered.map((i) => rows[i]!.trajectory))).toEqual(new Set([batch.trajectories.values[t]]));
          }
        },
      ),
    );
  });

  it('has an optional column only if a row has it, with the missing mark elsewhere', () => {
    const without = rolloutBatch([row('t', 0)]);
    expect([without.prompt, without.logProb, without.success, without.tokenCount]).toEqual([null, null, null, null]);
    const some = rolloutBatch([
      row('t', 0),
      row('t', 1, { prompt: 'p', logProb: -1, success: false, tokenCount: 3 }),
      row('t', 2),
    ]);
    expect([...some.prompt!]).toEqual([-1, 0, -1]);
    expect([...some.logProb!]).toEqual([NaN, -1, NaN]);
    expect([...some.success!]).toEqual([2, 0, 2]);
    expect([...some.tokenCount!]).toEqual([1, 3, 1]);
    expect([...rolloutBatch([row('t', 0, { tokenCount: 1 })]).tokenCount!]).toEqual([1]);
  });

  it('of chosen rows equals the batch of these rows alone', () => {
    const rows = Array.from({ length: 3000 }, (_, i) =>
      row(`t${i >> 2}`, i & 3, {
        task: `u${i >> 5}`,
        observation: `o${(i * 7) % 11}`,
        reward: i,
        ...(i % 3 ? { value: i } : {}),
        ...(i % 5 ? { stateKey: `s${i % 7}` } : {}),
      }),
    );
    const builder = new RolloutBatchBuilder();
    for (const one of rows) builder.add(one);
    const chosen = Int32Array.from(rows.keys()).filter((i) => (i >> 2) % 3 === 1);
    expect(builder.build(chosen)).toEqual(rolloutBatch([...chosen].map((i) => rows[i]!)));
    expect(builder.build()).toEqual(rolloutBatch(rows));
    expect(builder.build(new Int32Array(0)).rowCount).toBe(0);
  });

  it.each([
    ['a missing step', [row('t', 0), row('t', 2)], 'step 2'],
    ['a step twice', [row('t', 0), row('t', 0)], 'step 0 twice'],
    ['two tasks', [row('t', 0), row('t', 1, { task: 'v' })], 'two tasks'],
  ])('is refused for %s', (_, rows, sentence) => {
    expect(() => rolloutBatch(rows)).toThrow(IncompleteTrajectoryError);
    expect(() => rolloutBatch(rows)).toThrow(sentence);
  });
});
