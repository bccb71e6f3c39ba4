import { expect, it } from 'vitest';
import { exportError, oddSizes, shippedSize, storedRandomWeights } from '../../testing/decoders.ts';

// One file of each width; ONNX Runtime compiles tens of shaders for each on a software adapter.
it.each([
  ['the shipped size in 4 bits', shippedSize, 'q4'],
  ['odd sizes in 8 bits', oddSizes, 'int8'],
] as const)('the WebGPU provider gives the logits of the double-precision twin: %s', async (_, config, format) => {
  expect(await exportError(config, storedRandomWeights(config, format), { name: 'webgpu' })).toBeLessThan(1e-4);
});
