import { describe, expect, test } from 'vitest';
import { rolloutBatch, type RolloutBatch } from '../rollouts/batch.ts';
import { projectFixture, readFixtures } from '../testing/fixtures.ts';
import { teaches, type SamplingRule } from './dynamic-sampling.ts';
import { EstimatorWorkspace, estimate, type Estimate } from './estimate.ts';
import { generalisedAdvantages, whiten } from './gae.ts';
import { gigpoAdvantages } from './gigpo.ts';
import { grpoAdvantages } from './grpo.ts';
import { contextGroups } from './groups.ts';
import { activeSets, compareLevels, hgpoAdvantages } from './hgpo.ts';
import { rlooAdvantages } from './rloo.ts';
import { resolveSettings, type Settings } from './settings.ts';

// Golden files: advantages of the public reference code and of exact arithmetic. Known by schema and content, never by
// file name or id, so that other files of the same schema can be run (FIXTURES_DIR).

/* eslint-disable @typescript-eslint/no-explicit-any -- golden files are read here alone, field by field */
type File = any;
type Case = any;
type Pipeline = any;

const isAdvantages = (data: File) => data.schema === 'hgpo-advantages/1';
const isGae = (data: File) => data.schema === 'hgpo-loss/1' && data.cases?.some((c: Case) => c.expected?.rawAdvantage);
const isSampling = (data: File) =>
  data.schema === 'hgpo-loss/1' && data.cases?.some((c: Case) => c.expected?.tolerantKeptGroups);

const files = readFixtures('advantages', (_, data) => isAdvantages(data) || isGae(data) || isSampling(data));

/** Fails with the worst of the values that lie outside `abs + rel · |expected|`, and how many do. */
function expectClose(
  actual: ArrayLike<number>,
  expected: readonly (number | null)[],
  abs: number,
  rel: number,
  what: string,
) {
  expect(actual.length, `${what}: values`).toBe(expected.length);
  let outside = 0;
  let worst = '';
  let worstBy = 0;
  expected.forEach((value, i) => {
    if (value === null ? Number.isNaN(actual[i]) : Math.abs(actual[i]! - value) <= abs + rel * Math.abs(value)) return;
    outside++;
    const by = value === null ? Infinity : Math.abs(actual[i]! - value);
    if (!(by <= worstBy)) {
      worstBy = by;
      worst = `row ${i}: ${actual[i]} instead of ${value}`;
    }
  });
  expect(outside, `${what}: ${outside} of ${expected.length} values differ; ${worst}`).toBe(0);
}

const isCopied = (file: File) => file.columns.copyOf?.some((source: number) => source >= 0);
const column = (file: File, name: 'uid' | 'traj' | 'obs' | 'action', row: number): string =>
  file.tables[name]?.[file.columns[name]?.[row]] ?? '';

function batchOf(file: File): RolloutBatch {
  return rolloutBatch(
    Array.from({ length: file.nRows }, (_, row) => ({
      task: column(file, 'uid', row),
      trajectory: column(file, 'traj', row),
      observation: column(file, 'obs', row),
      action: column(file, 'action', row),
      step: file.columns.step[row],
      reward: file.columns.reward[row],
      valid: file.columns.valid?.[row] !== 0,
      tokenCount: file.columns.ntok?.[row] ?? 1,
    })),
  );
}

const pipelineOf = (file: File, c: Case): Pipeline =>
  c.pipeline === undefined
    ? (file.pipelines.find((p: Pipeline) => p.gamma === c.params.gamma) ?? file.pipelines[0])
    : file.pipelines.find((p: Pipeline) => p.id === c.pipeline);

/** Settings of a case: what the README says of absent parameters is the preset `reference`, whatever the source. */
function settingsOf(method: string, pipeline: Pipeline, params: Record<string, unknown>): Settings {
  return resolveSettings({
    method,
    preset: 'reference',
    options: { gamma: pipeline.gamma, invalidPenalty: pipeline.invalidPenalty, ...params },
  });
}

/** By row, in the order of the file: what the reference gives, with its noisy rows replaced. */
function expectedOf(c: Case): number[] {
  const expected = [...c.expected];
  for (const [row, value] of c.noisy ?? []) expected[row] = value;
  return expected;
}

const workspaces = new Map<File, EstimatorWorkspace>();
function workspaceOf(file: File): EstimatorWorkspace {
  let workspace = workspaces.get(file);
  if (!workspace) {
    const similarity = file.similarity as number[][] | undefined;
    workspace = new EstimatorWorkspace(
      batchOf(file),
      similarity && {
        similarity: (a, b) => similarity[file.tables.obs.indexOf(a)]![file.tables.obs.indexOf(b)]!,
      },
    );
    workspaces.set(file, workspace);
  }
  return workspace;
}

const advantageFiles = files.filter(({ data }) => isAdvantages(data));
const cleanFiles = advantageFiles.filter(({ data }) => !isCopied(data));
const copiedFiles = advantageFiles.filter(({ data }) => isCopied(data));

describe.each(cleanFiles)('the golden file $file', ({ data: file }) => {
  const run = (method: string, pipeline: Pipeline, params: Record<string, unknown>): Estimate =>
    estimate(workspaceOf(file).batch, settingsOf(method, pipeline, params), workspaceOf(file));

  test.each(file.pipelines as Pipeline[])('gives the returns, scores and episode rewards of $id', (pipeline) => {
    const { batch } = workspaceOf(file);
    const { returns, score, episodeReward } = run('grpo', pipeline, {});
    const name = `${pipeline.id}`;
    if (pipeline.stepReturn) expectClose(returns, pipeline.stepReturn, 1e-6, 1e-6, `${name} stepReturn`);
    if (pipeline.episodeReward) {
      const byTable = Array.from({ length: file.tables.traj.length }, (_, t) => {
        const number = batch.trajectories.find(file.tables.traj[t]);
        return number < 0 ? pipeline.episodeReward[t] : episodeReward[number]!;
      });
      expectClose(byTable, pipeline.episodeReward, 1e-6, 1e-6, `${name} episodeReward`);
      const expectedScore =
        pipeline.score ?? Array.from(file.columns.traj as number[], (t) => pipeline.episodeReward[t]);
      expectClose(score, expectedScore, 1e-6, 1e-6, `${name} score`);
    }
  });

  test.each(file.cases as Case[])('gives the advantages of $id ($source)', (c) => {
    const result = run(c.estimator, pipelineOf(file, c), c.params);
    const [abs, rel] = c.estimator === 'progpo' ? [1e-6, 1e-6] : [1e-4, 1e-5];
    expectClose(result.advantage, expectedOf(c), abs, rel, c.id);
    if (c.exact) {
      const within = c.exact.map((value: number) => Math.max(1, Math.abs(value)));
      const scaled = result.advantage.map((value, i) => value / within[i]!);
      expectClose(
        scaled,
        c.exact.map((v: number, i: number) => v / within[i]!),
        1e-6,
        0,
        `${c.id} exact`,
      );
    }
    if (result.detail.kind === 'progpo') {
      const { peers, potential, credit } = result.detail;
      if (c.peerCount) expect(Array.from(peers.group, (g) => peers.size[g])).toEqual(c.peerCount);
      if (c.potential) expectClose(potential, c.potential, 1e-6, 1e-6, `${c.id} potential`);
      if (c.credit) expectClose(credit, c.credit, 1e-6, 1e-6, `${c.id} credit`);
    }
  });

  if (file.levels) {
    test.each(file.levels as File[])(
      'gives group sizes and advantages of each level, $pipeline K=$K $mode',
      (levels) => {
        const { pipeline, K, mode } = levels;
        const result = run('hgpo', pipelineOf(file, { pipeline }), { K, mode });
        result.levels.forEach(({ size, advantage }, k) => {
          expect(Array.from(size), `sizes of level ${k}`).toEqual(levels.groupSize[k]);
          expectClose(advantage, levels.levelAdvantage[k], 1e-6, 1e-6, `advantages of level ${k}`);
        });
      },
    );
  }
});

// Files with copied rows show a defect of a trainer: a batch refuses such rows, so the estimators get columns.
describe.each(copiedFiles)('the golden file with copied rows $file', ({ data: file }) => {
  const clean = { ...file, nRows: file.columns.copyOf.filter((source: number) => source < 0).length };
  const order = Array.from({ length: file.nRows }, (_, row) => row).sort(
    (a, b) => file.columns.traj[a] - file.columns.traj[b] || file.columns.step[a] - file.columns.step[b] || a - b,
  );
  const rowStart = new Int32Array(file.tables.traj.length + 1);
  for (const t of file.columns.traj) rowStart[t + 1]!++;
  for (let t = 0; t < file.tables.traj.length; t++) rowStart[t + 1]! += rowStart[t]!;
  const rows: RolloutBatch = {
    ...rolloutBatch([]),
    tasks: { size: file.tables.uid.length } as RolloutBatch['tasks'],
    rowCount: file.nRows,
    task: Int32Array.from(file.columns.uid),
    trajectory: Int32Array.from(file.columns.traj),
    observation: Int32Array.from(file.columns.obs),
    action: Int32Array.from(file.columns.action ?? file.columns.obs),
    byStep: Int32Array.from(order),
    rowStart,
    trajectoryTask: Int32Array.from(file.tables.traj, (_, t: number) => file.columns.uid[file.columns.traj.indexOf(t)]),
  };

  test('has copies behind the rows they copy', () => expect(clean.nRows).toBeLessThan(file.nRows));

  test.each(file.cases.filter((c: Case) => c.estimator !== 'hgpo') as Case[])('gives the advantages of $id', (c) => {
    const pipeline = pipelineOf(file, c);
    const settings = settingsOf(c.estimator, pipeline, c.params);
    const returns = Float64Array.from(pipeline.stepReturn);
    const score = Float64Array.from(pipeline.score ?? file.columns.traj.map((t: number) => pipeline.episodeReward[t]));
    const { advantage } =
      c.estimator === 'grpo'
        ? grpoAdvantages(rows, score, settings)
        : c.estimator === 'rloo'
          ? rlooAdvantages(rows, score, settings)
          : gigpoAdvantages(rows, contextGroups(rows, settings)[0]!, returns, score, settings);
    expectClose(advantage, expectedOf(c), 1e-4, 1e-5, c.id);
  });
});

const gaeFiles = files.filter(({ data }) => isGae(data));

describe.each(gaeFiles)('the golden file of generalised advantages $file', ({ data: file }) => {
  test.each(file.cases.filter((c: Case) => c.expected.rawAdvantage) as Case[])('gives $id', (c) => {
    const rows: number[][] = file.inputs.values;
    const width = rows[0]!.length;
    const mask = Uint8Array.from((c.mask === undefined ? file.inputs.mask : file.inputs.masks[c.mask]).flat());
    const values = Float64Array.from(rows.flat(), (value, i) => (c.valuesMasked && mask[i] === 0 ? 0 : value));
    const { advantage, target } = generalisedAdvantages({
      order: Int32Array.from(values, (_, i) => i),
      start: Int32Array.from({ length: rows.length + 1 }, (_, s) => s * width),
      values,
      rewards: Float64Array.from(file.inputs.rewards.flat()),
      mask,
      gamma: c.gamma,
      lambda: c.lam,
      masked: c.impl === 'verl-agent' ? 'step' : 'skip',
    });
    // The numbers behind the mask mean nothing.
    const valid = (all: ArrayLike<number>) => Array.from(all).filter((_, i) => mask[i] === 1);
    const { rawAdvantage, returns, whitened } = c.expected;
    expectClose(valid(advantage), valid(rawAdvantage.flat()), 1e-5, 1e-4, 'raw advantages');
    if (returns) expectClose(valid(target), valid(returns.flat()), 1e-5, 1e-4, 'returns');
    if (whitened) {
      expectClose(valid(whiten(advantage, mask).advantage), valid(whitened.flat()), 1e-5, 1e-4, 'whitened');
    }
  });

  if (file.inputs.mask) {
    test.each(file.cases as Case[])('is what PPO estimates at step level, $id', (c) => {
      const at = file.inputs.mask.flatMap((row: number[], traj: number) =>
        row.flatMap((valid, step) => (valid === 1 ? [{ traj, step }] : [])),
      ) as { traj: number; step: number }[];
      const batch = rolloutBatch(
        at.map(({ traj, step }) => ({
          task: `task ${traj}`,
          trajectory: `trajectory ${traj}`,
          step,
          observation: '',
          action: '',
          reward: file.inputs.rewards[traj][step],
          value: file.inputs.values[traj][step],
          valid: true,
        })),
      );
      const { advantage, detail } = estimate(
        batch,
        resolveSettings({ method: 'ppo', options: { gamma: c.gamma, lambda: c.lam } }),
      );
      const expected = (matrix: number[][]) => at.map(({ traj, step }) => matrix[traj]![step]!);
      expectClose(advantage, expected(c.expected.whitened), 1e-5, 1e-4, 'whitened');
      expectClose(detail.kind === 'ppo' ? detail.target : [], expected(c.expected.returns), 1e-5, 1e-4, 'returns');
    });
  }
});

const samplingFiles = files.filter(({ data }) => isSampling(data));

describe.each(samplingFiles)('the golden file of dynamic sampling $file', ({ data: file }) => {
  test.each(file.cases as Case[])('keeps the groups of $id', (c) => {
    const { groupSize, groups, episodeReward } = c;
    const rewardsOf = (g: number): number[] => episodeReward.slice(g * groupSize, (g + 1) * groupSize);
    const kept = (rule: SamplingRule) =>
      Array.from({ length: groups }, (_, g) => g).filter((g) => teaches(rewardsOf(g), rule));
    const { verlAgentKeptGroups, verlAgentKeptTrajectories, dapoKeptGroups, tolerantKeptGroups } = c.expected;
    expect(kept('tolerant')).toEqual(tolerantKeptGroups);
    expect(kept('agent')).toEqual(verlAgentKeptGroups);
    const trajectories = kept('agent').flatMap((g) => rewardsOf(g).map((_, i) => g * groupSize + i));
    expect(trajectories).toEqual(verlAgentKeptTrajectories);
    // A record, not a target: float32 rounding lets the recipe keep groups of equal rewards.
    const constant = (g: number) => groupSize > 1 && new Set(rewardsOf(g).map(Math.fround)).size === 1;
    expect(kept('dapo')).toEqual(dapoKeptGroups.filter((g: number) => !constant(g)));
  });
});

// A claim about our own two precisions, so on the project's own files whatever FIXTURES_DIR says.
test.each(['large.json', 'near-converged.json'])('HGPO in float32 stays within 1e-5 of float64 on %s', (name) => {
  const file = projectFixture('advantages', name) as File;
  const batch = batchOf(file);
  const settings = settingsOf('hgpo', file.pipelines[0], { K: 2 });
  const { returns, advantage } = estimate(batch, settings);
  const levels = compareLevels(batch, contextGroups(batch, settings), Float32Array.from(returns), settings);
  const active = activeSets(batch.rowCount, levels, null, settings.skipZero);
  const single = hgpoAdvantages(levels, null, active, settings).advantage;
  expectClose(single, Array.from(advantage), 1e-5, 0, 'float32');
});
