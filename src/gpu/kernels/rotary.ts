import indexSource from '../../../shaders/index.wgsl?raw';
import rotarySource from '../../../shaders/rotary.wgsl?raw';
import type { Binding } from '../buffer.ts';
import type { Kernel } from '../kernel.ts';
import { linearWorkgroups, valueOf, WORKGROUP, type Count, type Dispatch } from '../program.ts';
import { placeOfTokens } from '../ragged.ts';
import { evaluate, kernelTest, randomFloats } from '../selftest.ts';
import {
  attentionTwin,
  cachedAttention,
  randomSequences,
  type AttentionShape,
  type KeyValueCache,
} from './attention.ts';

const kernel: Kernel = { name: 'rotary', source: indexSource + rotarySource };

/** [positions, headSize / 2, 2] cosines and sines of the angles position · base^(−2i / headSize). */
export function rotaryTable(positions: number, headSize: number, base: number): Float32Array {
  const half = headSize / 2;
  const table = new Float32Array(positions * half * 2);
  for (let position = 0; position < positions; position++) {
    for (let i = 0; i < half; i++) {
      const angle = position * base ** (-i / half);
      table[(position * half + i) * 2] = Math.cos(angle);
      table[(position * half + i) * 2 + 1] = Math.sin(angle);
    }
  }
  return table;
}

/** Turns the queries and keys of each row by its position, in place; `inverse` turns back, which is the backward pass. */
export function rotary(operands: {
  /** [rows, (heads + 2 kvHeads) · headSize] queries, keys, values; in the backward pass their gradients */
  readonly qkv: Binding;
  /** from `rotaryTable`, with a row for each position that occurs */
  readonly table: Binding;
  /** [rows, 2] sequence and position of each row */
  readonly place: Binding;
  readonly rows: Count;
  readonly shape: AttentionShape;
  readonly inverse?: boolean;
  /** Also store keys and values; every position is then `step` further than `place` says. */
  readonly cache?: (KeyValueCache & { readonly step: Count }) | undefined;
}): Dispatch {
  const { qkv, table, place, rows, shape, inverse = false, cache } = operands;
  const half = shape.headSize / 2;
  return {
    kernel,
    constants: { WORKGROUP, HEADS: shape.heads, KV_HEADS: shape.kvHeads, HALF: half, CACHE: cache !== undefined },
    bindings: { qkv, table, place, ...(cache ? { cache: cache.keyValues } : {}) },
    parameters: {
      rows,
      direction: inverse ? -1 : 1,
      ...(cache ? { step: cache.step, capacity: cache.capacity } : {}),
    },
    workgroups: () => linearWorkgroups(valueOf(rows) * half),
  };
}

/** Twin in f64: the turned copy of qkv. */
export function rotaryTwin(
  qkv: ArrayLike<number>,
  sequenceStart: ArrayLike<number>,
  shape: AttentionShape,
  base: number,
  inverse = false,
): Float64Array {
  const { heads, kvHeads, headSize } = shape;
  const half = headSize / 2;
  const turned = Float64Array.from(qkv);
  for (let s = 0; s + 1 < sequenceStart.length; s++) {
    for (let token = sequenceStart[s]!; token < sequenceStart[s + 1]!; token++) {
      for (let i = 0; i < half; i++) {
        const angle = (inverse ? -1 : 1) * (token - sequenceStart[s]!) * base ** (-i / half);
        for (let head = 0; head < heads + kvHeads; head++) {
          const at = (token * (heads + 2 * kvHeads) + head) * headSize + i;
          turned[at] = qkv[at]! * Math.cos(angle) - qkv[at + half]! * Math.sin(angle);
          turned[at + half] = qkv[at + half]! * Math.cos(angle) + qkv[at]! * Math.sin(angle);
        }
      }
    }
  }
  return turned;
}

const base = 10_000;

export const rotaryTest = kernelTest(
  'rotary',
  [
    { heads: 1, kvHeads: 1, headSize: 2, sequences: 1, longest: 1 },
    { heads: 3, kvHeads: 1, headSize: 20, sequences: 7, longest: 13 },
    { heads: 4, kvHeads: 2, headSize: 16, sequences: 2, longest: 512 },
  ],
  ({ sequences, longest, ...shape }) => ({
    async compare(gpu, random) {
      const sequenceStart = randomSequences(random, sequences, longest);
      const tokens = sequenceStart[sequences]!;
      const qkv = randomFloats(random, tokens * (shape.heads + 2 * shape.kvHeads) * shape.headSize);
      const run = async (input: Float32Array, inverse: boolean) => {
        const result = await evaluate(
          gpu,
          {
            qkv: input,
            table: rotaryTable(longest, shape.headSize, base),
            place: placeOfTokens(sequenceStart),
          },
          (buffers) => rotary({ ...buffers, rows: tokens, shape, inverse }),
          ['qkv'],
        );
        return result.qkv;
      };
      const turned = await run(qkv, false);
      return [
        { name: 'turned', actual: turned, expected: rotaryTwin(qkv, sequenceStart, shape, base) },
        { name: 'turned back', actual: await run(turned, true), expected: qkv },
      ];
    },
    gradient(random) {
      const sequenceStart = randomSequences(random, Math.min(sequences, 2), Math.min(longest, 5));
      const count = sequenceStart.at(-1)! * (shape.heads + 2 * shape.kvHeads) * shape.headSize;
      const outputGradient = randomFloats(random, count);
      return {
        inputs: { qkv: randomFloats(random, count) },
        output: ({ qkv }) => rotaryTwin(qkv, sequenceStart, shape, base),
        outputGradient,
        gradients: { qkv: rotaryTwin(outputGradient, sequenceStart, shape, base, true) },
      };
    },
  }),
);

/** Keys and values stored by `rotary` and read by `cachedAttention`: the last token of each sequence against the whole. */
export const cachedAttentionTest = kernelTest(
  'cached-attention',
  [
    { heads: 1, kvHeads: 1, headSize: 4, sequences: 1, longest: 1, step: 0 },
    { heads: 6, kvHeads: 2, headSize: 20, sequences: 5, longest: 23, step: 0 },
    { heads: 4, kvHeads: 2, headSize: 16, sequences: 3, longest: 40, step: 7 },
  ],
  ({ sequences, longest, step, ...shape }) => ({
    async compare(gpu, random) {
      const sequenceStart = randomSequences(random, sequences, longest);
      // Every sequence is long enough to be `step` tokens further than its place says.
      for (let s = 0; s < sequences; s++) sequenceStart[s + 1]! += (s + 1) * step;
      const tokens = sequenceStart[sequences]!;
      const capacity = longest + step + 2;
      const row = (shape.heads + 2 * shape.kvHeads) * shape.headSize;
      const width = shape.heads * shape.headSize;
      const qkv = randomFloats(random, tokens * row);
      const turned = rotaryTwin(qkv, sequenceStart, shape, base);
      const ends = Array.from({ length: sequences }, (_, s) => sequenceStart[s + 1]! - 1);
      const rowsOf = (matrix: ArrayLike<number>, columns: number) =>
        Float32Array.from(ends.flatMap((end) => Array.from(matrix).slice(end * columns, (end + 1) * columns)));
      const result = await evaluate(
        gpu,
        {
          qkv,
          table: rotaryTable(capacity, shape.headSize, base),
          place: placeOfTokens(sequenceStart),
          keyValues: sequences * capacity * 2 * shape.kvHeads * shape.headSize,
          lastQkv: rowsOf(turned, row),
          lastPlace: Uint32Array.from(ends.flatMap((end, s) => [s, end - sequenceStart[s]! - step])),
          out: sequences * width,
        },
        ({ lastQkv, lastPlace, keyValues, out, ...buffers }) => {
          const cache = { keyValues, capacity };
          return [
            rotary({ ...buffers, rows: tokens, shape, cache: { ...cache, step: 0 } }),
            cachedAttention({ qkv: lastQkv, place: lastPlace, step, cache, out, rows: sequences, shape }),
          ];
        },
        ['out'],
      );
      const whole = attentionTwin(turned, sequenceStart, shape);
      return [{ name: 'out', actual: result.out, expected: rowsOf(whole.out, width) }];
    },
  }),
);
