import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestGpu } from '../../testing/gpu.ts';
import type { Gpu } from '../device.ts';
import { selfTest } from '../selftest.ts';
import { kernelTests } from './index.ts';

let gpu: Gpu;
beforeAll(async () => {
  gpu = await openTestGpu();
});
afterAll(() => {
  gpu.destroy();
});

describe('on this adapter each kernel agrees with its twin', () => {
  test.each(kernelTests.map((one) => [one.kernel, one] as const))('%s', async (_name, one) => {
    const buffers = gpu.liveBuffers;
    const result = await selfTest(gpu, one);
    expect(result.failure).toBeUndefined();
    expect(gpu.liveBuffers).toBe(buffers);
  });
});

test('the shader compiler has nothing to say about any of them', async () => {
  for (const { kernel, module } of gpu.compiled) {
    const { messages } = await module.getCompilationInfo();
    expect
      .soft(
        messages.map(({ message }) => message),
        kernel.name,
      )
      .toEqual([]);
  }
});
