import { describe, expect, test } from 'vitest';
import { exampleRoom } from '../environments/rooms/example-rooms.ts';
import { RoomsEnvironment } from '../environments/rooms/environment.ts';
import { ShopEnvironment } from '../environments/shop/environment.ts';
import type { Environment, Observation } from '../environments/environment.ts';
import type { HistoryEntry } from '../environments/text-history.ts';
import { TabularPolicy } from '../rollouts/policies/tabular.ts';
import { uniformPolicy } from '../rollouts/policies/uniform.ts';
import type { Policy } from '../rollouts/policy.ts';
import { enumerateEpisode, type EpisodeModel } from './episode-model.ts';
import { exactValues } from './exact-values.ts';
import { monteCarloTruth, type Situation } from './monte-carlo.ts';

const MEMORY = 1;

/** The uniform policy made better: three times over, logits rise by what input truth says about each command. */
function improvedPolicy(model: EpisodeModel): TabularPolicy {
  const policy = new TabularPolicy({ environment: model.environment, memory: MEMORY });
  for (let round = 0; round < 3; round++) {
    const values = exactValues(model, policy);
    const advantages = values.inputAdvantages();
    const done = new Set<number>();
    for (let node = 0; node < model.nodeCount; node++) {
      const input = values.inputOf[node]!;
      if (input === -1 || done.has(input)) continue;
      done.add(input);
      const numbers = policy.parametersOf(values.inputAt(node, 1));
      numbers.forEach((number, i) => {
        policy.parameters[number]! += 2 * advantages[values.inputEdge(input, i)]!;
      });
    }
  }
  return policy;
}

/** Plays a path from the start and says where it led: the situation, and the node of the model. */
function walk(environment: Environment, model: EpisodeModel, choices: readonly number[]) {
  const history: HistoryEntry<Observation>[] = [];
  let node = 0;
  for (const choice of choices) {
    const commands = environment.acting();
    const i = choice % commands.length;
    history.push({ step: history.length + 1, observation: environment.observation(), action: commands[i]! });
    environment.step(commands[i]!);
    node = model.edgeTarget[model.edgeStart[node]! + i]!;
  }
  return { situation: { snapshot: environment.snapshot(), history } satisfies Situation, node };
}

const openRoom = (name: string) => () => {
  const environment = new RoomsEnvironment();
  environment.resetToRoom(exampleRoom(name));
  return environment;
};

const openShop = () => {
  const environment = new ShopEnvironment();
  environment.reset(0, undefined, { preset: 'XS', stepLimit: 8 });
  return environment;
};

const cases: [string, () => Environment, number[]][] = ['S1', 'S2', 'S6', 'S7'].flatMap((name, i) => [
  [`${name} at the start`, openRoom(name), []],
  [`${name} on the way`, openRoom(name), [i, 1, 3]],
]);

describe.each([...cases, ['a small shop', openShop, [0]]] as [string, () => Environment, number[]][])(
  '%s',
  (_, open, path) => {
    const model = enumerateEpisode(open(), { memory: MEMORY });
    const policy = improvedPolicy(model);
    const values = exactValues(model, policy);
    const { situation, node } = walk(open(), model, path);
    const h = model.horizon - path.length;
    const settings = { openEnvironment: open, memory: MEMORY, seed: 1, rollouts: 400, batch: 100 };

    test('simulation and dynamic programming agree within four standard errors', async () => {
      const commands = open === openShop ? undefined : startCommands(open, situation);
      const truth = await monteCarloTruth(situation, { ...settings, policy, ...(commands ? { commands } : {}) });
      const agrees = (estimate: { mean: number; standardError: number }, exact: number) => {
        expect(Math.abs(estimate.mean - exact)).toBeLessThanOrEqual(4 * estimate.standardError + 1e-9);
      };
      expect(values.value(node, h)).toBeGreaterThan(0.5);
      agrees(truth.value, values.value(node, h));
      expect(truth.commands.length).toBe(values.commandCount(node));
      truth.commands.forEach(({ q, advantage }, i) => {
        agrees(q, values.q(node, h, i));
        agrees(advantage, values.advantage(node, h, i));
      });
    });
  },
);

function startCommands(open: () => Environment, situation: Situation): readonly string[] {
  const environment = open();
  environment.restore(situation.snapshot);
  return environment.acting();
}

describe('Monte Carlo', () => {
  const open = openRoom('S7');
  const model = enumerateEpisode(open(), { memory: MEMORY });
  const situation: Situation = { snapshot: open().snapshot(), history: [] };
  const settings = { openEnvironment: open, memory: MEMORY, seed: 5, rollouts: 300 };
  const policy = improvedPolicy(model);

  test('does not depend on how many rollouts are played at a time', async () => {
    const apart = await monteCarloTruth(situation, { ...settings, policy, batch: 7 });
    const together = await monteCarloTruth(situation, { ...settings, policy, batch: 300 });
    expect(apart.value.mean).toBeCloseTo(together.value.mean, 10);
    expect(apart.commands.map(({ q }) => q.mean.toFixed(9))).toEqual(
      together.commands.map(({ q }) => q.mean.toFixed(9)),
    );
  });

  test('pairs rollouts with the same random numbers, so that an advantage is more exact than its parts', async () => {
    const truth = await monteCarloTruth(situation, { ...settings, policy });
    for (const { q, advantage } of truth.commands) {
      const apart = Math.hypot(q.standardError, truth.value.standardError);
      expect(advantage.standardError).toBeLessThan(apart);
    }
  });

  test('estimates V by the policy itself where the policy cannot tell its probabilities', async () => {
    const values = exactValues(model, policy);
    const silent: Policy = { name: 'silent', memory: null, act: (inputs, streams) => policy.act(inputs, streams) };
    const { value } = await monteCarloTruth(situation, { ...settings, policy: silent, commands: [] });
    expect(Math.abs(value.mean - values.valueAtStart)).toBeLessThan(4 * value.standardError);
  });

  test('reports the share of invalid replies and keeps them out of the value', async () => {
    const model = enumerateEpisode(open(), { memory: 0, invalidCommand: 'fly' });
    const clumsy: Policy = {
      name: 'clumsy',
      memory: null,
      act: (inputs, streams) =>
        inputs.map((input, i) => ({
          command: streams[i]!.below(4) === 0 ? 'fly' : streams[i]!.pick(input.acting),
          formatValid: true,
          logProb: 0,
        })),
    };
    const exact = exactValues(model, {
      probabilities: (input) => Array.from(uniformPolicy.probabilities!(input), (p) => 0.75 * p),
      invalidProbability: () => 0.25,
    });
    const truth = await monteCarloTruth(situation, {
      ...settings,
      policy: clumsy,
      commands: ['fly', 'go to fridge 1'],
      rollouts: 2000,
    });
    expect(Math.abs(truth.invalidShare - 0.25)).toBeLessThan(4 * Math.sqrt((0.25 * 0.75) / 2000));
    expect(Math.abs(truth.value.mean - exact.valueAtStart)).toBeLessThan(4 * truth.value.standardError);
    expect(truth.commands.map(({ valid }) => valid)).toEqual([false, true]);
    const fly = truth.commands[0]!.q;
    expect(Math.abs(fly.mean - exact.q(0, 50, exact.commandCount(0) - 1))).toBeLessThan(4 * fly.standardError);
  });

  test('stops when it is precise enough, but not because it has seen no win yet', async () => {
    const precise = await monteCarloTruth(situation, { ...settings, policy, rollouts: 5000, precision: 0.2 });
    expect(precise.rollouts).toBeLessThan(5000);
    for (const { q } of precise.commands) expect(q.standardError).toBeLessThanOrEqual(0.2);
    const hopeless: Policy = {
      name: 'hopeless',
      memory: null,
      act: (inputs) => inputs.map(() => ({ command: 'look', formatValid: true, logProb: 0 })),
    };
    const nothing = await monteCarloTruth(situation, {
      ...settings,
      policy: hopeless,
      commands: ['look'],
      rollouts: 5000,
      precision: 0.05,
    });
    expect(nothing.value.mean).toBe(0);
    expect(nothing.rollouts).toBeGreaterThanOrEqual(100);
  });

  test('can be aborted, and refuses an episode that is over', async () => {
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(monteCarloTruth(situation, { ...settings, policy, signal })).rejects.toThrow('enough');
    const environment = open();
    const oracle = environment.expert('oracle');
    while (!environment.done) environment.step(oracle.next());
    const over = { snapshot: environment.snapshot(), history: [] };
    await expect(monteCarloTruth(over, { ...settings, policy })).rejects.toThrow('is over');
  });
});
