import { openGpu, type Gpu } from '../gpu/device.ts';
import type * as nodeAdapter from '../gpu/node.ts';

/**
 * The device of the test project that runs (Node or Chromium, SwiftShader or llvmpipe), with exactly WebGPU's default
 * limits. Every error that WebGPU reports fails the test that caused it at its next read-back.
 */
export async function openTestGpu(): Promise<Gpu> {
  if (typeof window !== 'undefined') return openGpu();
  // Kept out of the browser's module graph: the package behind it is a native binary.
  const nodeModule = '../gpu/node.ts';
  const { openNodeGpu } = (await import(/* @vite-ignore */ nodeModule)) as typeof nodeAdapter;
  return openNodeGpu();
}
