import { beforeAll, describe, expect, test } from 'vitest';
import { RoomsEnvironment } from '../../environments/rooms/environment.ts';
import { exampleRoom } from '../../environments/rooms/example-rooms.ts';
import { estimate } from '../../estimators/estimate.ts';
import { resolveSettings } from '../../estimators/settings.ts';
import { alphaMoments, figuresAt } from './alpha-moments.ts';
import { improvedTable } from './checks.ts';
import { combineLevels, EstimateColumns, levelColumn } from './columns.ts';
import { estimateParts } from './figures.ts';
import { measure } from './measures.ts';
import { propositionOnTrial } from './proposition.ts';
import { drawProbes, PinnedRecorder, RecurringRecorder } from './recorder.ts';
import type { LabSample } from './sample.ts';
import { LabSimulator } from './simulation.ts';
import { labTask } from './task.ts';

const K = 2;
let pinned: LabSample;
let recurring: LabSample;
let recorder: RecurringRecorder;

beforeAll(() => {
  const tasks = ['S7', 'S1'].map((room) => {
    const environment = new RoomsEnvironment();
    environment.resetToRoom(exampleRoom(room), { stepLimit: 12 });
    return labTask(environment, improvedTable(environment, 1, 1), { memory: 1, gamma: 0.95, penalty: 0.1 });
  });
  const simulator = new LabSimulator(tasks);
  const columns = new EstimateColumns({ request: {}, deepest: K, methods: [], parts: true });
  const probes = new PinnedRecorder(simulator, columns, drawProbes(simulator, 6, 1), { groupSize: 6, seed: 1 });
  recorder = new RecurringRecorder(simulator, columns, { groupSize: 6, seed: 1 });
  for (let r = 0; r < 24; r++) {
    probes.advance();
    recorder.advance();
  }
  pinned = probes.sample();
  recurring = recorder.sample();
});

const levelsOf = (sample: LabSample, mode: 'mean_norm' | 'mean_std_norm') =>
  Array.from({ length: K + 1 }, (_, k) => sample.columns.get(levelColumn(k, mode))!);

describe('the sum over recorded levels', () => {
  test.each([0, 1, 2.5])('is the estimator’s own advantage at α = %d', (alpha) => {
    const { batch } = recorder.rollouts(0);
    for (const skipZero of [true, false]) {
      const settings = resolveSettings({ method: 'hgpo', options: { K, alpha, skipZero } });
      const first = combineLevels(levelsOf(recurring, 'mean_std_norm'), settings).subarray(0, batch.rowCount);
      expect(first).toEqual(estimate(batch, settings).advantage);
    }
  });
});

describe('moments', () => {
  test.each(['pinned', 'recurring'] as const)('tell every figure at any α without the rows, %s keys', (keys) => {
    const sample = keys === 'pinned' ? pinned : recurring;
    for (const mode of ['mean_norm', 'mean_std_norm'] as const) {
      for (const skipZero of [true, false]) {
        const moments = alphaMoments(sample, { K, mode, target: 'state', skipZero, blocks: sample.batchCount });
        for (const alpha of [0, 0.7, 1, 3]) {
          const settings = resolveSettings({ method: 'hgpo', options: { K, alpha, skipZero, mode } });
          const direct = measure(sample, combineLevels(levelsOf(sample, mode), settings), {
            target: 'state',
            over: 'batches',
          });
          const figures = figuresAt(moments, settings);
          for (const name of ['rmsBias', 'meanSquareBias', 'signedBias', 'variance', 'mse'] as const) {
            for (const end of ['value', 'low', 'high'] as const) {
              expect(figures[name][end]).toBeCloseTo(direct[name][end], 8);
            }
          }
        }
      }
    }
  });
});

describe('parts of an estimate', () => {
  test('add up to the bias, and self-inclusion pulls towards 0', () => {
    for (let k = 0; k <= K; k++) {
      const { baseline, ownTrajectory, selfInclusion, absent, total } = estimateParts(pinned, k);
      const sum = [baseline, ownTrajectory, selfInclusion, absent].reduce((s, { signed }) => s + signed.value, 0);
      expect(sum).toBeCloseTo(total.signed.value, 10);
      expect(selfInclusion.rms.value).toBeGreaterThan(0);
    }
  });
});

describe('Proposition 4.1', () => {
  test('variance follows from the measured covariance, not from independence', () => {
    const trial = propositionOnTrial(pinned, K, resolveSettings({ method: 'hgpo', options: { K, alpha: 1 } }));
    // The denominator has ε = 1e-6 in it.
    expect(trial.covarianceVariance).toBeCloseTo(trial.variance.value, 4);
    expect(trial.independentVariance).toBeLessThan(trial.covarianceVariance);
    for (let k = 0; k <= K; k++) expect(trial.correlation[k]![k]).toBeCloseTo(1, 10);
    expect(trial.sentences.join(' ')).toContain('not independent');
  });
});
