/** What generation is measured by, as it runs inside the process that holds the adapter (src/cli/bench/adapter-process.ts). */
import { randomWeights } from '../../gpu/decoder-twin.ts';
import { DecoderWeights, type DecoderConfig, type ModelWeights } from '../../gpu/decoder.ts';
import type { Gpu } from '../../gpu/device.ts';
import { Generator } from '../../gpu/generate.ts';
import { randomQuantized } from '../../gpu/quantized.ts';
import { chooseVariants } from '../../gpu/tune.ts';
import { randomStream } from '../../random/stream.ts';
import type { EngineTask } from './engine-tasks.ts';

const PROMPT_TOKENS = 96;
const REPLY_TOKENS = 32;

/** Matrices in 4-bit blocks, the rest dense: the format of the shipped policies. */
function drawWeights(config: DecoderConfig): ModelWeights {
  const random = randomStream(1, 'bench', 'generation');
  const weights = new Map(randomWeights(config, () => random.nextNormal()));
  const quantized = [...weights].map(([name, tensor]) => {
    const [rows, columns] = tensor.shape as [number, number];
    return [name, tensor.shape.length === 2 ? randomQuantized(random, 4, rows, columns, false) : tensor] as const;
  });
  return new Map(quantized);
}

/** A generator and a way to time replies of a length to `sequences` prompts of 96 tokens, in milliseconds. */
async function prepareGeneration(gpu: Gpu, config: DecoderConfig, sequences: number) {
  const weights = new DecoderWeights(gpu, config, drawWeights(config), { mode: { kind: 'frozen' } });
  const generator = await Generator.create(gpu, await chooseVariants(gpu), weights, {
    sequences,
    promptTokens: sequences * PROMPT_TOKENS + REPLY_TOKENS,
    capacity: PROMPT_TOKENS + REPLY_TOKENS,
  });
  const random = randomStream(2, 'bench', 'prompts');
  const prompts = Array.from({ length: sequences }, () =>
    Uint32Array.from({ length: PROMPT_TOKENS }, () => random.below(config.vocabSize)),
  );
  const streams = prompts.map((_, i) => randomStream(3, 'bench', i));
  return {
    // No token ends a reply, so that every step has all sequences.
    time: async (replyTokens: number) => {
      const start = performance.now();
      await generator.generate({ prompts, streams, replyTokens, temperature: 1, endToken: config.vocabSize });
      return performance.now() - start;
    },
    dispose: () => {
      generator.destroy();
      weights.destroy();
    },
  };
}

/** Prompt tokens a second until the first token of each reply is drawn and read. */
function prefill(config: DecoderConfig): EngineTask {
  return {
    unit: 'tokens/s',
    better: 'higher',
    repeats: 15,
    prepare: async (gpu) => {
      const { time, dispose } = await prepareGeneration(gpu, config, 1);
      return { run: async () => (PROMPT_TOKENS / (await time(1))) * 1000, dispose };
    },
  };
}

/** Tokens a second behind prompts of 96 tokens, the prefill's time taken off. */
function decode(config: DecoderConfig, sequences: number): EngineTask {
  return {
    unit: 'tokens/s',
    better: 'higher',
    repeats: 9,
    prepare: async (gpu) => {
      const { time, dispose } = await prepareGeneration(gpu, config, sequences);
      const run = async () => {
        const first = await time(1);
        return ((sequences * (REPLY_TOKENS - 1)) / ((await time(REPLY_TOKENS)) - first)) * 1000;
      };
      return { run, dispose };
    },
  };
}

/** For the size that ships, and for one six times as large. */
export const generationTasks = (shipped: DecoderConfig, larger: DecoderConfig): Record<string, EngineTask> => ({
  'engine.prefill': prefill(shipped),
  'engine.prefill.900k': prefill(larger),
  'engine.decode': decode(shipped, 1),
  'engine.decode.b128': decode(shipped, 128),
  'engine.decode.900k': decode(larger, 1),
});
