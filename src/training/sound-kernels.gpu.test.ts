import { expect, test } from 'vitest';
import { kernelTest } from '../gpu/selftest.ts';
import { openTestGpu } from '../testing/gpu.ts';
import { requireSoundKernels, trainingKernelTests, UnsoundAdapterError } from './sound-kernels.ts';

test('an adapter on which one kernel is wrong is refused, and the kernel is named', async () => {
  const gpu = await openTestGpu();
  try {
    const wrong = kernelTest('doubtful', [{ rows: 3 }], () => ({
      compare: () => Promise.resolve([{ name: 'output', actual: [1, 2], expected: [1, 2.1] }]),
    }));
    const tests = [trainingKernelTests[0]!, wrong];
    await expect(requireSoundKernels(gpu, tests)).rejects.toThrow(UnsoundAdapterError);
    await expect(requireSoundKernels(gpu, tests)).rejects.toThrow(/kernel doubtful .*output is off.*rows 3/);
    await requireSoundKernels(gpu, trainingKernelTests.slice(0, 1));
  } finally {
    gpu.destroy();
  }
});
