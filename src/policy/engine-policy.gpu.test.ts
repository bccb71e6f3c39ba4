import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Gpu } from '../gpu/device.ts';
import { randomStream } from '../random/stream.ts';
import type { PolicyInput } from '../rollouts/policy.ts';
import { randomWeights } from '../testing/decoders.ts';
import { openTestGpu } from '../testing/gpu.ts';
import { untrainedPolicy } from '../testing/policy-models.ts';
import { randomInputs } from '../testing/random-play.ts';
import { modelFolderFiles, readModelFolder, weightFormats, type WeightFormat } from './model-folder.ts';
import { openOnnxPolicy } from './onnx/open-onnx-policy.ts';
import { openEnginePolicy } from './open-engine-policy.ts';
import type { Head, TextPolicy } from './text-policy.ts';

// The engine beside ONNX Runtime on the same file: two implementations that share the prompt and nothing else.

const model = untrainedPolicy('rooms');
const files = modelFolderFiles(model, randomWeights(model.config), '');
const inputs = [...randomInputs('rooms', 'S', 24, 3)] as PolicyInput[];

let gpu: Gpu;
beforeAll(async () => {
  gpu = await openTestGpu();
});
afterAll(() => {
  gpu.destroy();
});

const folderOf = (format: WeightFormat) => readModelFolder(async (path) => files.get(path) ?? null, format);

async function withEngine<T>(
  format: WeightFormat,
  options: { head: Head; temperature: number },
  work: (policy: TextPolicy) => Promise<T>,
): Promise<T> {
  const { policy, close } = await openEnginePolicy(gpu, 'engine', await folderOf(format), options);
  try {
    return await work(policy);
  } finally {
    await close();
  }
}

const streamsOf = (count: number) => Array.from({ length: count }, (_, i) => randomStream(1, i));

describe.each(weightFormats)('the engine on %s weights', (format) => {
  test('takes greedily the commands that ONNX Runtime takes from the same file', async () => {
    const options = { head: 'generate-admissible', temperature: 0 } as const;
    const ours = await withEngine(format, options, (policy) => policy.act(inputs, streamsOf(inputs.length)));
    const { policy, close } = await openOnnxPolicy('onnx', await folderOf(format), options);
    const theirs = await policy.act(inputs, streamsOf(inputs.length));
    await close();
    expect(ours.map(({ command }) => command)).toEqual(theirs.map(({ command }) => command));
  });
});

test('scores of whole commands are those of ONNX Runtime', async () => {
  const options = { head: 'choose', temperature: 1 } as const;
  const few = inputs.slice(0, 6);
  const ours = await withEngine('q4', options, (policy) => policy.act(few, streamsOf(6)));
  const { policy, close } = await openOnnxPolicy('onnx', await folderOf('q4'), options);
  const theirs = await policy.act(few, streamsOf(6));
  await close();
  ours.forEach(({ command, logProb }, i) => {
    expect(command).toBe(theirs[i]!.command);
    expect(Math.abs(logProb - theirs[i]!.logProb)).toBeLessThan(1e-3);
  });
});

test('a decision does not depend on what is decided beside it, and carries what training needs', async () => {
  await withEngine('q4', { head: 'generate-admissible', temperature: 0.8 }, async (policy) => {
    const together = await policy.act(inputs, streamsOf(inputs.length));
    const alone = await policy.act(inputs.slice(5, 6), [randomStream(1, 5)]);
    expect(alone[0]).toEqual(together[5]);
    for (const { replyTokens, tokenLogProbs, sequences, logProb } of together) {
      expect(tokenLogProbs).toHaveLength(replyTokens.length);
      expect(logProb).toBeLessThanOrEqual(0);
      expect(sequences!.map(String)).toContain(String(replyTokens));
    }
  });
});
