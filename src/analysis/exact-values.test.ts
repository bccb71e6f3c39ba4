import { describe, expect, test } from 'vitest';
import { exampleRoom } from '../environments/rooms/example-rooms.ts';
import { RoomsEnvironment } from '../environments/rooms/environment.ts';
import { ShopEnvironment } from '../environments/shop/environment.ts';
import { randomStream } from '../random/stream.ts';
import { contextText, type PolicyInput } from '../rollouts/policy.ts';
import { randomPolicy, uniformPolicy } from '../rollouts/policies/uniform.ts';
import { enumerateEpisode, ModelTooLargeError, type EpisodeModelSettings } from './episode-model.ts';
import { exactValues, PolicyProbabilityError, type ExactValues, type KnownPolicy } from './exact-values.ts';

function modelOf(room: string, settings: EpisodeModelSettings, stepLimit = 50) {
  const environment = new RoomsEnvironment();
  environment.resetToRoom(exampleRoom(room), { stepLimit });
  return enumerateEpisode(environment, settings);
}

/** Softmax of logits that are drawn for each (context, command): as uneven as a trained table. */
function drawnPolicy(seed: number, spread = 3): KnownPolicy {
  return {
    probabilities: (input) => {
      const context = contextText(input);
      const weights = input.admissible.map((command) =>
        input.acting.includes(command) ? Math.exp(spread * randomStream(seed, context, command).nextNormal()) : 0,
      );
      const total = weights.reduce((a, b) => a + b);
      return weights.map((weight) => weight / total);
    },
  };
}

function* decisions(values: ExactValues): Generator<[node: number, h: number]> {
  for (let h = 1; h <= values.horizon; h++) {
    for (let node = 0; node < values.model.nodeCount; node++) {
      if (values.visits(node, h) > 0 && values.commandCount(node) > 0) yield [node, h];
    }
  }
}

describe('exact values', () => {
  test('satisfy their own equations: V is the mean of Q, advantages average to zero', () => {
    const values = exactValues(modelOf('S2', { memory: 0 }), drawnPolicy(1));
    for (const [node, h] of decisions(values)) {
      let mean = 0;
      let advantage = 0;
      for (let i = 0; i < values.commandCount(node); i++) {
        mean += values.probability(node, h, i) * values.q(node, h, i);
        advantage += values.probability(node, h, i) * values.advantage(node, h, i);
      }
      expect(Math.abs(mean - values.value(node, h))).toBeLessThan(1e-12);
      expect(Math.abs(advantage)).toBeLessThan(1e-12);
    }
  });

  test('agree with visits: the value at the start is the reward collected over all visits', () => {
    const gamma = 0.9;
    const values = exactValues(modelOf('S1', { memory: 2 }), drawnPolicy(2), { gamma });
    const { model, horizon } = values;
    let collected = 0;
    let wins = 0;
    for (const [node, h] of decisions(values)) {
      for (let i = 0; i < values.commandCount(node); i++) {
        const reward = model.stateEdgeReward[model.stateEdgeStart[model.nodeState[node]!]! + i]!;
        const taken = values.visits(node, h) * values.probability(node, h, i);
        collected += taken * gamma ** (horizon - h) * reward;
        if (reward > 0) wins += taken;
      }
    }
    expect(collected).toBeCloseTo(values.valueAtStart, 12);
    expect(wins).toBeCloseTo(values.successProbability, 12);
  });

  test('of a policy without history do not depend on the memory of the nodes', () => {
    const memoryless = drawnPolicy(3);
    const reference = exactValues(modelOf('S7', { memory: 0 }), memoryless);
    for (const memory of [1, 2, 4]) {
      const values = exactValues(modelOf('S7', { memory }), memoryless, { memory: 0 });
      expect(values.valueAtStart).toBeCloseTo(reference.valueAtStart, 12);
      expect(values.inputCount).toBe(reference.inputCount);
    }
  });

  test('of a policy that sees the step differ from step to step', () => {
    const model = modelOf('S7', { memory: 0 });
    const seenSteps = new Set<number>();
    const late: KnownPolicy = {
      probabilities: (input) => {
        seenSteps.add(input.stepIndex);
        return input.stepIndex < 45
          ? // Waits by walking on to the alphabetically last place, then plays at random.
            input.admissible.map((command) =>
              command === input.acting.filter((a) => a.startsWith('go')).at(-1) ? 1 : 0,
            )
          : uniformPolicy.probabilities!(input);
      },
    };
    const values = exactValues(model, late, { seesStep: true });
    expect([...seenSteps].sort((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, i) => i));
    expect(values.valueAtStart).toBeLessThan(exactValues(model, uniformPolicy).valueAtStart);
    expect(() =>
      exactValues(model, { probabilities: ({ stepIndex, admissible }) => admissible.map(() => stepIndex) }),
    ).toThrow(PolicyProbabilityError);
  });

  test('count only episodes that end in time', () => {
    const short = exactValues(modelOf('S7', { memory: 0 }, 5), uniformPolicy);
    const long = exactValues(modelOf('S7', { memory: 0 }, 6), uniformPolicy);
    // The shortest plan of S7 has six commands.
    expect(short.valueAtStart).toBe(0);
    expect(long.valueAtStart).toBeGreaterThan(0);
    expect(long.valueAtStart).toBeCloseTo(10 * 0.95 ** 5 * long.successProbability, 12);
  });

  test('of the random policy are enumerated with all commands', () => {
    const model = modelOf('S7', { memory: 0, commands: 'admissible' });
    expect(exactValues(model, randomPolicy).valueAtStart).toBeLessThan(
      exactValues(modelOf('S7', { memory: 0 }), uniformPolicy).valueAtStart,
    );
    expect(() => exactValues(modelOf('S7', { memory: 0 }), randomPolicy)).toThrow(PolicyProbabilityError);
  });
});

describe('the penalty for invalid replies', () => {
  const clumsy = (isClumsy: (input: PolicyInput) => boolean): KnownPolicy => ({
    probabilities: (input) => Array.from(uniformPolicy.probabilities!(input), (p) => (isClumsy(input) ? 0.25 * p : p)),
    invalidProbability: (input) => (isClumsy(input) ? 0.75 : 0),
  });
  const atTable = (input: PolicyInput) => input.observation.text.startsWith('Now at sidetable 1');
  const model = () => modelOf('S7', { memory: 1, invalidCommand: 'fly' });

  test('is charged to its own step and never propagated', () => {
    const values = exactValues(model(), clumsy(atTable));
    for (const [node, h] of decisions(values)) {
      for (let i = 0; i < values.commandCount(node); i++) {
        const difference = values.advantage(node, h, i, 0.1) - values.advantage(node, h, i, 0);
        const isInvalid = i === values.commandCount(node) - 1;
        // Where no reply is invalid, A* is what it is without a penalty, also one step before the table.
        const expected = 0.1 * (values.invalidProbability(node, h) - (isInvalid ? 1 : 0));
        expect(difference).toBeCloseTo(expected, 12);
      }
    }
  });

  test('needs a model with an invalid command, which has no effect', () => {
    expect(() => exactValues(modelOf('S7', { memory: 0 }), clumsy(atTable))).toThrow(PolicyProbabilityError);
    expect(() => modelOf('S7', { memory: 0, invalidCommand: 'go to fridge 1' })).toThrow('has an effect');
  });
});

describe('input truth', () => {
  test('equals state truth where the policy sees all that matters, and averages it where it does not', () => {
    const values = exactValues(modelOf('S1', { memory: 1 }), drawnPolicy(4));
    const input = values.inputAdvantages();
    const sums = new Map<number, { weight: number; advantage: number }>();
    for (const [node, h] of decisions(values)) {
      for (let i = 0; i < values.commandCount(node); i++) {
        const edge = values.inputEdge(values.inputOf[node]!, i);
        const sum = sums.get(edge) ?? { weight: 0, advantage: 0 };
        sum.weight += values.visits(node, h);
        sum.advantage += values.visits(node, h) * values.advantage(node, h, i);
        sums.set(edge, sum);
      }
    }
    for (const [edge, { weight, advantage }] of sums) expect(input[edge]).toBeCloseTo(advantage / weight, 10);
    // The start is seen once, with all steps left, by a text that no other state has.
    for (let i = 0; i < values.commandCount(0); i++) {
      expect(input[values.inputEdge(values.inputOf[0]!, i)]).toBeCloseTo(values.advantage(0, 50, i), 12);
    }
  });
});

describe('enumeration', () => {
  test('leaves the environment where it was', () => {
    const environment = new RoomsEnvironment();
    environment.resetToRoom(exampleRoom('S7'));
    const before = [environment.observation().text, environment.stateKey(), environment.stepIndex];
    enumerateEpisode(environment, { memory: 1 });
    expect([environment.observation().text, environment.stateKey(), environment.stepIndex]).toEqual(before);
    environment.step('look');
    expect(() => enumerateEpisode(environment, { memory: 1 })).toThrow('at the start of an episode');
  });

  test('of a room that is too large ends in a sentence', () => {
    expect(() => modelOf('S3', { memory: 2, nodeLimit: 10_000 })).toThrow(ModelTooLargeError);
    expect(() => modelOf('S3', { memory: 2, nodeLimit: 10_000 })).toThrow('more than 10000 nodes');
  });

  test('covers small shops', () => {
    const environment = new ShopEnvironment();
    environment.reset(0, undefined, { preset: 'XS', stepLimit: 10 });
    const model = enumerateEpisode(environment, { memory: 1 });
    const values = exactValues(model, uniformPolicy);
    expect(values.successProbability).toBeGreaterThan(0);
    expect(values.valueAtStart).toBeLessThan(10 * values.successProbability);
    const visited = Array.from({ length: model.nodeCount }, (_, node) => values.visits(node, 0)).reduce(
      (a, b) => a + b,
    );
    const ended = Array.from(model.nodeState, (state, node) => {
      if (model.terminal[state] === 0) return 0;
      return Array.from({ length: 9 }, (_, h) => values.visits(node, h + 1)).reduce((a, b) => a + b);
    }).reduce((a, b) => a + b);
    // Every episode is over after ten steps at the latest.
    expect(visited + ended).toBeCloseTo(1, 12);
  });
});
