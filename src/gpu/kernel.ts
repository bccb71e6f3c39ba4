import { specialize } from './wgsl.ts';

/** Values that a kernel is compiled for: tile sizes, head size, which options are on. */
export type KernelConstants = Readonly<Record<string, number | boolean>>;

/**
 * One operation on the GPU: the text of its file in `shaders/` (with parts that it shares with others put in front). The
 * text is the only place that says what is bound:
 *
 *   struct Parameters { tokens: u32, scale: f32 }          at most one uniform block, always called `parameters`,
 *   @group(0) @binding(0) var<uniform> parameters: Parameters;       fields of type u32, i32 or f32
 *   @group(0) @binding(1) var<storage, read> x: array<f32>;          storage by name; at most 8
 */
export interface Kernel {
  readonly name: string;
  readonly source: string;
}

/** A kernel was given other bindings or parameters than its shader declares. */
export class KernelInterfaceError extends Error {
  override readonly name = 'KernelInterfaceError';
}

interface StorageBinding {
  readonly name: string;
  readonly binding: number;
  readonly readOnly: boolean;
}

interface ParameterField {
  readonly name: string;
  readonly type: 'u32' | 'i32' | 'f32';
}

/** What a specialised shader text declares. */
export interface KernelInterface {
  readonly storage: readonly StorageBinding[];
  readonly parameters: readonly ParameterField[];
  readonly parameterBinding: number;
}

/** Reads the declarations of the form that `Kernel` describes out of a shader text. */
export function readInterface(name: string, code: string): KernelInterface {
  const text = code.replace(/\/\/.*$/gm, '');
  const storage: StorageBinding[] = [];
  for (const match of text.matchAll(/@group\(0\)\s*@binding\((\d+)\)\s*var<storage,\s*(read|read_write)>\s*(\w+)/g)) {
    storage.push({ name: match[3]!, binding: Number(match[1]), readOnly: match[2] === 'read' });
  }
  if (storage.length > 8) throw new KernelInterfaceError(`${name} binds ${storage.length} buffers; 8 are allowed.`);
  const uniform = /@group\(0\)\s*@binding\((\d+)\)\s*var<uniform>\s*parameters\s*:\s*Parameters/.exec(text);
  const parameters: ParameterField[] = [];
  if (uniform) {
    const body = /struct\s+Parameters\s*\{([^}]*)\}/.exec(text)?.[1] ?? '';
    for (const field of body.matchAll(/(\w+)\s*:\s*(u32|i32|f32)\s*,?/g)) {
      parameters.push({ name: field[1]!, type: field[2] as ParameterField['type'] });
    }
  }
  return { storage, parameters, parameterBinding: uniform ? Number(uniform[1]) : -1 };
}

/** A kernel compiled for certain constants, with an explicit layout (an automatic one drops what a variant leaves unused). */
export class Pipeline {
  readonly interface: KernelInterface;
  readonly layout: GPUBindGroupLayout;
  readonly raw: GPUComputePipeline;
  readonly module: GPUShaderModule;

  constructor(
    device: GPUDevice,
    readonly kernel: Kernel,
    constants: KernelConstants,
  ) {
    const code = specialize(kernel.source, constants);
    this.interface = readInterface(kernel.name, code);
    this.module = device.createShaderModule({ label: kernel.name, code });
    const entries: GPUBindGroupLayoutEntry[] = this.interface.storage.map(({ binding, readOnly }) => ({
      binding,
      visibility: GPUShaderStage.COMPUTE,
      buffer: { type: readOnly ? 'read-only-storage' : 'storage' },
    }));
    if (this.interface.parameterBinding >= 0) {
      entries.push({
        binding: this.interface.parameterBinding,
        visibility: GPUShaderStage.COMPUTE,
        buffer: { type: 'uniform' },
      });
    }
    this.layout = device.createBindGroupLayout({ label: kernel.name, entries });
    this.raw = device.createComputePipeline({
      label: kernel.name,
      layout: device.createPipelineLayout({ bindGroupLayouts: [this.layout] }),
      compute: { module: this.module, entryPoint: 'main' },
    });
  }
}
