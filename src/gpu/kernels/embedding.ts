import gradientSource from '../../../shaders/embedding-gradient.wgsl?raw';
import embeddingSource from '../../../shaders/embedding.wgsl?raw';
import indexSource from '../../../shaders/index.wgsl?raw';
import type { Binding } from '../buffer.ts';
import type { Kernel } from '../kernel.ts';
import { linearWorkgroups, valueOf, WORKGROUP, type Count, type Dispatch } from '../program.ts';
import {
  dequantize,
  randomQuantized,
  weightBindings,
  weightConstants,
  weightSource,
  type WeightOperand,
} from '../quantized.ts';
import { evaluate, kernelTest, randomFloats } from '../selftest.ts';

const kernelOf = (format: WeightOperand['format']): Kernel => ({
  name: `embedding-${format}`,
  source: indexSource + weightSource(format) + embeddingSource,
});
const forward = { f32: kernelOf('f32'), int8: kernelOf('int8'), int4: kernelOf('int4') };
const tableGradient: Kernel = { name: 'embedding-gradient', source: indexSource + gradientSource };

/** x[t] = E[token[t]]. */
export function embedding(operands: {
  /** [rows] */
  readonly tokens: Binding;
  /** [vocabulary, width] */
  readonly weight: WeightOperand;
  /** [rows, width] */
  readonly x: Binding;
  readonly rows: Count;
  readonly width: number;
}): Dispatch {
  const { tokens, weight, x, rows, width } = operands;
  return {
    kernel: forward[weight.format],
    constants: { WORKGROUP, ...weightConstants(weight, width) },
    bindings: { tokens, x, ...weightBindings(weight) },
    parameters: { rows, width },
    workgroups: () => linearWorkgroups(valueOf(rows) * Math.ceil(width / 4)),
  };
}

/** dE[token[t]] += dx[t], without atomics: `order` and `segments` come from `positionsByToken`. */
export function embeddingGradient(operands: {
  /** [rows, width] */
  readonly dx: Binding;
  /** [rows] */
  readonly order: Binding;
  /** [distinct + 1, 2] */
  readonly segments: Binding;
  /** [vocabulary, width], added to */
  readonly dEmbedding: Binding;
  readonly distinct: Count;
  readonly width: number;
}): Dispatch {
  const { dx, order, segments, dEmbedding, distinct, width } = operands;
  return {
    kernel: tableGradient,
    constants: { WORKGROUP },
    bindings: { dx, order, segments, dEmbedding },
    parameters: { distinct, width },
    workgroups: () => linearWorkgroups(valueOf(distinct) * width),
  };
}

/** Positions sorted by token (stable), and where each token's positions begin: what `embeddingGradient` adds up. */
export function positionsByToken(tokens: Uint32Array, vocabulary: number) {
  const starts = new Uint32Array(vocabulary + 1);
  for (const token of tokens) starts[token + 1]!++;
  let distinct = 0;
  for (let v = 0; v < vocabulary; v++) {
    if (starts[v + 1]! > 0) distinct++;
    starts[v + 1]! += starts[v]!;
  }
  const segments = new Uint32Array(2 * (distinct + 1));
  let at = 0;
  for (let v = 0; v < vocabulary; v++) {
    if (starts[v + 1] === starts[v]) continue;
    segments[at++] = v;
    segments[at++] = starts[v]!;
  }
  segments[at + 1] = tokens.length;
  const next = starts.slice(0, vocabulary);
  const order = new Uint32Array(tokens.length);
  tokens.forEach((token, position) => {
    order[next[token]!++] = position;
  });
  return { order, segments, distinct };
}

/** Twin of shaders/embedding.wgsl: x [rows, width]. */
export function embeddingTwin(table: ArrayLike<number>, tokens: ArrayLike<number>, width: number): Float64Array {
  return Float64Array.from({ length: tokens.length * width }, (_, i) => {
    return table[tokens[Math.floor(i / width)]! * width + (i % width)]!;
  });
}

/** Twin of shaders/embedding-gradient.wgsl: dE [vocabulary, width]. */
export function embeddingGradientTwin(
  dx: ArrayLike<number>,
  tokens: ArrayLike<number>,
  vocabulary: number,
  width: number,
) {
  const gradient = new Float64Array(vocabulary * width);
  for (let i = 0; i < tokens.length * width; i++) {
    gradient[tokens[Math.floor(i / width)]! * width + (i % width)]! += dx[i]!;
  }
  return gradient;
}

export const embeddingTest = kernelTest(
  'embedding',
  [
    { format: 'f32', rows: 1, vocabulary: 1, width: 4 },
    { format: 'f32', rows: 70, vocabulary: 19, width: 37 },
    { format: 'int8', rows: 21, vocabulary: 45, width: 70 },
    { format: 'int4', rows: 21, vocabulary: 45, width: 70 },
    { format: 'int4+zero', rows: 21, vocabulary: 45, width: 100 },
    { format: 'int8+zero', rows: 21, vocabulary: 45, width: 100 },
  ] as const,
  ({ format, rows, vocabulary, width }) => ({
    async compare(gpu, random) {
      const bits = format.startsWith('int8') ? 8 : 4;
      const quantized =
        format === 'f32' ? null : randomQuantized(random, bits, vocabulary, width, format.endsWith('zero'));
      const table = quantized ? dequantize(quantized) : randomFloats(random, vocabulary * width);
      const tokens = Uint32Array.from({ length: rows }, () => random.below(vocabulary));
      const dx = randomFloats(random, rows * width);
      const before = randomFloats(random, vocabulary * width);
      const { order, segments, distinct } = positionsByToken(tokens, vocabulary);
      const result = await evaluate(
        gpu,
        {
          tokens,
          values: quantized?.codes ?? table,
          scales: quantized?.scales ?? 1,
          zeroPoints: quantized?.zeroPoints ?? 1,
          x: rows * width,
          dx,
          order,
          segments,
          dEmbedding: before,
        },
        (buffers) => [
          embedding({
            ...buffers,
            weight: {
              format: quantized ? `int${quantized.bits}` : 'f32',
              values: buffers.values,
              scales: quantized ? buffers.scales : undefined,
              zeroPoints: quantized?.zeroPoints ? buffers.zeroPoints : undefined,
            },
            rows,
            width,
          }),
          embeddingGradient({ ...buffers, distinct, width }),
        ],
        ['x', 'dEmbedding'],
      );
      return [
        { name: 'x', actual: result.x, expected: embeddingTwin(table, tokens, width) },
        {
          name: 'dEmbedding',
          actual: result.dEmbedding,
          expected: embeddingGradientTwin(dx, tokens, vocabulary, width).map((value, i) => value + before[i]!),
        },
      ];
    },
    gradient(random) {
      const tokens = Uint32Array.from({ length: rows }, () => random.below(vocabulary));
      const dx = randomFloats(random, rows * width);
      return {
        inputs: { table: randomFloats(random, vocabulary * width) },
        output: ({ table }) => embeddingTwin(table, tokens, width),
        outputGradient: dx,
        gradients: { table: embeddingGradientTwin(dx, tokens, vocabulary, width) },
      };
    },
  }),
);
