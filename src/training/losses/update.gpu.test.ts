import { afterAll, beforeAll, expect, test } from 'vitest';
import { decoderTwin, randomWeights } from '../../gpu/decoder-twin.ts';
import type { DecoderConfig, TrainingMode } from '../../gpu/decoder.ts';
import type { Gpu } from '../../gpu/device.ts';
import { Generator } from '../../gpu/generate.ts';
import { PrefixTree } from '../../gpu/prefix-tree.ts';
import { Program } from '../../gpu/program.ts';
import { replyBatch } from '../../gpu/reply-batch.ts';
import { largestErrors, RELATIVE_TOLERANCE } from '../../gpu/selftest.ts';
import { ModelSession } from '../../gpu/session.ts';
import { randomStream } from '../../random/stream.ts';
import { openTestGpu } from '../../testing/gpu.ts';
import { tokenWeights } from './aggregation.ts';
import { POLICY_ROW_SUMS, policyFigures, policyLoss, policyTargets } from './policy-loss.ts';
import { objectiveAggregation, totalLoss, type PolicyObjective } from './total.ts';

// The losses inside the whole model: replies are drawn, their log-probabilities kept, and the gradient of every weight is
// that of the twin's forward pass, loss and backward pass in f64.

const config: DecoderConfig = {
  hiddenSize: 24,
  layers: 2,
  heads: 4,
  kvHeads: 2,
  headSize: 8,
  ffnSize: 40,
  vocabSize: 37,
  contextLength: 40,
  ropeTheta: 10_000,
  normEpsilon: 1e-6,
};
const END = 36;
const temperature = 0.9;
const weights = (() => {
  const random = randomStream(2, 'weights');
  return randomWeights(config, () => random.nextNormal());
})();
const mode: TrainingMode = {
  kind: 'lora',
  rank: 3,
  alpha: 6,
  targets: ['self_attn.q_proj', 'self_attn.v_proj', 'mlp.up_proj'],
};
const objective: PolicyObjective = {
  ratio: 'token',
  aggregation: 'seq-mean-token-mean',
  clipLow: 0.2,
  clipHigh: 0.28,
  dualClip: 3,
  logRatioClamp: 20,
  entropyCoefficient: 0.01,
  klKind: 'k3',
  klCoefficient: 0.1,
};

let gpu: Gpu;
let session: ModelSession;
let rollout: Rollout;
beforeAll(async () => {
  gpu = await openTestGpu();
  session = await ModelSession.create(gpu, config, weights, {
    mode,
    capacity: { tokens: 200, sequences: 8, responses: 60 },
  });
  // Adapters start as no change; small random ones make the policy differ from its reference.
  const random = randomStream(4, 'adapters');
  const adapters = await session.weights.read();
  for (const tensor of adapters.values()) tensor.data.forEach((_, i) => (tensor.data[i] = 0.3 * random.nextNormal()));
  session.weights.write(adapters);
  rollout = await rollOut();
});
afterAll(() => {
  session.destroy();
  gpu.destroy();
});

interface Rollout {
  readonly prompts: readonly Uint32Array[];
  readonly replies: readonly { readonly tokens: Uint32Array; readonly logProbs: Float32Array }[];
  readonly trees: readonly (PrefixTree | null)[];
  /** [rows] */
  readonly advantage: readonly number[];
}

async function rollOut(): Promise<Rollout> {
  const random = randomStream(3, 'prompts');
  const prompts = Array.from({ length: 7 }, () =>
    Uint32Array.from({ length: 2 + random.below(14) }, () => random.below(END)),
  );
  const trees = prompts.map((_, i) => {
    const commands = Array.from({ length: 5 }, () => [random.below(END), random.below(END), END]);
    return i % 3 === 0 ? null : new PrefixTree(commands);
  });
  const generator = await Generator.create(gpu, session.variants, session.weights, {
    sequences: 7,
    promptTokens: 120,
    capacity: 40,
  });
  const replies = await generator.generate({
    prompts,
    trees,
    streams: prompts.map((_, i) => randomStream(7, i)),
    replyTokens: 8,
    temperature,
    endToken: END,
  });
  generator.destroy();
  return { prompts, trees, replies, advantage: prompts.map(() => random.nextNormal()) };
}

/** Rows of the rollout as a micro-batch, with what the losses need. */
function microBatch({ prompts, replies, trees, advantage }: Rollout, rows: readonly number[]) {
  const head = replyBatch(
    rows.map((row) => ({ prompt: prompts[row]!, reply: replies[row]!.tokens, tree: trees[row]! })),
    config.vocabSize,
    temperature,
  );
  const loss = {
    rowStart: head.rowStart,
    mask: new Float32Array(head.targets.length).fill(1),
    // Off by a little from what was drawn, as in a later update: some tokens are clipped.
    oldLogProb: rows.flatMap((row) =>
      Array.from(replies[row]!.logProbs, (logProb, k) => logProb + 0.3 * Math.sin(row + 5 * k)),
    ),
    advantage: rows.flatMap((row) => Array.from(replies[row]!.tokens, () => advantage[row]!)),
  };
  return { head, loss };
}

/** Forward passes of reference and policy, loss and backward pass; returns the loss's figures. */
async function accumulate({ head, loss }: ReturnType<typeof microBatch>, tokenWeight: ArrayLike<number>) {
  const rowCount = loss.rowStart.length - 1;
  const rowStart = gpu.upload('row starts', loss.rowStart);
  const targets = gpu.upload('policy targets', policyTargets(loss, tokenWeight));
  const rowSums = gpu.buffer('row sums', rowCount * POLICY_ROW_SUMS * 4);
  const { logProb, entropy, referenceLogProb, gradient } = session.head;
  const program = new Program(gpu, 'policy loss', [
    policyLoss({
      objective,
      rowStart,
      targets,
      logProb,
      entropy,
      refLogProb: referenceLogProb,
      gradient,
      rowSums,
      rows: rowCount,
    }),
  ]);
  session.load(head);
  session.forward('reference');
  session.forward();
  program.run();
  session.backward();
  const figures = policyFigures(await gpu.readFloats(rowSums), objective);
  program.destroy();
  for (const buffer of [rowStart, targets, rowSums]) buffer.destroy();
  return figures;
}

async function gradients(splits: readonly (readonly number[])[]) {
  const whole = microBatch(rollout, splits.flat());
  const tokenWeight = tokenWeights(objectiveAggregation(objective), whole.loss);
  session.weights.trainable!.gradient.clear();
  let at = 0;
  let loss = 0;
  for (const rows of splits) {
    const part = microBatch(rollout, rows);
    const tokens = part.loss.advantage.length;
    loss += (await accumulate(part, tokenWeight.subarray(at, at + tokens))).loss;
    at += tokens;
  }
  return { loss, gradient: await session.weights.read('gradient'), whole, tokenWeight };
}

const everyRow = [0, 1, 2, 3, 4, 5, 6];

test('the gradient of every adapter is that of the twin', async () => {
  const { loss, gradient, whole, tokenWeight } = await gradients([everyRow]);
  const twin = decoderTwin(config, weights, await session.weights.read(), mode, whole.head);
  const reference = decoderTwin(config, weights, new Map(), { kind: 'frozen' }, whole.head);
  const rows = { ...whole.loss, logProb: twin.logProb, entropy: twin.entropy, refLogProb: reference.logProb };
  const expected = totalLoss(rows, objective, tokenWeight);
  expect(Math.abs(loss - expected.loss)).toBeLessThan(1e-4 * Math.max(1, Math.abs(expected.loss)));
  expect(expected.metrics.clipFrac).toBeGreaterThan(0);
  const headGradient = Float64Array.from({ length: 2 * expected.gradient.length }, (_, i) =>
    i % 2 === 0 ? expected.gradient[i >> 1]! : expected.entropyGradient[i >> 1]!,
  );
  const byName = twin.backward(headGradient);
  expect(gradient.size).toBe(12);
  for (const [name, { data }] of gradient) {
    const { relative } = largestErrors({ name, actual: data, expected: byName.get(name)! });
    expect(relative, name).toBeLessThan(RELATIVE_TOLERANCE);
  }
});

test('how a mini-batch is split into micro-batches does not change its gradient', async () => {
  const whole = await gradients([everyRow]);
  const split = await gradients([[0, 1, 2, 3], [4], [5, 6]]);
  expect(Math.abs(split.loss - whole.loss)).toBeLessThan(1e-6);
  for (const [name, { data }] of whole.gradient) {
    const { relative } = largestErrors({ name, actual: split.gradient.get(name)!.data, expected: data });
    // Sums in another order, in f32.
    expect(relative, name).toBeLessThan(1e-5);
  }
});

test('the same rows twice give the same bits', async () => {
  const first = await gradients([
    [0, 1, 2],
    [3, 4, 5, 6],
  ]);
  expect(
    (
      await gradients([
        [0, 1, 2],
        [3, 4, 5, 6],
      ])
    ).gradient,
  ).toEqual(first.gradient);
});

test('old log-probabilities of the same forward pass give ratios of exactly 1, those of the rollout within 1e-4', async () => {
  const { head, loss } = microBatch(rollout, everyRow);
  const weight = tokenWeights('token-mean', loss);
  session.load(head);
  session.forward();
  const { logProb } = await session.readHead();
  const exact = await accumulate({ head, loss: { ...loss, oldLogProb: Array.from(logProb) } }, weight);
  expect(exact.metrics).toMatchObject({ ratioMin: 1, ratioMax: 1, ratioSpread: 0, clipFrac: 0, ppoKl: 0 });
  const kept = rollout.replies.flatMap(({ logProbs }) => [...logProbs]);
  const { metrics } = await accumulate({ head, loss: { ...loss, oldLogProb: kept } }, weight);
  expect(Math.abs(metrics.ratioMin - 1)).toBeLessThan(1e-4);
  expect(Math.abs(metrics.ratioMax - 1)).toBeLessThan(1e-4);
});
