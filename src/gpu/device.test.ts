import { describe, expect, test, vi } from 'vitest';
import { GpuBuffer } from './buffer.ts';
import { Gpu, GpuFaultError, GpuLostError, GpuUnavailableError, openGpu } from './device.ts';
import { KernelInterfaceError, readInterface, type Kernel } from './kernel.ts';
import { linearWorkgroups, Program, type Dispatch } from './program.ts';
import { formatVariants, parseVariants, DEFAULT_VARIANTS, VariantsError } from './variants.ts';

// A device that records what it is asked for: layouts, uniforms and dispatch sizes need no GPU.
vi.stubGlobal('GPUBufferUsage', { STORAGE: 1, COPY_SRC: 2, COPY_DST: 4, UNIFORM: 8, MAP_READ: 16 });
vi.stubGlobal('GPUShaderStage', { COMPUTE: 1 });
vi.stubGlobal('GPUMapMode', { READ: 1 });

const defaults = {
  maxStorageBuffersPerShaderStage: 8,
  maxStorageBufferBindingSize: 134_217_728,
  maxBufferSize: 268_435_456,
  maxComputeWorkgroupStorageSize: 16_384,
  maxComputeInvocationsPerWorkgroup: 256,
  maxComputeWorkgroupSizeX: 256,
  maxComputeWorkgroupsPerDimension: 65_535,
};

function recordingDevice() {
  const log: { dispatches: number[][]; submissions: number; uniforms: ArrayBuffer[]; layouts: unknown[] } = {
    dispatches: [],
    submissions: 0,
    uniforms: [],
    layouts: [],
  };
  const listeners: ((event: unknown) => void)[] = [];
  let lose: (info: { reason: string; message: string }) => void = () => undefined;
  const pass = {
    setPipeline: () => undefined,
    setBindGroup: () => undefined,
    dispatchWorkgroups: (...size: number[]) => log.dispatches.push(size),
    end: () => undefined,
  };
  const device = {
    limits: defaults,
    lost: new Promise((resolve) => (lose = resolve)),
    addEventListener: (_: string, listener: (event: unknown) => void) => listeners.push(listener),
    createBuffer: ({ size }: { size: number }) => ({ size, destroy: () => undefined }),
    createBindGroupLayout: (layout: unknown) => log.layouts.push(layout),
    createPipelineLayout: () => ({}),
    createShaderModule: () => ({}),
    createComputePipeline: () => ({}),
    createBindGroup: () => ({}),
    createCommandEncoder: () => ({ beginComputePass: () => pass, finish: () => ({}) }),
    queue: {
      submit: () => log.submissions++,
      writeBuffer: (_: unknown, __: number, data: ArrayBuffer) => log.uniforms.push(data.slice(0)),
    },
    destroy: () => undefined,
  };
  const report = (message: string) =>
    listeners.forEach((listen) => listen({ error: { message }, preventDefault() {} }));
  return {
    device: device as unknown as GPUDevice,
    log,
    report,
    lose: (reason: string) => lose({ reason, message: '' }),
  };
}

const report = {
  name: 'mock',
  featureLevel: 'core',
  software: true,
  features: [],
  subgroupSize: 0,
  limits: defaults,
} as const;

const doubling: Kernel = {
  name: 'doubling',
  source: `struct Parameters { count: u32, factor: f32 }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;`,
};

describe('why there is no device', () => {
  const adapter = (limits: Partial<typeof defaults> = {}, info: object = { vendor: 'maker' }) => ({
    info,
    limits: { ...defaults, ...limits },
    features: new Set(),
    requestDevice: async () => recordingDevice().device,
  });
  const api = (adapters: Partial<Record<'core' | 'compatibility', object>>) =>
    ({
      requestAdapter: async ({ featureLevel }: { featureLevel: 'core' | 'compatibility' }) =>
        adapters[featureLevel] ?? null,
    }) as unknown as GPU;
  const reason = async (options: Parameters<typeof openGpu>[0]) => {
    const error: unknown = await openGpu(options).then(
      () => null,
      (failure: unknown) => failure,
    );
    expect(error).toBeInstanceOf(GpuUnavailableError);
    return (error as GpuUnavailableError).reason;
  };

  test('no API, an insecure page, no adapter, limits, a software adapter and a refusal are told apart', async () => {
    vi.stubGlobal('navigator', {});
    expect(await reason({})).toBe('no-api');
    vi.stubGlobal('isSecureContext', false);
    expect(await reason({})).toBe('insecure-context');
    expect(await reason({ gpu: api({}) })).toBe('no-adapter');
    expect(await reason({ gpu: api({ core: adapter({ maxStorageBuffersPerShaderStage: 4 }) }) })).toBe(
      'limits-too-low',
    );
    const software = adapter({}, { description: 'llvmpipe (LLVM 15)' });
    expect(await reason({ gpu: api({ core: software }), refuseSoftware: true })).toBe('software-adapter');
    const refusing = { ...adapter(), requestDevice: async () => Promise.reject(new Error('busy')) };
    expect(await reason({ gpu: api({ core: refusing }) })).toBe('device-refused');
  });

  test('a core adapter is preferred, one in compatibility mode will do with 128 invocations', async () => {
    const small = adapter({ maxComputeInvocationsPerWorkgroup: 128, maxComputeWorkgroupSizeX: 128 });
    expect((await openGpu({ gpu: api({ core: adapter(), compatibility: small }) })).adapter.featureLevel).toBe('core');
    expect((await openGpu({ gpu: api({ compatibility: small }) })).adapter.featureLevel).toBe('compatibility');
  });
});

test('an error that nobody waited for is thrown at the next check, once; a loss at every check', async () => {
  const { device, report: fault, lose } = recordingDevice();
  const gpu = new Gpu(device, report);
  fault('binding 3 is missing');
  expect(() => gpu.check()).toThrow(GpuFaultError);
  gpu.check();
  lose('unknown');
  expect(await gpu.lost).toBeInstanceOf(GpuLostError);
  expect(() => gpu.check()).toThrow(/restore the last checkpoint/);
  expect(() => gpu.check()).toThrow(GpuLostError);
});

test('buffers are counted while they live, however often they are destroyed', () => {
  const gpu = new Gpu(recordingDevice().device, report);
  const first = gpu.buffer('a', 10);
  gpu.buffer('b', 100);
  expect([gpu.liveBuffers, gpu.liveBytes]).toEqual([2, 112]);
  first.destroy();
  first.destroy();
  expect([gpu.liveBuffers, gpu.liveBytes, gpu.peakBytes]).toEqual([1, 100, 112]);
  expect(first).toBeInstanceOf(GpuBuffer);
});

test('the layout of a kernel is what its text declares, comments left out', () => {
  const text = `${doubling.source}\n// @group(0) @binding(9) var<storage, read> gone: array<f32>;`;
  expect(readInterface('doubling', text)).toEqual({
    storage: [
      { name: 'x', binding: 1, readOnly: true },
      { name: 'y', binding: 2, readOnly: false },
    ],
    parameters: [
      { name: 'count', type: 'u32' },
      { name: 'factor', type: 'f32' },
    ],
    parameterBinding: 0,
  });
  const nine = Array.from({ length: 9 }, (_, i) => `@group(0) @binding(${i}) var<storage, read> b${i}: array<f32>;`);
  expect(() => readInterface('nine', nine.join('\n'))).toThrow(KernelInterfaceError);
});

describe('a program', () => {
  const plan = (gpu: Gpu, change: Partial<Dispatch> = {}): Dispatch => ({
    kernel: doubling,
    constants: {},
    bindings: { x: gpu.buffer('x', 4), y: gpu.buffer('y', 4) },
    parameters: { count: 7, factor: 0.5 },
    workgroups: () => [3, 1, 1],
    ...change,
  });

  test('writes the parameters of each run in the order that the shader declares', () => {
    const { device, log } = recordingDevice();
    const gpu = new Gpu(device, report);
    let count = 1;
    const program = new Program(gpu, 'test', [plan(gpu, { parameters: { factor: 0.5, count: () => count } })]);
    program.run();
    count = 9;
    program.run();
    const read = (i: number) => [new Uint32Array(log.uniforms[i]!)[0], new Float32Array(log.uniforms[i]!)[1]];
    expect([read(0), read(1)]).toEqual([
      [1, 0.5],
      [9, 0.5],
    ]);
    expect(log.dispatches).toEqual([
      [3, 1, 1],
      [3, 1, 1],
    ]);
  });

  test('skips launches without workgroups and splits long work over submissions', () => {
    const { device, log } = recordingDevice();
    const gpu = new Gpu(device, report);
    const long = plan(gpu, { work: () => 1.5e9 });
    new Program(gpu, 'test', [long, plan(gpu, { workgroups: () => [0, 1, 1] }), long, plan(gpu), long]).run();
    expect(log.dispatches.length).toBe(4);
    expect(log.submissions).toBe(3);
    expect(gpu.counts).toEqual({ dispatches: 4, submissions: 3, readBacks: 0 });
  });

  test('refuses bindings and parameters that the shader does not declare, and misses none', () => {
    const gpu = new Gpu(recordingDevice().device, report);
    const build = (change: Partial<Dispatch>) => () => new Program(gpu, 'test', [plan(gpu, change)]);
    expect(build({ bindings: { x: gpu.buffer('x', 4) } })).toThrow(KernelInterfaceError);
    expect(build({ parameters: { count: 1, factor: 1, more: 1 } })).toThrow(/takes \[count factor x y\]/);
  });
});

test('more workgroups than one dimension holds spread over two', () => {
  expect(linearWorkgroups(0)).toEqual([0, 1, 1]);
  expect(linearWorkgroups(65)).toEqual([2, 1, 1]);
  expect(linearWorkgroups(64 * 32_768)).toEqual([32_768, 1, 1]);
  expect(linearWorkgroups(64 * 32_768 + 1)).toEqual([32_768, 2, 1]);
});

test('variants are written and read back; one that does not exist is refused with what there is', () => {
  expect(parseVariants(formatVariants(DEFAULT_VARIANTS))).toEqual(DEFAULT_VARIANTS);
  expect(parseVariants('rowLanes=8')).toEqual({ rowLanes: 8 });
  expect(() => parseVariants('rowLanes=7')).toThrow(VariantsError);
  expect(() => parseVariants('toString=1')).toThrow(/matmul = spread-8x8/);
});
