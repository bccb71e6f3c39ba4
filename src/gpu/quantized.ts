/**
 * Weight matrices as the kernels read them: f32, or 8- or 4-bit blocks of 32 columns in the layout of ONNX Runtime's
 * MatMulNBits. The shaders behind each format are shaders/weight-*.wgsl.
 */
import int4Source from '../../shaders/weight-int4.wgsl?raw';
import int8Source from '../../shaders/weight-int8.wgsl?raw';
import f32Source from '../../shaders/weight-f32.wgsl?raw';
import { matrixOperand } from './matrix-operand.ts';
import type { RandomStream } from '../random/stream.ts';
import type { Binding } from './buffer.ts';
import type { KernelConstants } from './kernel.ts';

export type WeightFormat = 'f32' | 'int8' | 'int4';

/** Columns that share a scale. */
export const BLOCK = 32;

/**
 * A matrix [rows, columns] on the CPU whose rows are cut into blocks of 32: value = scale · (code − zero point). The last block
 * of a row is filled up.
 */
export interface QuantizedMatrix {
  readonly bits: 4 | 8;
  readonly rows: number;
  readonly columns: number;
  /** [rows, blocks, 4·bits] bytes; two 4-bit codes a byte, the even column in the low half */
  readonly codes: Uint8Array;
  /** [rows, blocks] */
  readonly scales: Float32Array;
  /** [rows, ⌈blocks·bits / 8⌉], packed like the codes; null where every zero point is 2^(bits − 1) */
  readonly zeroPoints: Uint8Array | null;
}

/** A matrix [rows, width] on the device. */
export interface WeightOperand {
  readonly format: WeightFormat;
  readonly values: Binding;
  readonly scales?: Binding | undefined;
  readonly zeroPoints?: Binding | undefined;
}

const sources: Record<WeightFormat, string> = {
  f32: matrixOperand('dense', 10) + f32Source,
  int8: int8Source,
  int4: int4Source,
};

/** The shader text that reads a format. */
export function weightSource(format: WeightFormat): string {
  return sources[format];
}

/** The constants that the shader text needs. */
export function weightConstants(weight: WeightOperand, width: number): KernelConstants {
  return weight.format === 'f32'
    ? { QUANTIZED: false, DENSE_VECTOR: width % 4 === 0 }
    : { QUANTIZED: true, ZERO_POINTS: weight.zeroPoints !== undefined };
}

/** The bindings that the shader text declares. */
export function weightBindings(weight: WeightOperand): Record<string, Binding> {
  return {
    [weight.format === 'f32' ? 'dense' : 'codes']: weight.values,
    ...(weight.scales ? { scales: weight.scales } : {}),
    ...(weight.zeroPoints ? { zeroPoints: weight.zeroPoints } : {}),
  };
}

export function blocksPerRow(columns: number): number {
  return Math.ceil(columns / BLOCK);
}

/** Twin of shaders/weight-int8.wgsl and weight-int4.wgsl: the values of a matrix, [rows, columns]. */
export function dequantize(matrix: QuantizedMatrix): Float32Array {
  const { bits, rows, columns, codes, scales, zeroPoints } = matrix;
  const blocks = blocksPerRow(columns);
  const zeroPointBytes = Math.ceil((blocks * bits) / 8);
  const packed = (bytes: Uint8Array, start: number, index: number) =>
    bits === 8 ? bytes[start + index]! : (bytes[start + (index >> 1)]! >> (4 * (index & 1))) & 15;
  const out = new Float32Array(rows * columns);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const block = Math.floor(column / BLOCK);
      const code = packed(codes, row * blocks * 4 * bits, column);
      const zero = zeroPoints ? packed(zeroPoints, row * zeroPointBytes, block) : 2 ** (bits - 1);
      out[row * columns + column] = (code - zero) * scales[row * blocks + block]!;
    }
  }
  return out;
}

/** A random matrix in blocks, with or without zero points: input of kernel tests. */
export function randomQuantized(
  random: RandomStream,
  bits: 4 | 8,
  rows: number,
  columns: number,
  withZeroPoints: boolean,
): QuantizedMatrix {
  const blocks = blocksPerRow(columns);
  const bytes = (count: number) => Uint8Array.from({ length: count }, () => random.below(256));
  return {
    bits,
    rows,
    columns,
    codes: bytes(rows * blocks * 4 * bits),
    scales: Float32Array.from({ length: rows * blocks }, () => (1.6 / 2 ** bits) * random.nextNormal()),
    zeroPoints: withZeroPoints ? bytes(rows * Math.ceil((blocks * bits) / 8)) : null,
  };
}
