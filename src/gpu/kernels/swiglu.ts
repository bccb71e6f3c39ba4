import indexSource from '../../../shaders/index.wgsl?raw';
import backwardSource from '../../../shaders/swiglu-backward.wgsl?raw';
import forwardSource from '../../../shaders/swiglu.wgsl?raw';
import type { Binding } from '../buffer.ts';
import type { Kernel } from '../kernel.ts';
import { linearWorkgroups, valueOf, WORKGROUP, type Count, type Dispatch } from '../program.ts';
import { evaluate, kernelTest, randomFloats } from '../selftest.ts';

const forward: Kernel = { name: 'swiglu', source: indexSource + forwardSource };
const backward: Kernel = { name: 'swiglu-backward', source: indexSource + backwardSource };

/** Invocations for a row. */
const foursOf = (width: number) => (width % 4 === 0 ? width / 4 : width);

/** y = silu(gate) · up. */
export function swiglu(operands: {
  /** [rows, 2 · width], gate before up */
  readonly gateUp: Binding;
  /** [rows, width] */
  readonly y: Binding;
  readonly rows: Count;
  readonly width: number;
}): Dispatch {
  const { gateUp, y, rows, width } = operands;
  return {
    kernel: forward,
    constants: { WORKGROUP, VECTOR: width % 4 === 0 },
    bindings: { gateUp, y },
    parameters: { rows, fours: foursOf(width) },
    workgroups: () => linearWorkgroups(valueOf(rows) * foursOf(width)),
  };
}

/** Writes the gradients in gate and up. */
export function swigluBackward(operands: {
  /** [rows, 2 · width] the input of the forward pass */
  readonly gateUp: Binding;
  /** [rows, width] */
  readonly dy: Binding;
  /** [rows, 2 · width] */
  readonly dGateUp: Binding;
  readonly rows: Count;
  readonly width: number;
}): Dispatch {
  const { gateUp, dy, dGateUp, rows, width } = operands;
  return {
    kernel: backward,
    constants: { WORKGROUP, VECTOR: width % 4 === 0 },
    bindings: { gateUp, dy, dGateUp },
    parameters: { rows, fours: foursOf(width) },
    workgroups: () => linearWorkgroups(valueOf(rows) * foursOf(width)),
  };
}

/** Twin of shaders/swiglu.wgsl in f64: y [rows, width]. */
export function swigluTwin(gateUp: ArrayLike<number>, rows: number, width: number): Float64Array {
  return Float64Array.from({ length: rows * width }, (_, i) => {
    const at = Math.floor(i / width) * 2 * width + (i % width);
    return (gateUp[at]! / (1 + Math.exp(-gateUp[at]!))) * gateUp[at + width]!;
  });
}

/** Twin of shaders/swiglu-backward.wgsl in f64: dGateUp [rows, 2 · width]. */
export function swigluBackwardTwin(gateUp: ArrayLike<number>, dy: ArrayLike<number>, rows: number, width: number) {
  const dGateUp = new Float64Array(rows * 2 * width);
  for (let i = 0; i < rows * width; i++) {
    const at = Math.floor(i / width) * 2 * width + (i % width);
    const gate = gateUp[at]!;
    const sigma = 1 / (1 + Math.exp(-gate));
    dGateUp[at] = dy[i]! * gateUp[at + width]! * sigma * (1 + gate * (1 - sigma));
    dGateUp[at + width] = dy[i]! * gate * sigma;
  }
  return dGateUp;
}

export const swigluTest = kernelTest(
  'swiglu',
  [
    { rows: 1, width: 1, scale: 1 },
    { rows: 13, width: 45, scale: 1 },
    { rows: 13, width: 44, scale: 1 },
    { rows: 3, width: 70, scale: 60 }, // exp of −gate would overflow without its clamp
  ],
  ({ rows, width, scale }) => ({
    async compare(gpu, random) {
      const gateUp = randomFloats(random, rows * 2 * width, scale);
      const dy = randomFloats(random, rows * width);
      const result = await evaluate(
        gpu,
        { gateUp, dy, y: rows * width, dGateUp: rows * 2 * width },
        (buffers) => [swiglu({ ...buffers, rows, width }), swigluBackward({ ...buffers, rows, width })],
        ['y', 'dGateUp'],
      );
      return [
        { name: 'y', actual: result.y, expected: swigluTwin(gateUp, rows, width) },
        { name: 'dGateUp', actual: result.dGateUp, expected: swigluBackwardTwin(gateUp, dy, rows, width) },
      ];
    },
    gradient(random) {
      const gateUp = randomFloats(random, rows * 2 * width, Math.min(scale, 3));
      const dy = randomFloats(random, rows * width);
      return {
        inputs: { gateUp },
        output: ({ gateUp }) => swigluTwin(gateUp, rows, width),
        outputGradient: dy,
        gradients: { gateUp: swigluBackwardTwin(gateUp, dy, rows, width) },
      };
    },
  }),
);
