import { describe, expect, test } from 'vitest';
import { environmentNames, type EnvironmentName } from '../environments/environment.ts';
import { openEnvironment } from '../environments/registry.ts';
import type { RolloutBatch } from './batch.ts';
import { collectRollouts, type CollectSettings, drawEpisodes, firstEpisodes } from './collect.ts';
import { writeJsonl } from './jsonl.ts';
import { expertPolicy } from './policies/expert.ts';
import { TabularPolicy } from './policies/tabular.ts';
import { randomPolicy, uniformPolicy } from './policies/uniform.ts';
import type { Decision, Policy } from './policy.ts';

const lines = (batch: RolloutBatch) => [...writeJsonl(batch)].join('').trimEnd().split('\n');

function settingsFor(name: EnvironmentName, policy: Policy, groups = 3): CollectSettings<Decision> {
  const environment = () => openEnvironment(name);
  const episodes = drawEpisodes(environment(), 'train', groups, 7, 0, { preset: 'XS', stepLimit: 12 });
  return { environment, policy, episodes, groupSize: 4, memory: 2, seed: 7 };
}

describe.each(environmentNames)('%s', (name) => {
  test('what is collected depends neither on how many play together nor on how the policy cuts its work up', async () => {
    const whole = lines((await collectRollouts(settingsFor(name, randomPolicy))).batch);
    const oneByOne: Policy = {
      ...randomPolicy,
      act: (inputs, streams) =>
        inputs.flatMap((input, i) => [...(randomPolicy.act([input], [streams[i]!]) as Decision[])]),
    };
    expect(lines((await collectRollouts(settingsFor(name, oneByOne))).batch)).toEqual(whole);
    const settings = settingsFor(name, randomPolicy);
    const first = await collectRollouts({ ...settings, episodes: settings.episodes.slice(0, 1), groupSize: 2 });
    const wanted = whole.filter((line) => /"traj_uid":"s7b0g0t[01]"/.test(line));
    expect(lines(first.batch)).toEqual(wanted);
    const last = await collectRollouts({ ...settings, episodes: settings.episodes.slice(2), firstGroup: 2 });
    expect(lines(last.batch)).toEqual(whole.filter((line) => line.includes('"uid":"s7b0g2"')));
  });

  test('members of a group start from one state and draw differently; another seed or batch draws afresh', async () => {
    const settings = settingsFor(name, uniformPolicy);
    const { batch } = await collectRollouts(settings);
    const startKeys = new Set<string>();
    for (let t = 0; t < batch.trajectories.size; t++) {
      const row = batch.byStep[batch.rowStart[t]!]!;
      startKeys.add(`${batch.task[row]} ${batch.episodeId![row]} ${batch.stateKey![row]} ${batch.observation[row]}`);
    }
    expect(startKeys.size).toBe(settings.episodes.length);
    const actions = async (changes: Partial<CollectSettings<Decision>>) => {
      const collected = (await collectRollouts({ ...settings, ...changes })).batch;
      return Array.from(collected.action, (action) => collected.actions.values[action]);
    };
    expect(await actions({})).toEqual(await actions({}));
    expect(await actions({ seed: 8 })).not.toEqual(await actions({}));
    expect(await actions({ batch: 1 })).not.toEqual(await actions({}));
  });

  test.each(['searching', 'oracle'] as const)('the %s expert wins every episode', async (kind) => {
    const environment = () => openEnvironment(name);
    const episodes = firstEpisodes(environment(), 'seen', 20, { preset: 'S' });
    const { batch, outcomes } = await collectRollouts({
      environment,
      policy: expertPolicy(kind),
      episodes,
      groupSize: 1,
      memory: 0,
      seed: 0,
    });
    expect(outcomes.map(({ won, score, invalidSteps }) => [won, score, invalidSteps])).toEqual(
      episodes.map(() => [true, 1, 0]),
    );
    expect([...batch.success!].every((success) => success === 1)).toBe(true);
    expect([...batch.reward].filter((reward) => reward !== 0)).toEqual(episodes.map(() => 10));
  });

  test('a fresh table draws like the uniform policy and its rows carry its exact log-probabilities', async () => {
    const policy = new TabularPolicy({ environment: name, memory: 1 });
    const { batch } = await collectRollouts({ ...settingsFor(name, policy), memory: 1 });
    for (const logProb of batch.logProb!) expect(Math.exp(-logProb)).toBeCloseTo(Math.round(Math.exp(-logProb)), 9);
  });
});

test('equal inputs have equal prompt keys, and the admissible list is part of the input', async () => {
  const { batch } = await collectRollouts({ ...settingsFor('rooms', randomPolicy), memory: 0 });
  const admissible = new Map<string, string>();
  for (let row = 0; row < batch.rowCount; row++) {
    const state = `${batch.task[row]} ${batch.stateKey![row]} ${batch.observation[row]}`;
    const key = batch.promptKeys.values[batch.promptKey![row]!]!;
    expect(key).toMatch(/^[0-9a-f]{16}$/);
    expect(admissible.get(state) ?? key).toBe(key);
    admissible.set(state, key);
  }
});

test('a command without effect is invalid under format+admissible and valid under format', async () => {
  const nonsense: Policy = {
    name: 'nonsense',
    memory: null,
    act: (inputs) => inputs.map(() => ({ command: 'fly to the moon', formatValid: true, logProb: 0 })),
  };
  const settings = settingsFor('rooms', nonsense, 1);
  const strict = await collectRollouts(settings);
  expect([...strict.batch.valid].every((valid) => valid === 0)).toBe(true);
  expect(strict.outcomes[0]).toMatchObject({ won: false, score: 0, steps: 12, invalidSteps: 12 });
  const lenient = await collectRollouts({ ...settings, penalise: 'format' });
  expect([...lenient.batch.valid].every((valid) => valid === 1)).toBe(true);
});

test('progress counts every step, and an aborted collection ends with the reason of the signal', async () => {
  const settings = settingsFor('shop', randomPolicy);
  const seen: number[] = [];
  const { batch } = await collectRollouts({ ...settings, onProgress: ({ steps }) => seen.push(steps) });
  expect(seen.at(-1)).toBe(batch.rowCount);
  const controller = new AbortController();
  const aborted = collectRollouts({
    ...settings,
    signal: controller.signal,
    onProgress: () => controller.abort(new Error('enough')),
  });
  await expect(aborted).rejects.toThrow('enough');
});

test('a policy made for another memory is refused', async () => {
  const policy = new TabularPolicy({ environment: 'rooms', memory: 1 });
  await expect(collectRollouts(settingsFor('rooms', policy))).rejects.toThrow('was made for memory 1, not 2');
});

test('what a policy attaches to its decisions comes back row by row', async () => {
  interface Counted extends Decision {
    readonly nth: number;
  }
  let calls = 0;
  const counting: Policy<Counted> = {
    name: 'counting',
    memory: null,
    act: (inputs) =>
      inputs.map(({ admissible }) => ({
        command: admissible[0]!,
        formatValid: true,
        logProb: -1,
        value: 0.5,
        tokenCount: 3,
        prompt: 'what I saw',
        nth: calls++,
      })),
  };
  const { batch, decisions } = await collectRollouts({ ...settingsFor('shop', randomPolicy), policy: counting });
  expect(decisions).toHaveLength(batch.rowCount);
  expect(new Set(decisions.map(({ nth }) => nth)).size).toBe(calls);
  expect(decisions.map(({ command }) => command)).toEqual(
    Array.from(batch.action, (action) => batch.actions.values[action]),
  );
  expect([batch.value![0], batch.tokenCount![0], batch.prompts.values]).toEqual([0.5, 3, ['what I saw']]);
  expect(batch.promptKeys.size).toBe(1);
});
