import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EstimatorWorkspace, estimate } from '../../estimators/estimate.ts';
import { resolveSettings, type OptionValues } from '../../estimators/settings.ts';
import { randomStream } from '../../random/stream.ts';
import { rolloutBatch, StringTable, trajectoryOrder, type RolloutBatch } from '../../rollouts/batch.ts';
import { projectRoot } from '../project-root.ts';
import type { Workload } from './workload.ts';

const hgpo = (options: Partial<OptionValues>) =>
  resolveSettings({ method: 'hgpo', preset: 'reference', options: { invalidPenalty: 0, ...options } });

/** Returns, groups and advantages of a batch, nothing remembered. */
const everything = (id: string, batch: () => RolloutBatch, options: Partial<OptionValues>): Workload => ({
  id,
  unit: 'ms',
  better: 'lower',
  prepare: () => {
    const rows = batch();
    const settings = hgpo(options);
    return { run: () => void estimate(rows, settings) };
  },
});

export const workloads = (): Workload[] => [
  {
    ...everything('estimators.hgpo.k2', largeFixture, { K: 2 }),
    peer: {
      name: 'verl-agent recipe/hgpo, returns and HGPO in Python, one thread, the same 6,400 steps; recorded once on another machine',
      value: 515,
    },
  },
  everything('estimators.hgpo.k4', largeFixture, { K: 4 }),
  {
    id: 'estimators.hgpo.alpha',
    unit: 'ms',
    better: 'lower',
    prepare: () => {
      const rows = largeFixture();
      const workspace = new EstimatorWorkspace(rows);
      const settings = [0.5, 1, 1.5, 2].map((alpha) => hgpo({ K: 2, alpha }));
      let turn = 0;
      return { run: () => void estimate(rows, settings[turn++ % settings.length]!, workspace) };
    },
  },
  everything('estimators.million', millionSteps, { K: 4 }),
];

/** The golden batch of 16 tasks × 8 trajectories × 50 steps. */
function largeFixture(): RolloutBatch {
  const file = join(projectRoot(), 'src/testing/fixtures/advantages/large.json');
  const { nRows, tables, columns } = JSON.parse(readFileSync(file, 'utf8')) as {
    nRows: number;
    tables: Record<'uid' | 'traj' | 'obs', string[]>;
    columns: Record<'uid' | 'traj' | 'obs' | 'step' | 'reward', number[]>;
  };
  return rolloutBatch(
    Array.from({ length: nRows }, (_, i) => ({
      task: tables.uid[columns.uid[i]!]!,
      trajectory: tables.traj[columns.traj[i]!]!,
      observation: tables.obs[columns.obs[i]!]!,
      action: '',
      step: columns.step[i]!,
      reward: columns.reward[i]!,
      valid: true,
    })),
  );
}

/** 2,500 tasks × 8 trajectories × 50 steps of a random walk over 40 observations. */
function millionSteps(): RolloutBatch {
  const [taskCount, perTask, length, places] = [2500, 8, 50, 40];
  const stream = randomStream(1, 'bench', 'million steps');
  const trajectoryCount = taskCount * perTask;
  const rowCount = trajectoryCount * length;
  const table = (size: number) => new StringTable(Array.from({ length: size }, (_, i) => String(i)));
  const trajectories = table(trajectoryCount);
  const trajectory = Int32Array.from({ length: rowCount }, (_, i) => Math.floor(i / length));
  const task = trajectory.map((t) => Math.floor(t / perTask));
  const step = Int32Array.from({ length: rowCount }, (_, i) => i % length);
  const observation = new Int32Array(rowCount);
  const reward = new Float64Array(rowCount);
  for (let i = 0; i < rowCount; i++) {
    const before = step[i] === 0 ? 0 : observation[i - 1]!;
    observation[i] = (before + stream.below(3)) % places;
    reward[i] = step[i] === length - 1 && stream.below(2) === 1 ? 10 : 0;
  }
  return {
    ...rolloutBatch([]),
    rowCount,
    tasks: table(taskCount),
    trajectories,
    observations: table(places),
    actions: table(1),
    task,
    trajectory,
    observation,
    action: new Int32Array(rowCount),
    step,
    reward,
    valid: new Uint8Array(rowCount).fill(1),
    ...trajectoryOrder(task, trajectory, step, trajectories),
  };
}
