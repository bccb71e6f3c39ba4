import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { rolloutBatch } from '../rollouts/batch.ts';
import { arbitraryRows, batchOf, trajectory } from '../testing/rollout-batches.ts';
import { EstimatorWorkspace, estimate } from './estimate.ts';
import { explainRow } from './explain.ts';
import { generalisedAdvantages, whiten } from './gae.ts';
import { methodNames, methods } from './registry.ts';
import { resolveSettings } from './settings.ts';

const near = (x: number) => expect.closeTo(x, 9) as number;
const advantages = (rows: Parameters<typeof rolloutBatch>[0], method: string, options = {}) =>
  Array.from(estimate(rolloutBatch(rows), resolveSettings({ method, options })).advantage);

describe('returns and scores', () => {
  test('the penalty for an invalid action touches its own row alone', () => {
    const rows = trajectory('t', 'a', ['hall', 'kitchen', 'fridge'], 8).map((row, i) => ({ ...row, valid: i !== 1 }));
    const { returns, score, episodeReward } = estimate(
      rolloutBatch(rows),
      resolveSettings({ method: 'hgpo', options: { gamma: 0.5, invalidPenalty: 0.1 } }),
    );
    expect(Array.from(returns)).toEqual([2, 4 - 0.1, 8]);
    expect(Array.from(score)).toEqual([8, 8 - 0.1, 8]);
    expect(Array.from(episodeReward)).toEqual([8]);
  });
});

describe('comparisons of whole trajectories', () => {
  const long = trajectory('t', 'long', ['hall', 'hall', 'hall'], 0);
  const short = trajectory('t', 'short', ['hall'], 8);

  test('GRPO counts each trajectory once under paper, each step under reference', () => {
    expect(advantages([...long, ...short], 'grpo', { mode: 'mean_norm' })).toEqual([-4, -4, -4, 4]);
    expect(advantages([...long, ...short], 'grpo', { mode: 'mean_norm', crossSteps: true })).toEqual([-2, -2, -2, 6]);
  });

  test('RLOO is the score less the mean of the others', () => {
    const more = trajectory('t', 'more', ['hall'], 4);
    expect(advantages([...long, ...short, ...more], 'rloo')).toEqual([-6, -6, -6, 6, 0].map(near));
  });

  test('a lone trajectory passes its score through', () => {
    expect(advantages(short, 'grpo')).toEqual([near(8 / (1 + 1e-6))]);
    expect(advantages(short, 'rloo')).toEqual([8]);
  });

  test('a penalised step of an otherwise constant group is charged the penalty, not the penalty over ε', () => {
    const twins = [...trajectory('t', 'a', ['x', 'y'], 8), ...trajectory('t', 'b', ['x', 'y'], 8)];
    const invalid = twins.map((row, i) => ({ ...row, valid: i !== 1 }));
    expect(advantages(invalid, 'grpo')).toEqual([0, near(-0.1), 0, 0]);
  });

  test('DAPO and GSPO have GRPO’s advantages, Dr.GRPO those without scaling', () => {
    fc.assert(
      fc.property(arbitraryRows(), (rows) => {
        expect(advantages(rows, 'dapo')).toEqual(advantages(rows, 'grpo'));
        expect(advantages(rows, 'gspo')).toEqual(advantages(rows, 'grpo'));
        expect(advantages(rows, 'drgrpo')).toEqual(advantages(rows, 'grpo', { mode: 'mean_norm' }));
      }),
    );
  });

  test('DAPO leaves tasks that all earned the same out of the loss, penalties or not', () => {
    const dull = [...trajectory('dull', 'a', ['x'], 8), ...trajectory('dull', 'b', ['x'], 8)].map((row, i) => ({
      ...row,
      valid: i === 0,
    }));
    const batch = batchOf([...dull, ...long, ...short]);
    const { inLoss, notices } = estimate(batch, resolveSettings({ method: 'dapo' }));
    expect(Array.from(inLoss)).toEqual([0, 0, 1, 1, 1, 1]);
    expect(notices.join()).toContain('1 of 2 tasks');
  });
});

describe('GiGPO', () => {
  const rows = [...trajectory('t', 'a', ['hall', 'kitchen'], 8), ...trajectory('t', 'b', ['hall', 'fridge'], 0)];

  test('adds the comparison at equal observations to that of whole trajectories', () => {
    const options = { mode: 'mean_norm', gamma: 0.5 };
    expect(advantages(rows, 'gigpo', options)).toEqual([4 + 2, 4, -4 - 2, -4]);
    expect(advantages(rows, 'gigpo', { ...options, omega: 0 })).toEqual([4, 4, -4, -4]);
    expect(advantages(rows, 'gigpo', { ...options, episodeWeight: 0 })).toEqual([2, 0, -2, 0]);
  });

  test('groups similar observations when asked to', () => {
    const hallway = trajectory('t', 'c', ['hallway'], 4);
    const sizes = (similarity: number | null, similarityMeasure = 'sequence-ratio') =>
      Array.from(
        estimate(
          rolloutBatch([...rows, ...hallway]),
          resolveSettings({ method: 'gigpo', options: { similarity, similarityMeasure } }),
        ).levels[0]!.size,
      );
    expect(sizes(null)).toEqual([2, 1, 2, 1, 1]);
    expect(sizes(0.7)).toEqual([3, 1, 3, 1, 3]);
    expect(sizes(0.6, 'trigram-cosine')).toEqual([3, 1, 3, 1, 3]);
  });
});

describe('PPO', () => {
  test('without critic values counts them as 0 and says so', () => {
    const { advantage, notices } = estimate(
      batchOf(trajectory('t', 'a', ['x', 'y'], 8)),
      resolveSettings({ method: 'ppo', options: { gamma: 0.5 } }),
    );
    expect(notices).toHaveLength(1);
    // Raw 4 and 8, whitened with the sample variance.
    expect(Array.from(advantage)).toEqual([-Math.SQRT1_2, Math.SQRT1_2].map((x) => expect.closeTo(x, 6)));
  });

  test('with λ = 1 and an exact critic has nothing to add', () => {
    const rows = trajectory('t', 'a', ['x', 'y'], 8).map((row, i) => ({ ...row, value: [4, 8][i]! }));
    expect(advantages(rows, 'ppo', { gamma: 0.5 })).toEqual([0, 0]);
  });

  test('at token level puts the whole score on the last token of every step', () => {
    const rows = trajectory('t', 'a', ['x', 'y'], 8).map((row) => ({ ...row, tokenCount: 3, value: 1 }));
    const { detail } = estimate(rolloutBatch(rows), resolveSettings({ method: 'ppo', preset: 'reference' }));
    if (detail.kind !== 'ppo') throw new Error('PPO gives its own detail.');
    expect(Array.from(detail.tokens!.target)).toEqual([8, 8, 8, 8, 8, 8]);
    expect(Array.from(detail.raw)).toEqual([7, 7].map(near));
  });

  test('takes the values of a critic per token, of the right number only', () => {
    const batch = rolloutBatch(trajectory('t', 'a', ['x'], 8).map((row) => ({ ...row, tokenCount: 2 })));
    const settings = resolveSettings({ method: 'ppo', preset: 'reference' });
    const given = (tokenValues: Float64Array) =>
      estimate(batch, settings, new EstimatorWorkspace(batch, { tokenValues })).detail;
    expect(given(Float64Array.of(3, 5))).toMatchObject({ raw: Float64Array.of((5 + 3) / 2) });
    expect(() => given(Float64Array.of(3))).toThrow('2 tokens but 1');
  });

  test('fewer than two advantages are not whitened', () => {
    expect(whiten(Float64Array.of(5), null)).toMatchObject({ advantage: Float64Array.of(5), scale: 1 });
    expect(whiten(Float64Array.of(5, 7), Uint8Array.of(0, 0)).advantage).toEqual(Float64Array.of(5, 7));
  });

  test('λ = 0 is the one-step error and λ = 1 the return less the value', () => {
    const rewards = Float64Array.of(1, 2, 3);
    const values = Float64Array.of(0.5, 0.25, 4);
    const of = (lambda: number) =>
      Array.from(
        generalisedAdvantages({
          order: Int32Array.of(0, 1, 2),
          start: Int32Array.of(0, 3),
          values,
          rewards,
          mask: null,
          gamma: 0.5,
          lambda,
        }).advantage,
      );
    expect(of(0)).toEqual([1 + 0.125 - 0.5, 2 + 2 - 0.25, 3 - 4]);
    expect(of(1)).toEqual([1 + 1 + 0.75 - 0.5, 2 + 1.5 - 0.25, 3 - 4].map(near));
  });
});

describe('a workspace', () => {
  test('gives what a fresh computation gives, whatever was asked before', () => {
    const options = fc.record({
      K: fc.nat(3),
      alpha: fc.constantFrom(0, 1, 2),
      gamma: fc.constantFrom(0.5, 0.95),
      mode: fc.constantFrom('mean_std_norm', 'mean_norm'),
      invalidPenalty: fc.constantFrom(0, 0.1),
      shortContext: fc.constantFrom('prefix', 'skip'),
      leaveOut: fc.constantFrom('none', 'row', 'trajectory'),
      visits: fc.constantFrom('every', 'first'),
      weights: fc.constantFrom('power', 'inverse-variance'),
      similarity: fc.constantFrom(null, 0.3),
      theta: fc.constantFrom(0.1, 2),
      kappa: fc.constantFrom(1, 4),
      dynamicSampling: fc.constantFrom('off', 'tolerant'),
    });
    const requests = fc.array(fc.tuple(fc.constantFrom(...methodNames), options), { minLength: 2, maxLength: 6 });
    fc.assert(
      fc.property(arbitraryRows(), requests, (rows, asked) => {
        const batch = rolloutBatch(rows);
        const workspace = new EstimatorWorkspace(batch);
        for (const [method, chosen] of asked) {
          const settings = resolveSettings({ method, options: chosen });
          expect(estimate(batch, settings, workspace)).toEqual(estimate(batch, settings));
        }
      }),
    );
  });

  test('builds groups and returns once when only α, weights or normalisation change', () => {
    const batch = batchOf(trajectory('t', 'a', ['x', 'y', 'x'], 8), trajectory('t', 'b', ['x', 'y'], 0));
    const workspace = new EstimatorWorkspace(batch);
    const run = (options: Record<string, unknown>) =>
      estimate(batch, resolveSettings({ method: 'hgpo', options }), workspace);
    const first = run({});
    const other = run({ alpha: 3, weightOffset: 2 });
    expect(other.returns).toBe(first.returns);
    expect(other.levels.map((level) => level.advantage)).toEqual(first.levels.map((level) => level.advantage));
    other.levels.forEach((level, k) => expect(level.comparison).toBe(first.levels[k]!.comparison));
    const unscaled = run({ mode: 'mean_norm', weights: 'inverse-variance', gamma: 0.9 });
    unscaled.levels.forEach((level, k) => expect(level.groups).toBe(first.levels[k]!.groups));
  });

  test('of another batch is refused', () => {
    const [one, two] = [batchOf(), batchOf()];
    expect(() => estimate(one, resolveSettings({ method: 'grpo' }), new EstimatorWorkspace(two))).toThrow(
      'another batch',
    );
  });
});

describe('the explanation of a row', () => {
  test('sums to its advantage, and each comparison follows from its members', () => {
    const options = fc.record({
      mode: fc.constantFrom('mean_std_norm', 'mean_norm'),
      crossSteps: fc.boolean(),
      baseGroup: fc.boolean(),
      gate: fc.constantFrom('hard', 'soft'),
      episodeWeight: fc.constantFrom(0, 1),
      fusion: fc.constantFrom('inverse-variance', 'uniform', 'deepest'),
      variant: fc.constantFrom('full', 'oracle_only', 'oracle_else_step'),
      leaveOut: fc.constantFrom('none', 'row', 'trajectory'),
      visits: fc.constantFrom('every', 'first'),
    });
    fc.assert(
      fc.property(arbitraryRows(), fc.constantFrom(...methodNames), options, (rows, method, chosen) => {
        const batch = rolloutBatch(rows);
        const result = estimate(batch, resolveSettings({ method, options: chosen }));
        for (let row = 0; row < batch.rowCount; row++) {
          const { parts, advantage } = explainRow(batch, result, row);
          const counted = parts.filter((part) => part.weight !== 0 && !Number.isNaN(part.advantage));
          expect(advantage).toEqual(near(counted.reduce((sum, part) => sum + part.weight * part.advantage, 0)));
          for (const part of parts) {
            if (Number.isNaN(part.advantage)) continue;
            const numerator =
              part.kind === 'credit'
                ? part.reward - part.charge + part.gamma * part.nextPotential - part.potential
                : part.kind === 'critic'
                  ? part.raw - part.mean
                  : part.value - part.mean;
            // A difference within rounding counts as exactly 0.
            if (part.advantage !== 0) expect(part.advantage).toBeCloseTo(numerator / part.divisor, 6);
            else expect(Math.abs(numerator)).toBeLessThan(1e-5);
            if (part.kind === 'credit') {
              const fused = part.depths.reduce((sum, depth) => sum + depth.share * depth.mean, 0);
              expect(part.potential).toEqual(near(fused));
            }
          }
        }
      }),
    );
  });

  test('says why a level does not count', () => {
    const batch = batchOf(
      trajectory('t', 'a', ['hall', 'kitchen'], 8),
      trajectory('t', 'b', ['hall', 'kitchen'], 8),
      trajectory('t', 'c', ['fridge', 'kitchen'], 0),
    );
    const settings = resolveSettings({ method: 'hgpo', options: { shortContext: 'skip' } });
    const states = explainRow(batch, estimate(batch, settings), 1).parts.map((part) => part.state);
    expect(states).toEqual(['counts', 'zero', 'absent']);
    expect(explainRow(batch, estimate(batch, settings), 5).parts.map((part) => part.state)).toEqual([
      'counts',
      'alone',
      'absent',
    ]);
  });
});

test('every method has a name, a sentence, and options that exist', () => {
  const known = resolveSettings({ method: 'hgpo' });
  for (const id of methodNames) {
    const method = methods[id];
    expect(method.id).toBe(id);
    expect(method.sentence).toMatch(/^[A-Z].*\.$/);
    for (const option of method.options) expect(known).toHaveProperty(option);
    for (const { options } of method.ablations) resolveSettings({ method: id, options });
  }
  expect(methods.progpo.name).toBe('ProGPO (our reading)');
});
