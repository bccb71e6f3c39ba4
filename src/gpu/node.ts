/**
 * WebGPU under Node, through Dawn. Only the command line, benches and tests import this file: the package behind it is a
 * native binary that no browser bundle may contain.
 */
import { create, globals } from 'webgpu';
import { openGpu, type Gpu, type OpenOptions } from './device.ts';

// The object must stay referenced: when it is collected, the process crashes.
let instance: GPU | undefined;

function nodeGpu(): GPU {
  if (!instance) {
    Object.assign(globalThis, globals);
    // OpenGL ES is the only road to Mesa's llvmpipe. A machine with a Vulkan driver (SwiftShader's is named by
    // VK_DRIVER_FILES) or another native API takes that one.
    const openGlOnly = process.env.HGPO_ADAPTER === 'llvmpipe';
    instance = create(openGlOnly ? ['backend=opengles'] : []);
  }
  return instance;
}

/**
 * The package polls on the main thread while a promise is pending and so takes a core away from a software adapter. A loop
 * that sleeps a millisecond at a time between polls gives it back (twice the speed on SwiftShader, two cores).
 */
async function turnEventLoop<T>(promise: Promise<T>): Promise<T> {
  const sleeper = new Int32Array(new SharedArrayBuffer(4));
  let pending = true;
  const turn = () => {
    if (!pending) return;
    Atomics.wait(sleeper, 0, 0, 1);
    setImmediate(turn);
  };
  setImmediate(turn);
  try {
    return await promise;
  } finally {
    pending = false;
  }
}

/** Opens Node's device; `HGPO_ADAPTER` = `llvmpipe` or `swiftshader` chooses between software adapters. */
export async function openNodeGpu(options: Omit<OpenOptions, 'gpu' | 'whileWaiting'> = {}): Promise<Gpu> {
  return openGpu({ ...options, gpu: nodeGpu(), whileWaiting: turnEventLoop });
}
