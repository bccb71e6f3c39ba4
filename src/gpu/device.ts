/**
 * The device layer: finds an adapter, says why when there is none, opens a device with WebGPU's default limits, and owns
 * what lives on it (buffers, pipelines). Everything else in src/gpu reaches the GPU through the `Gpu` that this file opens.
 */
import { GpuBuffer, type BufferContents } from './buffer.ts';
import { Pipeline, type Kernel, type KernelConstants } from './kernel.ts';

/** Why no device can be had, in the order in which it is looked for. */
export type NoGpuReason =
  'no-api' | 'insecure-context' | 'no-adapter' | 'software-adapter' | 'limits-too-low' | 'device-refused';

/** No usable GPU device; `reason` for programs, the message for people. */
export class GpuUnavailableError extends Error {
  override readonly name = 'GpuUnavailableError';
  constructor(
    readonly reason: NoGpuReason,
    message: string,
  ) {
    super(message);
  }
}

/** WebGPU reported an error that nothing was waiting for: a fault of this program, or memory ran out. */
export class GpuFaultError extends Error {
  override readonly name = 'GpuFaultError';
}

/** The device went away (driver reset, adapter unplugged, tab in the background for long). */
export class GpuLostError extends Error {
  override readonly name = 'GpuLostError';
}

/** The planned buffers do not fit. */
export class GpuMemoryError extends Error {
  override readonly name = 'GpuMemoryError';
}

export type FeatureLevel = 'core' | 'compatibility';

/** What a person or a log should know of the adapter in use. */
export interface AdapterReport {
  /** One line that names the adapter; contains `swiftshader` or `llvmpipe` on these software adapters. */
  readonly name: string;
  readonly featureLevel: FeatureLevel;
  /** A CPU that plays GPU: everything works, slowly. */
  readonly software: boolean;
  /** Optional features that were asked for and given. */
  readonly features: readonly string[];
  /** Invocations that the smallest subgroup holds; 0 where the device has no subgroups. */
  readonly subgroupSize: number;
  /** The limits of the opened device, by WebGPU's names. */
  readonly limits: Readonly<Record<string, number>>;
}

/** WebGPU's default limits that the kernels count on; the first column is core, the second compatibility mode. */
const NEEDED_LIMITS = {
  maxStorageBuffersPerShaderStage: [8, 8],
  maxStorageBufferBindingSize: [134_217_728, 134_217_728],
  maxBufferSize: [268_435_456, 268_435_456],
  maxComputeWorkgroupStorageSize: [16_384, 16_384],
  maxComputeInvocationsPerWorkgroup: [256, 128],
  maxComputeWorkgroupSizeX: [256, 128],
  maxComputeWorkgroupsPerDimension: [65_535, 65_535],
} as const;

export interface OpenOptions {
  /** Where the API comes from: `navigator.gpu` unless given (src/gpu/node.ts gives Node's). */
  readonly gpu?: GPU | undefined;
  /** Optional features to ask for where the adapter has them; subgroups unless given. A kernel uses one only where it measured faster. */
  readonly features?: readonly GPUFeatureName[];
  /** Refuse adapters that are a CPU in disguise. */
  readonly refuseSoftware?: boolean;
  /** Runs while a promise of the device is pending; Node needs its event loop turned (see src/gpu/node.ts). */
  readonly whileWaiting?: <T>(promise: Promise<T>) => Promise<T>;
}

/**
 * Opens the best device there is: a core adapter first, then one in compatibility mode. Exactly WebGPU's default limits are
 * requested, whatever more the adapter offers, so that what runs here runs everywhere.
 * @throws GpuUnavailableError with the reason and what a person can do about it.
 */
export async function openGpu(options: OpenOptions = {}): Promise<Gpu> {
  const api = options.gpu ?? (globalThis.navigator as Navigator | undefined)?.gpu;
  if (!api) {
    if (globalThis.isSecureContext === false) {
      throw new GpuUnavailableError(
        'insecure-context',
        'WebGPU is hidden because this page was not loaded over https or from localhost: open it over https.',
      );
    }
    throw new GpuUnavailableError(
      'no-api',
      'This browser has no WebGPU: use a current Chrome, Edge, Safari or Firefox, or switch WebGPU on in its settings.',
    );
  }
  let adapter: GPUAdapter | null = null;
  let featureLevel: FeatureLevel = 'core';
  for (featureLevel of ['core', 'compatibility'] as const) {
    adapter = await api.requestAdapter({ featureLevel });
    if (adapter) break;
  }
  if (!adapter) {
    throw new GpuUnavailableError(
      'no-adapter',
      'WebGPU is there but offers no adapter: the graphics driver is missing, too old or blocked by the browser; update it or switch hardware acceleration on.',
    );
  }
  const { info } = adapter;
  const name = [info.vendor, info.architecture, info.device, info.description].filter(Boolean).join(' ') || 'unnamed';
  const software = info.isFallbackAdapter === true || /swiftshader|llvmpipe|lavapipe|basic render/i.test(name);
  if (software && options.refuseSoftware) {
    throw new GpuUnavailableError(
      'software-adapter',
      `The only adapter is a software one (${name}): it works but slowly; allow it, or switch hardware acceleration on.`,
    );
  }
  for (const [limit, [core, compatibility]] of Object.entries(NEEDED_LIMITS)) {
    const needed = featureLevel === 'core' ? core : compatibility;
    const offered = adapter.limits[limit as keyof typeof NEEDED_LIMITS];
    if (offered < needed) {
      throw new GpuUnavailableError(
        'limits-too-low',
        `The adapter ${name} is too small: ${limit} is ${offered} and ${needed} is needed; use another GPU or browser.`,
      );
    }
  }
  const features = (options.features ?? ['subgroups']).filter((feature) => adapter.features.has(feature));
  let device: GPUDevice;
  try {
    device = await adapter.requestDevice({ requiredFeatures: features });
  } catch (error) {
    throw new GpuUnavailableError(
      'device-refused',
      `The adapter ${name} refused a device (${error instanceof Error ? error.message : String(error)}): reload, or restart the browser.`,
    );
  }
  const limits = Object.fromEntries(
    Object.keys(NEEDED_LIMITS).map((limit) => [limit, device.limits[limit as keyof typeof NEEDED_LIMITS]]),
  );
  const subgroupSize = features.includes('subgroups') ? info.subgroupMinSize : 0;
  return new Gpu(device, { name, featureLevel, software, features, subgroupSize, limits }, options.whileWaiting);
}

/** An open device and all that lives on it. */
export class Gpu {
  /** Buffers alive now; a leak shows as growth. Staging buffers for reading back are pooled and not counted. */
  liveBuffers = 0;
  liveBytes = 0;
  /** The largest `liveBytes` so far. */
  peakBytes = 0;
  /** Counted since the device was opened: kernel launches, command submissions, read-backs. */
  readonly counts = { dispatches: 0, submissions: 0, readBacks: 0 };
  /** Resolves with the reason when the device goes away by itself (not after `destroy`). */
  readonly lost: Promise<GpuLostError>;

  private fault: Error | null = null;
  private destroyed = false;
  private readonly pipelines = new Map<string, Pipeline>();
  private readonly staging: GPUBuffer[] = [];
  private readonly whileWaiting: <T>(promise: Promise<T>) => Promise<T>;

  constructor(
    readonly device: GPUDevice,
    readonly adapter: AdapterReport,
    whileWaiting?: <T>(promise: Promise<T>) => Promise<T>,
  ) {
    this.whileWaiting = whileWaiting ?? ((promise) => promise);
    device.addEventListener('uncapturederror', (event) => {
      event.preventDefault();
      const { error } = event as GPUUncapturedErrorEvent;
      this.fault ??=
        typeof GPUOutOfMemoryError !== 'undefined' && error instanceof GPUOutOfMemoryError
          ? new GpuMemoryError(`The GPU ran out of memory (${error.message}): choose a smaller model or batch.`)
          : new GpuFaultError(`WebGPU reported: ${error.message}`);
    });
    this.lost = new Promise((resolve) => {
      void device.lost.then((info) => {
        if (this.destroyed) return;
        const error = new GpuLostError(
          `The GPU device was lost (${info.reason || 'unknown'}: ${info.message}): open a new one and restore the last checkpoint.`,
        );
        this.fault = error;
        resolve(error);
      });
    });
  }

  /**
   * Throws the first error that WebGPU reported since the last call. Called by every read-back; errors arrive with a
   * delay, so only what was submitted before an awaited read-back is certain to have been judged.
   */
  check(): void {
    const { fault } = this;
    if (!fault) return;
    if (!(fault instanceof GpuLostError)) this.fault = null;
    throw fault;
  }

  /** A zero-filled storage buffer that the caller owns and destroys. `bytes` is rounded up to a multiple of 4. */
  buffer(label: string, bytes: number): GpuBuffer {
    return new GpuBuffer(this, label, bytes);
  }

  /** A storage buffer with contents. */
  upload(label: string, contents: BufferContents): GpuBuffer {
    const buffer = this.buffer(label, contents.byteLength);
    buffer.write(contents);
    return buffer;
  }

  /**
   * Runs an allocation of several buffers and fails as a whole when they do not fit.
   * @throws GpuMemoryError; the buffers made by `allocate` must then be destroyed by the caller.
   */
  async allocating<T>(allocate: () => T): Promise<T> {
    this.device.pushErrorScope('out-of-memory');
    let scope: Promise<GPUError | null>;
    let result: T;
    try {
      result = allocate();
    } finally {
      // Also when `allocate` throws: a scope left open would swallow later errors.
      scope = this.device.popErrorScope();
    }
    const error = await this.whileWaiting(scope);
    if (error) {
      throw new GpuMemoryError(`The GPU ran out of memory (${error.message}): choose a smaller model or batch.`);
    }
    return result;
  }

  /** The compiled pipeline of a kernel for these constants; compiled once. */
  pipeline(kernel: Kernel, constants: KernelConstants): Pipeline {
    const key = `${kernel.name}:${JSON.stringify(constants)}`;
    let pipeline = this.pipelines.get(key);
    if (!pipeline) {
      pipeline = new Pipeline(this.device, kernel, constants);
      this.pipelines.set(key, pipeline);
    }
    return pipeline;
  }

  /** The pipelines compiled so far. */
  get compiled(): readonly Pipeline[] {
    return [...this.pipelines.values()];
  }

  /**
   * Reads part of a buffer back, after everything submitted so far. One read-back costs a round trip (0.05–0.25 ms on the
   * software adapters, more in browsers): gather results in one buffer instead of calling this twice.
   */
  async read(buffer: GpuBuffer, byteOffset = 0, bytes = buffer.bytes - byteOffset): Promise<ArrayBuffer> {
    const size = Math.ceil(bytes / 4) * 4;
    const index = this.staging.findIndex((candidate) => candidate.size >= size);
    const staging =
      index >= 0
        ? this.staging.splice(index, 1)[0]!
        : this.device.createBuffer({
            label: 'read-back',
            size: Math.max(4096, 2 ** Math.ceil(Math.log2(size))),
            usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST,
          });
    const encoder = this.device.createCommandEncoder();
    encoder.copyBufferToBuffer(buffer.raw, byteOffset, staging, 0, size);
    this.device.queue.submit([encoder.finish()]);
    this.counts.readBacks++;
    try {
      await this.whileWaiting(staging.mapAsync(GPUMapMode.READ, 0, size));
    } catch (error) {
      this.check();
      throw error;
    }
    const contents = staging.getMappedRange(0, size).slice(0, bytes);
    staging.unmap();
    this.staging.push(staging);
    this.check();
    return contents;
  }

  async readFloats(buffer: GpuBuffer, offset = 0, count = buffer.bytes / 4 - offset): Promise<Float32Array> {
    return new Float32Array(await this.read(buffer, offset * 4, count * 4));
  }

  async readWords(buffer: GpuBuffer, offset = 0, count = buffer.bytes / 4 - offset): Promise<Uint32Array> {
    return new Uint32Array(await this.read(buffer, offset * 4, count * 4));
  }

  /** Resolves when everything submitted so far has run. */
  async idle(): Promise<void> {
    await this.whileWaiting(this.device.queue.onSubmittedWorkDone());
    this.check();
  }

  /** Gives the device back with all that lives on it. */
  destroy(): void {
    this.destroyed = true;
    for (const buffer of this.staging.splice(0)) buffer.destroy();
    this.pipelines.clear();
    this.device.destroy();
  }
}
