import gatherSource from '../../../shaders/gather-rows.wgsl?raw';
import indexSource from '../../../shaders/index.wgsl?raw';
import type { Binding } from '../buffer.ts';
import type { Kernel } from '../kernel.ts';
import { linearWorkgroups, valueOf, WORKGROUP, type Count, type Dispatch } from '../program.ts';
import { evaluate, kernelTest, randomFloats } from '../selftest.ts';

const kernel: Kernel = { name: 'gather-rows', source: indexSource + gatherSource };

/** The index of a row that is to be 0. */
export const NO_ROW = 0xffffffff;

/** y[r] = x[index[r]], a row of zeros where the index is `NO_ROW`. With the inverse index it is its own backward pass. */
export function gatherRows(operands: {
  /** [·, width] */
  readonly x: Binding;
  /** [rows] */
  readonly index: Binding;
  /** [rows, width] */
  readonly y: Binding;
  readonly rows: Count;
  readonly width: number;
}): Dispatch {
  const { x, index, y, rows, width } = operands;
  return {
    kernel,
    constants: { WORKGROUP },
    bindings: { x, index, y },
    parameters: { rows, width },
    workgroups: () => linearWorkgroups(valueOf(rows) * width),
  };
}

/** [count] for each row of the source its place in `index`, or `NO_ROW`. Rows of `index` must be distinct. */
export function inverseIndex(index: Uint32Array, count: number): Uint32Array {
  const inverse = new Uint32Array(count).fill(NO_ROW);
  index.forEach((row, place) => {
    inverse[row] = place;
  });
  return inverse;
}

/** Twin of shaders/gather-rows.wgsl: y [rows, width]. */
export function gatherRowsTwin(x: ArrayLike<number>, index: Uint32Array, width: number): Float64Array {
  return Float64Array.from({ length: index.length * width }, (_, i) => {
    const row = index[Math.floor(i / width)]!;
    return row === NO_ROW ? 0 : x[row * width + (i % width)]!;
  });
}

export const gatherRowsTest = kernelTest('gather-rows', [{ rows: 23, width: 37 }], ({ rows, width }) => {
  const index = Uint32Array.of(22, 3, 7, 0, 11);
  return {
    async compare(gpu, random) {
      const x = randomFloats(random, rows * width);
      const dy = randomFloats(random, index.length * width);
      const inverse = inverseIndex(index, rows);
      const result = await evaluate(
        gpu,
        { x, index, inverse, dy, y: index.length * width, dx: rows * width },
        ({ x, index: places, inverse, dy, y, dx }) => [
          gatherRows({ x, index: places, y, rows: index.length, width }),
          gatherRows({ x: dy, index: inverse, y: dx, rows, width }),
        ],
        ['y', 'dx'],
      );
      return [
        { name: 'y', actual: result.y, expected: gatherRowsTwin(x, index, width), exact: true },
        { name: 'dx', actual: result.dx, expected: gatherRowsTwin(dy, inverse, width), exact: true },
      ];
    },
    gradient(random) {
      const dy = randomFloats(random, index.length * width);
      return {
        inputs: { x: randomFloats(random, rows * width) },
        output: ({ x }) => gatherRowsTwin(x, index, width),
        outputGradient: dy,
        gradients: { x: gatherRowsTwin(dy, inverseIndex(index, rows), width) },
      };
    },
  };
});
