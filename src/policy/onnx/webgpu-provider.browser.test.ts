import { expect, it, vi } from 'vitest';
import { openGpu } from '../../gpu/device.ts';
import { exportError, oddSizes, shippedSize, storedRandomWeights } from '../../testing/decoders.ts';

// One file of each width; ONNX Runtime compiles tens of shaders for each on a software adapter.
it('the WebGPU provider gives the logits of the double-precision twin: the shipped size in 4 bits', async () => {
  const weights = storedRandomWeights(shippedSize, 'q4');
  expect(await exportError(shippedSize, weights, { name: 'webgpu' })).toBeLessThan(1e-4);
});

it('so it does on the device of our own engine: odd sizes in 8 bits', async () => {
  const gpu = await openGpu();
  const weights = storedRandomWeights(oddSizes, 'int8');
  const submitted = vi.spyOn(gpu.device.queue, 'submit');
  expect(await exportError(oddSizes, weights, { name: 'webgpu', device: gpu.device })).toBeLessThan(1e-4);
  expect(submitted).toHaveBeenCalled();
  gpu.destroy();
});
