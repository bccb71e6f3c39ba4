import indexSource from '../../../shaders/index.wgsl?raw';
import sumRowsSource from '../../../shaders/sum-rows.wgsl?raw';
import type { Binding } from '../buffer.ts';
import type { Kernel } from '../kernel.ts';
import { linearWorkgroups, valueOf, WORKGROUP, type Count, type Dispatch } from '../program.ts';
import { evaluate, kernelTest, randomFloats } from '../selftest.ts';

const kernel: Kernel = { name: 'sum-rows', source: indexSource + sumRowsSource };

/** Segments of a reduction over rows: enough to fill a device, few enough that the second pass is nothing. */
export const REDUCTION_SEGMENTS = 32;

/** Rows in each of `REDUCTION_SEGMENTS` segments. Depends on the number of rows alone, so a reduction repeats bit for bit. */
export function segmentRows(rows: number): number {
  return Math.max(1, Math.ceil(rows / REDUCTION_SEGMENTS));
}

/** sums[i] += Σ_t partial[t,i] over the segments of a reduction: its second pass. */
export function sumSegments(operands: {
  /** [segments, width] */
  readonly partial: Binding;
  /** [width], added to */
  readonly sums: Binding;
  readonly width: number;
  readonly segments?: number;
}): Dispatch {
  const { partial, sums, width, segments = REDUCTION_SEGMENTS } = operands;
  return {
    kernel,
    constants: { WORKGROUP },
    bindings: { matrix: partial, sums },
    parameters: {
      rows: segments,
      width,
      stride: width,
      offset: 0,
      segmentRows: segments,
      segments: 1,
      add: 1,
    },
    workgroups: () => linearWorkgroups(width),
  };
}

/** sums[i] += Σ_t matrix[t,i], in two passes: the gradient of a bias. */
export function sumRows(operands: {
  /** [rows, stride]; columns offset … offset + width − 1 are summed */
  readonly matrix: Binding;
  /** [REDUCTION_SEGMENTS, width] */
  readonly partial: Binding;
  /** [width], added to */
  readonly sums: Binding;
  readonly rows: Count;
  readonly width: number;
  readonly stride?: number;
  readonly offset?: number;
}): Dispatch[] {
  const { matrix, partial, sums, rows, width, stride = width, offset = 0 } = operands;
  return [
    {
      kernel,
      constants: { WORKGROUP },
      bindings: { matrix, sums: partial },
      parameters: {
        rows,
        width,
        stride,
        offset,
        segmentRows: () => segmentRows(valueOf(rows)),
        segments: REDUCTION_SEGMENTS,
        add: 0,
      },
      workgroups: () => linearWorkgroups(REDUCTION_SEGMENTS * width),
    },
    sumSegments({ partial, sums, width }),
  ];
}

/** Twin: column sums of [rows, stride] from `offset` on, in f64. */
export function sumRowsTwin(matrix: ArrayLike<number>, rows: number, width: number, stride = width, offset = 0) {
  const sums = new Float64Array(width);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < width; column++) sums[column]! += matrix[offset + row * stride + column]!;
  }
  return sums;
}

export const sumRowsTest = kernelTest(
  'sum-rows',
  [
    { rows: 1, width: 1, stride: 1, offset: 0 },
    { rows: 37, width: 13, stride: 20, offset: 7 },
    { rows: 300, width: 65, stride: 65, offset: 0 },
  ],
  ({ rows, width, stride, offset }) => ({
    async compare(gpu, random) {
      const matrix = randomFloats(random, rows * stride);
      const before = randomFloats(random, width);
      const result = await evaluate(
        gpu,
        { matrix, partial: REDUCTION_SEGMENTS * width, sums: before },
        (buffers) => sumRows({ ...buffers, rows, width, stride, offset }),
        ['sums'],
      );
      const expected = sumRowsTwin(matrix, rows, width, stride, offset).map((sum, i) => sum + before[i]!);
      return [{ name: 'sums', actual: result.sums, expected }];
    },
  }),
);
