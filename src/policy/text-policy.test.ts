import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RoomsEnvironment } from '../environments/rooms/environment.ts';
import { randomStream } from '../random/stream.ts';
import { collectRollouts, firstEpisodes } from '../rollouts/collect.ts';
import type { PolicyInput } from '../rollouts/policy.ts';
import type { ModelWeights } from '../gpu/decoder.ts';
import { randomWeights, twinLogits } from '../testing/decoders.ts';
import { untrainedPolicy } from '../testing/policy-models.ts';
import { randomInputs } from '../testing/random-play.ts';
import { modelFolderFiles, readModelFolder } from './model-folder.ts';
import { openOnnxPolicy } from './onnx/open-onnx-policy.ts';
import { drawFromLogits, type TextPolicy } from './text-policy.ts';

const model = untrainedPolicy('rooms');
const files = modelFolderFiles(model, randomWeights(model.config), '');
const end = model.tokenizer.special('<end>');

let policy: TextPolicy;
let close: () => Promise<void>;
let weights: ModelWeights;
beforeAll(async () => {
  const folder = await readModelFolder(async (path) => files.get(path) ?? null, 'q4');
  ({ weights } = folder);
  ({ policy, close } = await openOnnxPolicy('untrained', folder));
});
afterAll(() => close());

const inputs = [...randomInputs('rooms', 'S', 4, 3)] as PolicyInput[];
const streams = (seed: number) => inputs.map((_, i) => randomStream(seed, i));
const act = (head: TextPolicy['head'], temperature: number, seed = 0) => {
  policy.head = head;
  policy.temperature = temperature;
  return policy.act(inputs, streams(seed));
};

/**
 * [reply] log-probability of each token of a reply in the twin: log softmax(logits / temperature) over the tokens that
 * `allowed` gives for its position, or all.
 */
function twinLogProbs(
  prompt: readonly number[],
  reply: readonly number[],
  allowed: (position: number) => readonly number[] | null,
  temperature: number,
): number[] {
  const rows = twinLogits(model.config, weights, [...prompt, ...reply.slice(0, -1)]);
  return reply.map((token, t) => {
    const logits = rows[prompt.length - 1 + t]!;
    const kept = Array.from(allowed(t) ?? logits.keys(), (id: number) => logits[id]! / temperature);
    const most = Math.max(...kept);
    return logits[token]! / temperature - most - Math.log(kept.reduce((sum, x) => sum + Math.exp(x - most), 0));
  });
}

describe('a text policy on ONNX Runtime', () => {
  it('writes admissible commands on the prefix tree, with the twin’s log-probabilities', async () => {
    const decisions = await act('generate-admissible', 0.7);
    for (const [i, decision] of decisions.entries()) {
      const { command, formatValid, promptTokens, replyTokens, tokenLogProbs, sequences } = decision;
      expect(inputs[i]!.admissible).toContain(command);
      expect(formatValid).toBe(true);
      const allowed = (t: number) => {
        const beginning = replyTokens.slice(0, t).join();
        const open = sequences!.filter((sequence) => sequence.slice(0, t).join() === beginning);
        return [...new Set(open.map((sequence) => sequence[t]!))];
      };
      const expected = twinLogProbs(promptTokens, replyTokens, allowed, 0.7);
      tokenLogProbs.forEach((logProb, t) => expect(logProb).toBeCloseTo(expected[t]!, 4));
    }
  });

  it('writes freely what the twin writes, greedily', async () => {
    const decisions = await act('generate', 0);
    const { promptTokens, replyTokens } = decisions[1]!;
    const tokens = [...promptTokens];
    for (const token of replyTokens.slice(0, 8)) {
      const logits = twinLogits(model.config, weights, tokens).at(-1)!;
      expect(token).toBe(logits.indexOf(Math.max(...logits)));
      tokens.push(token);
    }
    expect(replyTokens.length === model.replyTokens || replyTokens.at(-1) === end).toBe(true);
  });

  it('marks a free reply without its end as malformed', async () => {
    for (const { formatValid, replyTokens } of await act('generate', 1)) {
      expect(formatValid).toBe(replyTokens.at(-1) === end);
    }
  });

  it('chooses from the softmax of whole-command scores', async () => {
    const temperature = 3;
    const [decision] = await act('choose', temperature);
    const { promptTokens, replyTokens, logProb, sequences, command } = decision!;
    expect(inputs[0]!.admissible).toContain(command);
    const scores = sequences!.map((sequence) =>
      twinLogProbs(promptTokens, sequence, () => null, 1).reduce((sum, logProb) => sum + logProb, 0),
    );
    const most = Math.max(...scores) / temperature;
    const total = scores.reduce((sum, score) => sum + Math.exp(score / temperature - most), 0);
    const chosen = sequences!.findIndex((sequence) => sequence.join() === replyTokens.join());
    expect(logProb).toBeCloseTo(scores[chosen]! / temperature - most - Math.log(total), 3);
  });

  it('decides the same whether alone or among others', async () => {
    const together = await act('generate-admissible', 1, 5);
    for (const [i, input] of inputs.entries()) {
      const [alone] = await policy.act([input], [randomStream(5, i)]);
      expect(alone!.replyTokens).toEqual(together[i]!.replyTokens);
      expect(alone!.logProb).toBeCloseTo(together[i]!.logProb, 4);
    }
  });

  it('plays episodes, and counts the prompts that it cut', async () => {
    policy.head = 'generate-admissible';
    policy.temperature = 1;
    const before = policy.cuts.prompts;
    const environment = new RoomsEnvironment();
    const { batch, decisions, outcomes } = await collectRollouts({
      environment: () => new RoomsEnvironment(),
      policy,
      episodes: firstEpisodes(environment, 'seen', 2, { preset: 'S', stepLimit: 5 }),
      groupSize: 2,
      memory: 2,
      seed: 1,
    });
    expect(outcomes.every(({ invalidSteps }) => invalidSteps === 0)).toBe(true);
    expect(batch.rowCount).toBe(decisions.length);
    expect(policy.cuts).toEqual({
      prompts: before + batch.rowCount,
      historyEntries: 0,
      shortenedTitles: 0,
      admissibleLists: 0,
    });
    const keys = batch.promptKeys.values;
    expect(new Set(decisions.map(({ promptKey }) => promptKey))).toEqual(new Set(keys));
  });

  it('stops when it is told to', async () => {
    const stop = AbortSignal.abort(new Error('stopped'));
    await expect(policy.act(inputs, streams(0), stop)).rejects.toThrow('stopped');
  });
});

describe('a draw from logits', () => {
  const logits = [1, 3, 3, -2];

  it('follows the softmax at any temperature', () => {
    for (const temperature of [0.5, 1, 4]) {
      const weights = logits.map((x) => Math.exp(x / temperature));
      const total = weights.reduce((a, b) => a + b);
      const counts = logits.map(() => 0);
      const stream = randomStream(1, 'draws');
      for (let i = 0; i < 20_000; i++) {
        const { index, logProb } = drawFromLogits(logits, temperature, stream);
        counts[index]!++;
        if (i < 20) expect(logProb).toBeCloseTo(Math.log(weights[index]! / total), 10);
      }
      // Three standard errors of a share of 20,000 draws are at most 1.1 points.
      counts.forEach((count, i) => expect(Math.abs(count / 20_000 - weights[i]! / total)).toBeLessThan(0.011));
    }
  });

  it('takes the first of the likeliest at temperature 0', () => {
    expect(drawFromLogits(logits, 0, randomStream(1))).toEqual({ index: 1, logProb: 0 });
  });
});
