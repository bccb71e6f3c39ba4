import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Observation } from '../../environments/environment.ts';
import { randomStream } from '../../random/stream.ts';
import type { PolicyInput } from '../policy.ts';
import { TabularPolicy, TabularPolicyFileError } from './tabular.ts';
import { uniformPolicy } from './uniform.ts';

const seen = (text: string): Observation => ({ text, compact: text, brief: text, event: { kind: 'test' } });

function inputOf(goal: string, observation: string, history: [string, string][], acting: string[]): PolicyInput {
  return {
    environment: 'rooms',
    goal,
    observation: seen(observation),
    history: history.map(([text, action], i) => ({ step: i + 1, observation: seen(text), action })),
    stepIndex: history.length,
    admissible: ['inventory', ...acting, 'look'],
    acting,
  };
}

const commands = ['go to fridge 1', 'open fridge 1', 'take apple 1 from fridge 1'];
const input = inputOf('heat apple', 'at fridge 1', [['start', 'go to fridge 1']], commands);
const table = (logits: number[], temperature = 1) => {
  const policy = new TabularPolicy({ environment: 'rooms', memory: 1, temperature });
  policy.parametersOf(input).forEach((number, i) => (policy.parameters[number] = logits[i]!));
  return policy;
};
const logit = fc.double({ min: -20, max: 20, noNaN: true });
const logits = fc.array(logit, { minLength: 3, maxLength: 3 });
const temperature = fc.double({ min: 0.1, max: 5, noNaN: true });

test('a fresh table is the uniform policy', () => {
  const policy = new TabularPolicy({ environment: 'rooms', memory: 1 });
  const uniform = uniformPolicy.probabilities!(input);
  policy.probabilities(input).forEach((p, i) => expect(p).toBeCloseTo(uniform[i]!, 14));
  expect(policy.parameterCount).toBe(0);
});

test('probabilities sum to 1 over the admissible list and are 0 for commands that only inform', () => {
  fc.assert(
    fc.property(logits, temperature, (values, t) => {
      const probabilities = table(values, t).probabilities(input);
      expect(probabilities).toHaveLength(5);
      expect(probabilities.reduce((a, b) => a + b)).toBeCloseTo(1, 12);
      expect([probabilities[0], probabilities[4]]).toEqual([0, 0]);
    }),
  );
});

test('the gradient of the log-probability agrees with finite differences', () => {
  fc.assert(
    fc.property(logits, temperature, fc.nat(2), (values, t, chosen) => {
      const h = 1e-5;
      const gradient = table(values, t).logProbabilityGradient(input, commands[chosen]!);
      for (let b = 0; b < 3; b++) {
        const at = (shift: number) => table(values.with(b, values[b]! + shift), t).logProbabilities(input)[chosen]!;
        expect(gradient[b]).toBeCloseTo((at(h) - at(-h)) / (2 * h), 5);
      }
    }),
  );
});

test('draws follow the probabilities within five standard errors, and the log-probability is that of the draw', () => {
  const policy = table([0, 1, 2]);
  const draws = 20_000;
  const inputs = Array.from({ length: draws }, () => input);
  const decisions = policy.act(
    inputs,
    inputs.map((_, i) => randomStream(1, i)),
  );
  const logProbabilities = policy.logProbabilities(input);
  for (const [i, command] of commands.entries()) {
    const p = Math.exp(logProbabilities[i]!);
    const share = decisions.filter((decision) => decision.command === command).length / draws;
    expect(Math.abs(share - p)).toBeLessThan(5 * Math.sqrt((p * (1 - p)) / draws));
  }
  for (const { command, logProb } of decisions.slice(0, 20)) {
    expect(logProb).toBe(logProbabilities[commands.indexOf(command)]);
  }
});

test('contexts that differ only in where one text ends and the next begins are kept apart', () => {
  const policy = new TabularPolicy({ environment: 'rooms', memory: 2 });
  const variants = [
    inputOf('a', 'b', [['c', 'd']], commands),
    inputOf('a', 'bc', [['', 'd']], commands),
    inputOf('a"', 'b', [['c', 'd']], commands),
    inputOf('a","b', '', [['c', 'd']], commands),
    inputOf('a', 'b', [['c","d', '']], commands),
    inputOf(
      'a',
      'b',
      [
        ['c', 'd'],
        ['', ''],
      ],
      commands,
    ),
    inputOf('a', 'b', [], commands),
    inputOf('a\u0000b', '', [], commands),
    inputOf('a', '\u0000b', [], commands),
  ];
  const numbers = variants.flatMap((variant) => [...policy.parametersOf(variant)]);
  expect(new Set(numbers).size).toBe(3 * variants.length);
  expect(policy.contextCount).toBe(variants.length);
});

test('parameters keep their numbers while the table grows, also past its first size', () => {
  const policy = new TabularPolicy({ environment: 'rooms', memory: 1 });
  const first = policy.parametersOf(input);
  policy.parameters[first[1]!] = 3;
  for (let i = 0; i < 2000; i++) policy.parametersOf(inputOf('g', `at ${i}`, [], commands));
  expect(policy.parametersOf(input)).toEqual(first);
  expect(policy.parameters[first[1]!]).toBe(3);
  expect(policy.parameterCount).toBe(3 * 2001);
});

test('inputs of another environment or with a longer history are refused', () => {
  const policy = new TabularPolicy({ environment: 'rooms', memory: 0 });
  expect(() => policy.probabilities(input)).toThrow('collect with memory 0');
  expect(() => policy.probabilities({ ...input, environment: 'shop', history: [] })).toThrow('is for rooms');
  expect(() => table([0, 0, 0]).logProbabilityGradient(input, 'look')).toThrow('none of the acting commands');
});

describe('the file', () => {
  test('gives the same policy back', () => {
    fc.assert(
      fc.property(logits, temperature, (values, t) => {
        const policy = table(values, t);
        policy.parametersOf(inputOf('g "quoted"', 'seen\u2028', [], commands));
        const again = TabularPolicy.fromJson(JSON.stringify(policy.toJson()));
        expect(again.logProbabilities(input)).toEqual(policy.logProbabilities(input));
        expect([again.memory, again.environment, again.commands, again.temperature]).toEqual([1, 'rooms', 'acting', t]);
        expect(again.toJson()).toEqual(policy.toJson());
      }),
    );
  });

  const good = table([1, 2, 3]).toJson();
  test.each([
    ['{', 'it is not JSON'],
    ['[]', 'it does not begin with'],
    ['{"format":"other"}', 'it does not begin with'],
    [JSON.stringify({ ...good, version: 2 }), 'it has version 2, this program reads 1'],
    [JSON.stringify({ ...good, environment: 'garden' }), 'environment: '],
    [JSON.stringify({ ...good, temperature: 0 }), 'temperature: '],
    [JSON.stringify({ ...good, contexts: [[[0, 1], [2]]] }), 'contexts.0 has a command without a logit'],
    [
      JSON.stringify({
        ...good,
        contexts: [
          [
            [0, 1],
            [99, 0.5],
          ],
        ],
      }),
      'contexts.0 names a text that is not in the list',
    ],
    [
      JSON.stringify({
        ...good,
        contexts: [
          [
            [0, 1],
            [0.5, 0.5],
          ],
        ],
      }),
      'contexts.0 names a text that is not in the list',
    ],
    [
      JSON.stringify({
        ...good,
        contexts: [
          [
            [0, 1],
            [0, 1, 0, 2],
          ],
        ],
      }),
      'contexts.0 has two logits for one command',
    ],
    [JSON.stringify({ ...good, contexts: [[[0, 1, 2], []]] }), 'contexts.0 has a history that does not fit memory 1'],
    [JSON.stringify({ ...good, contexts: [[[0, 1, 0, 1, 0, 1], []]] }), 'contexts.0 has a history that does not fit'],
    [
      JSON.stringify({
        ...good,
        contexts: [
          [[0, 1], []],
          [[0, 1], []],
        ],
      }),
      'contexts.1 repeats an earlier context',
    ],
    [
      JSON.stringify({
        ...good,
        contexts: [
          [
            [0, 1],
            [0, null],
          ],
        ],
      }),
      'contexts.0.1.1: ',
    ],
  ])('%#: a bad file is refused with one sentence', (text, fault) => {
    expect(() => TabularPolicy.fromJson(text)).toThrow(TabularPolicyFileError);
    expect(() => TabularPolicy.fromJson(text)).toThrow(fault);
  });
});
