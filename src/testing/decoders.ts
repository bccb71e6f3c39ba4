import { randomStream } from '../random/stream.ts';
import { decoderTwin } from '../gpu/decoder-twin.ts';
import type { DecoderConfig, ModelWeights } from '../gpu/decoder.ts';
import { writeDecoder } from '../policy/onnx/decoder-file.ts';
import { DecoderSession, type OnnxProvider } from '../policy/onnx/decoder-session.ts';
import { quantizeWeights } from '../policy/quantization.ts';
import { initialWeights, type Weights } from '../policy/weights.ts';

/** The shape of the policies that the page ships. */
export const shippedSize: DecoderConfig = {
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
};

/** No size is a multiple of a block, and rows have an odd number of blocks. */
export const oddSizes: DecoderConfig = {
  ...shippedSize,
  hiddenSize: 72,
  heads: 3,
  kvHeads: 1,
  headSize: 24,
  ffnSize: 100,
  vocabSize: 37,
};

/** Weights as far from zero as trained ones; biases and gains are drawn too, so that a term left out shows. */
export function randomWeights(config: DecoderConfig): Weights {
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
const drawn = new Map<DecoderConfig, Weights>();

export function storedRandomWeights(
  config: DecoderConfig,
  format: 'float32' | 'int8' | 'q4' | 'q4 without zero points',
): ModelWeights {
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
  config: DecoderConfig,
  weights: ModelWeights,
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

  let worst = 0;
  prompts.forEach((prompt, row) => {
    const expected = twinLogits(config, weights, [...prompt, ...replies[row]!]);
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

/** [tokens][vocabulary] logits of one sequence in double precision. */
export function twinLogits(config: DecoderConfig, weights: ModelWeights, tokens: readonly number[]): Float64Array[] {
  const { logits } = decoderTwin(
    config,
    weights,
    new Map(),
    { kind: 'frozen' },
    {
      tokens: Uint32Array.from(tokens),
      sequenceStart: Uint32Array.of(0, tokens.length),
      responseIndex: Uint32Array.from(tokens, (_, t) => t),
      targets: new Uint32Array(tokens.length),
    },
  );
  const { vocabSize } = config;
  return tokens.map((_, t) => logits.subarray(t * vocabSize, (t + 1) * vocabSize));
}
