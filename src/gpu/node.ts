/**
 * WebGPU under Node, through Dawn. Only the command line, benches and tests import this file: the package behind it is a
 * native binary that no browser bundle may contain.
 */
import { create, globals } from 'webgpu';
import { openGpu, type Gpu, type OpenOptions } from './device.ts';

// The objects must stay referenced: when one is collected, the process crashes.
const instances = new Map<string, GPU>();

function instance(...options: string[]): GPU {
  const key = options.join();
  let gpu = instances.get(key);
  if (!gpu) {
    Object.assign(globalThis, globals);
    gpu = create(options);
    instances.set(key, gpu);
  }
  return gpu;
}

/**
 * Node's WebGPU and the feature level at which it has an adapter. `HGPO_ADAPTER` = `llvmpipe` takes OpenGL ES, the only road to
 * Mesa's software driver; any other value the native API (Vulkan, where SwiftShader's driver is named by VK_DRIVER_FILES; Metal;
 * Direct3D). Unset: the native API where it has an adapter, else OpenGL ES, in software where there is no GPU.
 */
export async function nodeWebGpu(): Promise<{ gpu: GPU; featureLevel: 'core' | 'compatibility' }> {
  const wanted = process.env.HGPO_ADAPTER;
  if (wanted !== 'llvmpipe') {
    const native = instance();
    if (wanted || (await native.requestAdapter())) return { gpu: native, featureLevel: 'core' };
    process.env.EGL_PLATFORM ??= 'surfaceless';
  }
  return { gpu: instance('backend=opengles'), featureLevel: 'compatibility' };
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

/** Opens Node's device; see `nodeWebGpu` for which. */
export async function openNodeGpu(options: Omit<OpenOptions, 'gpu' | 'whileWaiting'> = {}): Promise<Gpu> {
  const { gpu } = await nodeWebGpu();
  return openGpu({ ...options, gpu, whileWaiting: turnEventLoop });
}
