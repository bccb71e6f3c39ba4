import { env, InferenceSession, Tensor } from 'onnxruntime-web/wasm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Gpu } from '../../gpu/device.ts';
import { attention } from '../../gpu/kernels/attention.ts';
import { embedding } from '../../gpu/kernels/embedding.ts';
import { linear } from '../../gpu/kernels/linear.ts';
import { rotary, rotaryTable } from '../../gpu/kernels/rotary.ts';
import { BLOCK, blocksPerRow, type QuantizedMatrix, type WeightOperand } from '../../gpu/quantized.ts';
import { placeOfTokens } from '../../gpu/ragged.ts';
import { evaluate, largestErrors, randomFloats, RELATIVE_TOLERANCE } from '../../gpu/selftest.ts';
import { DEFAULT_VARIANTS } from '../../gpu/variants.ts';
import { randomStream } from '../../random/stream.ts';
import { openTestGpu } from '../../testing/gpu.ts';
import { quantize, zeroPointBytesPerRow } from '../quantization.ts';
import { GraphBuilder, MICROSOFT_DOMAIN } from './graph.ts';

// The engine's kernels against ONNX Runtime (WebAssembly), operator by operator: two implementations that share no code.
let gpu: Gpu;
beforeAll(async () => {
  env.wasm.numThreads = 1;
  gpu = await openTestGpu();
});
afterAll(() => gpu.destroy());

async function runGraph(g: GraphBuilder, feeds: Record<string, Tensor>, output: string): Promise<Float32Array> {
  const session = await InferenceSession.create(g.file('operator'), {
    executionProviders: ['wasm'],
    logSeverityLevel: 3,
  });
  const results = await session.run(feeds, [output]);
  await session.release();
  return results[output]!.data as Float32Array;
}

function expectAgreement(name: string, actual: Float32Array, expected: Float32Array): void {
  expect(largestErrors({ name, actual, expected }).relative).toBeLessThan(RELATIVE_TOLERANCE);
}

const layouts = [
  { bits: 4, zeroPoints: true },
  { bits: 4, zeroPoints: false },
  { bits: 8, zeroPoints: false },
] as const;

/** The codes as constants of a graph, block by block or in one row each. */
function constants(g: GraphBuilder, matrix: QuantizedMatrix, layout: 'blocks' | 'flat'): string[] {
  const { bits, rows, columns } = matrix;
  const blocks = blocksPerRow(columns);
  const blockBytes = (BLOCK * bits) / 8;
  const names = [
    g.constant(
      'codes',
      'uint8',
      layout === 'flat' ? [rows, blocks * blockBytes] : [rows, blocks, blockBytes],
      matrix.codes,
    ),
    g.constant('scales', 'float32', [rows, blocks], matrix.scales),
  ];
  const { zeroPoints } = matrix;
  if (zeroPoints === null) return names;
  return [...names, g.constant('zero_points', 'uint8', [rows, zeroPointBytesPerRow(columns, bits)], zeroPoints)];
}

function operand(
  matrix: QuantizedMatrix,
  buffers: Record<'values' | 'scales' | 'zeroPoints', WeightOperand['values']>,
) {
  const { values, scales, zeroPoints } = buffers;
  return {
    format: `int${matrix.bits}`,
    values,
    scales,
    zeroPoints: matrix.zeroPoints ? zeroPoints : undefined,
  } satisfies WeightOperand;
}

it.each(layouts)('the product with a quantized matrix is that of MatMulNBits: %o', async (layout) => {
  const random = randomStream(1, 'matmul', layout.bits);
  const [rows, inner, columns] = [21, 70, 45];
  const x = randomFloats(random, rows * inner);
  const matrix = quantize(randomFloats(random, columns * inner), columns, inner, layout);

  const g = new GraphBuilder();
  g.input('x', 'float32', [rows, inner]);
  g.node('y', 'MatMulNBits', ['x', ...constants(g, matrix, 'blocks')], {
    domain: MICROSOFT_DOMAIN,
    attributes: { K: inner, N: columns, bits: layout.bits, block_size: BLOCK },
  });
  g.output('y', 'float32', [rows, columns]);
  const expected = await runGraph(g, { x: new Tensor('float32', x, [rows, inner]) }, 'y');

  const { y } = await evaluate(
    gpu,
    { x, values: matrix.codes, scales: matrix.scales, zeroPoints: matrix.zeroPoints ?? 1, y: rows * columns },
    ({ x: input, y: output, ...weight }) =>
      linear(DEFAULT_VARIANTS, { x: input, y: output, weight: operand(matrix, weight), rows, inner, columns }),
    ['y'],
  );
  expectAgreement('y', y, expected);
});

it.each(layouts)('rows of a quantized embedding are those of GatherBlockQuantized: %o', async (layout) => {
  const random = randomStream(1, 'embedding', layout.bits);
  const [rows, vocabulary, width] = [19, 45, 96];
  const tokens = Uint32Array.from({ length: rows }, () => random.below(vocabulary));
  const matrix = quantize(randomFloats(random, vocabulary * width), vocabulary, width, layout);

  const g = new GraphBuilder();
  g.input('tokens', 'int64', [rows]);
  const [codes, ...rest] = constants(g, matrix, 'flat');
  g.node('x', 'GatherBlockQuantized', [codes!, 'tokens', ...rest], {
    domain: MICROSOFT_DOMAIN,
    attributes: { bits: layout.bits, block_size: BLOCK, gather_axis: 0, quantize_axis: 1 },
  });
  g.output('x', 'float32', [rows, width]);
  const ids = new Tensor('int64', BigInt64Array.from(tokens, BigInt), [rows]);
  const expected = await runGraph(g, { tokens: ids }, 'x');

  const { x } = await evaluate(
    gpu,
    { tokens, values: matrix.codes, scales: matrix.scales, zeroPoints: matrix.zeroPoints ?? 1, x: rows * width },
    ({ tokens: ids, x: output, ...weight }) =>
      embedding({ tokens: ids, x: output, weight: operand(matrix, weight), rows, width }),
    ['x'],
  );
  expectAgreement('x', x, expected);
});

it('rotary positions and attention of sequences of different lengths are those of RotaryEmbedding and GroupQueryAttention', async () => {
  const random = randomStream(1, 'attention');
  const shape = { heads: 6, kvHeads: 2, headSize: 16 };
  const { heads, kvHeads, headSize } = shape;
  const base = 10_000;
  const lengths = [1, 23, 8];
  const sequenceStart = Uint32Array.from([0, 1, 24, 32]);
  const tokens = 32;
  const width = (heads + 2 * kvHeads) * headSize;
  const qkv = randomFloats(random, tokens * width);

  const { out } = await evaluate(
    gpu,
    {
      qkv,
      table: rotaryTable(64, headSize, base),
      place: placeOfTokens(sequenceStart),
      sequenceStart,
      out: tokens * heads * headSize,
      logSumExp: tokens * heads,
    },
    (buffers) => [
      rotary({ ...buffers, rows: tokens, shape }),
      attention(DEFAULT_VARIANTS, { ...buffers, sequences: lengths.length, longest: Math.max(...lengths), shape }),
    ],
    ['out'],
  );

  for (const [s, length] of lengths.entries()) {
    const part = (first: number, count: number) =>
      Float32Array.from({ length: length * count }, (_, i) => {
        const token = sequenceStart[s]! + Math.floor(i / count);
        return qkv[token * width + first + (i % count)]!;
      });
    const [q, k] = [heads * headSize, kvHeads * headSize];
    const half = headSize / 2;
    const angles = Array.from({ length: 64 * half }, (_, i) => Math.floor(i / half) * base ** (-(i % half) / half));

    const g = new GraphBuilder();
    g.input('q', 'float32', [1, length, q]);
    for (const name of ['k', 'v']) g.input(name, 'float32', [1, length, k]);
    g.constant(
      'positions',
      'int64',
      [1, length],
      BigInt64Array.from({ length }, (_, i) => BigInt(i)),
    );
    g.constant('cosines', 'float32', [64, half], Float32Array.from(angles, Math.cos));
    g.constant('sines', 'float32', [64, half], Float32Array.from(angles, Math.sin));
    g.constant('last', 'int32', [1], Int32Array.of(length - 1));
    g.constant('total', 'int32', [], Int32Array.of(length));
    const rotated = (name: string, count: number) =>
      g.node(`${name}_rotated`, 'RotaryEmbedding', [name, 'positions', 'cosines', 'sines'], {
        domain: MICROSOFT_DOMAIN,
        attributes: { num_heads: count, rotary_embedding_dim: headSize, interleaved: 0 },
      });
    g.node('out', 'GroupQueryAttention', [rotated('q', heads), rotated('k', kvHeads), 'v', '', '', 'last', 'total'], {
      domain: MICROSOFT_DOMAIN,
      attributes: { num_heads: heads, kv_num_heads: kvHeads },
      outputs: ['out', 'key', 'value'],
    });
    g.output('out', 'float32', [1, length, q]);
    for (const name of ['key', 'value']) g.output(name, 'float32', [1, kvHeads, length, headSize]);
    const feed = (first: number, count: number) => new Tensor('float32', part(first, count), [1, length, count]);
    const expected = await runGraph(g, { q: feed(0, q), k: feed(q, k), v: feed(q + k, k) }, 'out');
    expectAgreement('out', out.slice(sequenceStart[s]! * q, sequenceStart[s + 1]! * q), expected);
  }
});
