import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { randomStream } from '../random/stream.ts';
import { BLOCK, blocksPerRow, dequantize } from '../gpu/quantized.ts';
import { quantize } from './quantization.ts';
import { UnfitWeightsError } from './weights.ts';

const normal = (count: number, seed = 1) => {
  const stream = randomStream(seed, 'values');
  return Float32Array.from({ length: count }, () => stream.nextNormal());
};

const squaredError = (a: Float32Array, b: Float32Array) => a.reduce((sum, x, i) => sum + (x - b[i]!) ** 2, 0);

/** The plain symmetric grid: the value of largest magnitude becomes code 0. */
function plainError(values: Float32Array, rows: number, columns: number, bits: number): number {
  const middle = 2 ** (bits - 1);
  let error = 0;
  for (let row = 0; row < rows; row++) {
    for (let from = 0; from < columns; from += BLOCK) {
      const block = values.subarray(row * columns + from, row * columns + Math.min(columns, from + BLOCK));
      const extreme = block.reduce((most, x) => (Math.abs(x) > Math.abs(most) ? x : most), 0);
      const scale = Math.fround(extreme / -middle);
      for (const x of block) {
        const q = scale === 0 ? 0 : Math.max(-middle, Math.min(middle - 1, Math.round(x / scale)));
        error += (x - Math.fround(scale * q)) ** 2;
      }
    }
  }
  return error;
}

const matrices = fc
  .record({
    rows: fc.integer({ min: 1, max: 4 }),
    columns: fc.integer({ min: 1, max: 100 }),
    bits: fc.constantFrom(4 as const, 8 as const),
    zeroPoints: fc.boolean(),
  })
  .chain((shape) =>
    fc
      .array(
        fc.oneof(
          fc.float({ noNaN: true, noDefaultInfinity: true, min: -8, max: 8 }),
          fc.constantFrom(0, 1, 1e30, -1e30, 1e-44),
        ),
        { minLength: shape.rows * shape.columns, maxLength: shape.rows * shape.columns },
      )
      .map((values) => ({ ...shape, values: Float32Array.from(values) })),
  );

describe('quantization', () => {
  it('is never worse than the plain grid, whatever the shape and the values', () => {
    fc.assert(
      fc.property(matrices, ({ rows, columns, bits, zeroPoints, values }) => {
        const back = dequantize(quantize(values, rows, columns, { bits, zeroPoints }));
        const error = squaredError(values, back);
        expect(error).toBeLessThanOrEqual(plainError(values, rows, columns, bits));
        expect(back.every(Number.isFinite)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it('keeps every value of an 8-bit block within one step of the grid', () => {
    const values = normal(64 * 96);
    const matrix = quantize(values, 64, 96, { bits: 8, zeroPoints: false });
    const back = dequantize(matrix);
    values.forEach((x, i) => {
      const row = Math.floor(i / 96);
      const scale = Math.abs(matrix.scales[row * 3 + Math.floor((i % 96) / BLOCK)]!);
      expect(Math.abs(x - back[i]!)).toBeLessThanOrEqual(scale);
    });
  });

  it('stores constant and zero blocks exactly', () => {
    const values = new Float32Array(96).fill(0.3, 0, 32).fill(-7.25, 64);
    for (const zeroPoints of [false, true]) {
      for (const bits of [4, 8] as const) {
        expect(dequantize(quantize(values, 1, 96, { bits, zeroPoints }))).toEqual(values);
      }
    }
  });

  it('keeps values that already lie on a grid', () => {
    const values = Float32Array.from({ length: 64 }, (_, i) => 0.125 * ((i % 16) - 8));
    expect(dequantize(quantize(values, 2, 32, { bits: 4, zeroPoints: false }))).toEqual(values);
  });

  it('fills the last block of a row with codes that mean 0', () => {
    const matrix = quantize(normal(2 * 33), 2, 33, { bits: 4, zeroPoints: false });
    expect(blocksPerRow(33)).toBe(2);
    expect(matrix.codes.length).toBe(2 * 2 * 16);
    // The second block holds one value and 31 fillers of code 8.
    expect([...matrix.codes.slice(17, 32)]).toEqual(new Array(15).fill(0x88));
  });

  it('puts the low nibble first', () => {
    const values = new Float32Array(32);
    values[0] = -8;
    values[1] = 7;
    const { codes, scales } = quantize(values, 1, 32, { bits: 4, zeroPoints: false });
    expect(scales[0]! * ((codes[0]! & 15) - 8)).toBe(-8);
    expect(scales[0]! * ((codes[0]! >> 4) - 8)).toBe(7);
  });

  it('gains from zero points at 4 bits on normal weights', () => {
    const values = normal(256 * 64);
    const error = (zeroPoints: boolean) =>
      squaredError(values, dequantize(quantize(values, 256, 64, { bits: 4, zeroPoints })));
    expect(error(true)).toBeLessThan(error(false));
    expect(error(false)).toBeLessThan(0.9 * plainError(values, 256, 64, 4));
  });

  it('refuses NaN and infinities', () => {
    for (const bad of [NaN, Infinity, -Infinity]) {
      const values = normal(64);
      values[40] = bad;
      expect(() => quantize(values, 2, 32, { bits: 4, zeroPoints: false })).toThrow(UnfitWeightsError);
    }
  });
});
