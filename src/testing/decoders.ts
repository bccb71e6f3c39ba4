import { randomStream } from '../random/stream.ts';
import type { ModelConfig } from '../policy/config.ts';
import { writeDecoder } from '../policy/onnx/decoderFile.ts';
import { DecoderSession, type OnnxProvider } from '../policy/onnx/decoderSession.ts';
import { denseWeights, quantizeWeights, type StoredWeights } from '../policy/storedWeights.ts';
import { initialWeights, type Weights } from '../policy/weights.ts';
import { twinLogits } from './decoderTwin.ts';

/** The shape of the policies that the page ships. */
export const shippedSize: ModelConfig = {
  hiddenSize: 64,
  layers: 2,
  heads: 4,
  kvHeads: 2,
  headSize: 16,
  ffnSize: 192,
  vocabSize: 145,
  contextLength: 64,
  ropeTheta: 10000,
  normEpsilon: 1e-6,
  tiedEmbedding: true,
};

/** No size is a multiple of a block, rows have an odd number of blocks, the head is a matrix of its own. */
export const oddSizes: ModelConfig = {
  ...shippedSize,
  hiddenSize: 72,
  heads: 3,
  kvHeads: 1,
  headSize: 24,
  ffnSize: 100,
  vocabSize: 37,
  tiedEmbedding: false,
};

/** Weights as far from zero as trained ones; biases and gains are drawn too, so that a term left out shows. */
export function randomWeights(config: ModelConfig): Weights {
  const known = drawn.get(config);
  if (known) return known;
  const weights = new Map(initialWeights(config, 3, 0.2));
  for (const [name, { shape, data }] of weights) {
    const stream = randomStream(3, 'small', name);
    if (shape.length === 1) weights.set(name, { shape, data: data.map((v) => v + 0.3 * stream.nextNormal()) });
  }
  drawn.set(config, weights);
  return weights;
}
const drawn = new Map<ModelConfig, Weights>();

export function storedRandomWeights(
  config: ModelConfig,
  format: 'float32' | 'int8' | 'q4' | 'q4 without zero points',
): StoredWeights {
  const weights = randomWeights(config);
  if (format === 'float32') return weights;
  return quantizeWeights(config, weights, { bits: format === 'int8' ? 8 : 4, zeroPoints: format === 'q4' });
}

/**
 * The largest difference between the logits of an exported decoder in ONNX Runtime and those of the double-precision
 * twin on the same (dequantized) weights: three prompts of different lengths in one batch, padded on the left, then two
 * tokens more for each from the cache.
 */
export async function exportError(
  config: ModelConfig,
  weights: StoredWeights,
  provider: OnnxProvider = { name: 'wasm' },
): Promise<number> {
  const prompts = [
    [5, 9, 2, 30, 7, 7, 1, 12],
    [3, 4],
    [36, 0, 11, 25, 18],
  ];
  const replies = [
    [8, 1],
    [9, 2],
    [10, 3],
  ];
  const rows = prompts.length;
  const columns = Math.max(...prompts.map((prompt) => prompt.length));
  const session = await DecoderSession.open(writeDecoder(config, weights), config, { provider });
  const leftPadded = prompts.map((prompt) => [...new Array<number>(columns - prompt.length).fill(0), ...prompt]);
  const maskWith = (extra: number) =>
    Uint8Array.from(
      prompts.flatMap((prompt) =>
        Array.from({ length: columns + extra }, (_, column) => (column < columns - prompt.length ? 0 : 1)),
      ),
    );
  const outputs = [await session.run({ rows, ids: Int32Array.from(leftPadded.flat()), mask: maskWith(0) })];
  for (const step of [0, 1]) {
    const ids = Int32Array.from(replies, (reply) => reply[step]!);
    outputs.push(await session.run({ rows, ids, mask: maskWith(step + 1), cache: outputs[step]!.cache }));
  }
  await session.close();

  const floats = denseWeights(weights);
  let worst = 0;
  prompts.forEach((prompt, row) => {
    const expected = twinLogits(config, floats, [...prompt, ...replies[row]!]);
    expected.forEach((logits, t) => {
      const after = t - prompt.length;
      const { logits: got } = outputs[Math.max(0, after + 1)]!;
      const at = after < 0 ? row * columns + columns - prompt.length + t : row;
      logits.forEach((value, token) => {
        const miss = Math.abs(value - got[at * config.vocabSize + token]!);
        worst = Number.isNaN(miss) ? Infinity : Math.max(worst, miss);
      });
    });
  });
  return worst;
}
