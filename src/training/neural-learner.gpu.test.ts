import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Gpu } from '../gpu/device.ts';
import { DEFAULT_VARIANTS } from '../gpu/variants.ts';
import type { ModelDescription } from '../policy/model-folder.ts';
import { quantizeWeights } from '../policy/quantization.ts';
import { randomWeights } from '../testing/decoders.ts';
import { openTestGpu } from '../testing/gpu.ts';
import { untrainedPolicy } from '../testing/policy-models.ts';
import type { TextDecision } from '../policy/text-policy.ts';
import { decodeCheckpoint, encodeCheckpoint } from './checkpoint.ts';
import { LearnerStateError } from './learner.ts';
import { NeuralLearner, variantsOfState, weightsOfState, type NeuralLearnerOptions } from './neural-learner.ts';
import { toySettings, tuningModes, type RunSettings } from './run-settings.ts';
import { Trainer } from './trainer.ts';

const described = untrainedPolicy('rooms');
const model: ModelDescription = {
  ...described,
  config: { ...described.config, hiddenSize: 16, layers: 1, heads: 2, kvHeads: 1, headSize: 8, ffnSize: 24 },
};
// Larger than trained ones, so that the policy is no uniform one and a step shows.
const dense = randomWeights(model.config);
const stored = { lora: quantizeWeights(model.config, dense, { bits: 4, zeroPoints: true }), full: dense };

let gpu: Gpu;
beforeAll(async () => {
  gpu = await openTestGpu();
});
afterAll(() => {
  gpu.destroy();
});

function runOf(method: string, options: Record<string, unknown> = {}): RunSettings {
  const small = { K: 2, groups: 3, groupSize: method === 'ppo' ? 1 : 3, stepLimit: 5, iterations: 2, miniBatch: 12 };
  return {
    settings: toySettings({ method, options: { ...small, ...options } }, 'neural'),
    environment: 'rooms',
    preset: 'XS',
    policyKind: 'neural',
    memory: 2,
    seed: 4,
    split: 'train',
    episodes: null,
    validationInterval: 0,
    validationEpisodes: 0,
    stop: { success: null, minutes: null },
  };
}

async function trained<T>(
  run: RunSettings,
  options: NeuralLearnerOptions,
  work: (trainer: Trainer<TextDecision>, learner: NeuralLearner) => Promise<T>,
): Promise<T> {
  const weights = stored[options.tuning ?? 'lora'];
  const learner = await NeuralLearner.create(gpu, { ...model, weights }, { variants: DEFAULT_VARIANTS, ...options });
  try {
    // A clock that stands still: times are not part of what these tests compare.
    return await work(new Trainer<TextDecision>(run, learner, () => 0), learner);
  } finally {
    await learner.close();
  }
}

describe.each(tuningModes)('%s tuning', (tuning) => {
  test('begins with an importance ratio of 1 as far as decoding and training pass agree, no clipping and no distance to the reference', async () => {
    const metrics = await trained(runOf('hgpo', { miniBatch: 1000 }), { tuning }, (trainer) => trainer.runIteration());
    expect([metrics.clipFraction, metrics.kl]).toEqual([0, 0]);
    expect(Math.abs(metrics.ratioMin - 1)).toBeLessThan(1e-4);
    expect(Math.abs(metrics.ratioMax - 1)).toBeLessThan(1e-4);
  });

  test('goes on from a checkpoint as if it had never stopped', async () => {
    const run = runOf('grpo', { klCoefficient: 0.1, entropyCoefficient: 0.05 });
    const [bytes, unbroken] = await trained(run, { tuning }, async (trainer) => {
      await trainer.runIteration();
      const saved = encodeCheckpoint(await trainer.save());
      const { gradientNorm } = await trainer.runIteration();
      // An untrained policy may win nowhere; the entropy bonus moves it all the same.
      expect(gradientNorm).toBeGreaterThan(0);
      return [saved, encodeCheckpoint(await trainer.save())];
    });
    const resumed = await trained(run, { tuning }, async (trainer) => {
      await trainer.restore(decodeCheckpoint(bytes));
      await trainer.runIteration();
      return encodeCheckpoint(await trainer.save());
    });
    expect(resumed).toEqual(unbroken);
  });
});

test.each([
  { tuning: 'lora', valueHead: true, head: 'generate-admissible' },
  { tuning: 'full', valueHead: false, head: 'generate' },
] as const)('the weights of a state need no device and know what they were trained from: %j', async (options) => {
  const base = { ...model, weights: stored[options.tuning] };
  await trained(
    runOf(options.valueHead ? 'ppo' : 'grpo', { entropyCoefficient: 0.05 }),
    options,
    async (trainer, learner) => {
      await trainer.runIteration();
      const { learner: state } = await trainer.save();
      expect(weightsOfState(state, base, options)).toEqual(await learner.weights());
      expect(weightsOfState(state, base, { ...options, valueHead: !options.valueHead })).toBeNull();
    },
  );
});

test('a run does not go on with another policy or another way of training', async () => {
  const run = runOf('grpo');
  const state = await trained(run, { tuning: 'lora' }, (trainer) => trainer.save());
  for (const options of [{ tuning: 'full' }, { tuning: 'lora', valueHead: true }] as const) {
    const refusal = trained(run, options, (trainer) => trainer.restore(state));
    await expect(refusal).rejects.toThrow(LearnerStateError);
  }
});

test('a run goes on with the kernel variants that it was begun with, and with no others', async () => {
  const variants = { ...DEFAULT_VARIANTS, attentionTile: 2 } as const;
  const run = runOf('grpo');
  const { learner: state, ...rest } = await trained(run, { variants }, (trainer) => trainer.save());
  expect(variantsOfState(state)).toEqual(variants);
  await trained(run, { variants: variantsOfState(state) }, (trainer) => trainer.restore({ ...rest, learner: state }));
  const refusal = trained(run, {}, (trainer) => trainer.restore({ ...rest, learner: state }));
  await expect(refusal).rejects.toThrow(/attentionTile=2 and goes on with those alone/);
  // States from before variants were recorded were made with the defaults.
  const { variants: _record, ...unrecorded } = state;
  await trained(run, {}, (trainer) => trainer.restore({ ...rest, learner: unrecorded }));
  expect(() => variantsOfState({ variants: 'attentionTile=3' })).toThrow(LearnerStateError);
});

test.each(['ppo', 'gspo'])('%s runs a whole iteration with finite figures', async (method) => {
  const options = { tuning: 'lora', valueHead: method === 'ppo', head: 'generate' } as const;
  await trained(runOf(method, { entropyCoefficient: 0.05 }), options, async (trainer, learner) => {
    const before = await learner.weights();
    const metrics = await trainer.runIteration();
    for (const [name, value] of Object.entries(metrics)) {
      if (typeof value === 'number') expect(Number.isFinite(value), `${name} = ${value}`).toBe(true);
    }
    if (method === 'ppo') expect(metrics.valueLoss).toBeGreaterThan(0);
    expect(metrics.gradientNorm).toBeGreaterThan(0);
    expect(await learner.weights()).not.toEqual(before);
  });
});
