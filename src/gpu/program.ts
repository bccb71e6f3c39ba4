/**
 * Programs: lists of kernel launches that are planned once and run many times. What changes from batch to batch (how many
 * tokens, sequences, response positions) is read from functions at each run and goes into small uniform blocks; buffers,
 * bind groups and pipelines stay.
 */
import { GpuBuffer, type Binding } from './buffer.ts';
import type { Gpu } from './device.ts';
import { KernelInterfaceError, type Kernel, type KernelConstants, type Pipeline } from './kernel.ts';

/** A number that is fixed when a program is planned, or looked up at each run. */
export type Count = number | (() => number);

export function valueOf(count: Count): number {
  return typeof count === 'number' ? count : count();
}

/** One launch of a kernel. */
export interface Dispatch {
  readonly kernel: Kernel;
  readonly constants: KernelConstants;
  /** Buffers by the names of the shader's storage variables. */
  readonly bindings: Readonly<Record<string, Binding>>;
  /** Values by the names of the shader's parameter fields. */
  readonly parameters: Readonly<Record<string, Count>>;
  /** Workgroups in x, y, z; a launch with none is skipped. */
  readonly workgroups: () => readonly [number, number, number];
  /** About how many floating-point operations it is, to keep submissions short; small launches leave it out. */
  readonly work?: () => number;
}

/** Invocations in a workgroup of kernels that have no reason for another number. */
export const WORKGROUP = 64;

/**
 * Workgroups for `count` invocations that the kernel numbers as `linearIndex` (see shaders/index.wgsl): rows of 32,768
 * workgroups, because one dimension holds at most 65,535.
 */
export function linearWorkgroups(count: number, workgroup = WORKGROUP): readonly [number, number, number] {
  const groups = Math.ceil(count / workgroup);
  return groups <= 32_768 ? [groups, 1, 1] : [32_768, Math.ceil(groups / 32_768), 1];
}

interface PlannedDispatch {
  readonly dispatch: Dispatch;
  readonly pipeline: Pipeline;
  readonly bindGroup: GPUBindGroup;
  /** Where its parameters begin in the uniform block of the program, in 4-byte words. */
  readonly word: number;
}

const UNIFORM_ALIGNMENT_WORDS = 64;

/** Operations in one submission: well under a second on the slowest adapter measured (5 GFLOP/s, SwiftShader). */
const WORK_PER_SUBMISSION = 2e9;

/**
 * A recorded list of launches. Owns its uniform block; the buffers that it binds belong to whoever planned it.
 */
export class Program {
  private readonly planned: PlannedDispatch[] = [];
  private readonly uniformBuffer: GPUBuffer | null;
  private readonly words: ArrayBuffer;

  constructor(
    private readonly gpu: Gpu,
    readonly label: string,
    dispatches: readonly Dispatch[],
  ) {
    let words = 0;
    const offsets: number[] = [];
    const pipelines = dispatches.map((dispatch) => {
      const pipeline = gpu.pipeline(dispatch.kernel, dispatch.constants);
      offsets.push(words);
      words += Math.ceil(pipeline.interface.parameters.length / UNIFORM_ALIGNMENT_WORDS) * UNIFORM_ALIGNMENT_WORDS;
      return pipeline;
    });
    this.words = new ArrayBuffer(words * 4);
    this.uniformBuffer =
      words === 0
        ? null
        : gpu.device.createBuffer({
            label: `${label} parameters`,
            size: words * 4,
            usage: GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST,
          });
    if (this.uniformBuffer) gpu.liveBuffers++;
    dispatches.forEach((dispatch, i) => {
      const pipeline = pipelines[i]!;
      const word = offsets[i]!;
      this.planned.push({ dispatch, pipeline, word, bindGroup: this.bind(dispatch, pipeline, word) });
    });
  }

  private bind(dispatch: Dispatch, pipeline: Pipeline, word: number): GPUBindGroup {
    const { storage, parameters, parameterBinding } = pipeline.interface;
    const expected = [...storage.map(({ name }) => name), ...parameters.map(({ name }) => name)].sort().join(' ');
    const given = [...Object.keys(dispatch.bindings), ...Object.keys(dispatch.parameters)].sort().join(' ');
    if (expected !== given) {
      throw new KernelInterfaceError(`${dispatch.kernel.name} takes [${expected}] and was given [${given}].`);
    }
    const entries: GPUBindGroupEntry[] = storage.map(({ name, binding }) => {
      const bound = dispatch.bindings[name]!;
      return {
        binding,
        resource:
          bound instanceof GpuBuffer
            ? { buffer: bound.raw }
            : { buffer: bound.buffer.raw, offset: bound.byteOffset, size: bound.bytes },
      };
    });
    if (parameterBinding >= 0) {
      entries.push({
        binding: parameterBinding,
        // Uniform blocks are sized in steps of 16 bytes.
        resource: {
          buffer: this.uniformBuffer!,
          offset: word * 4,
          size: Math.ceil(parameters.length / 4) * 16,
        },
      });
    }
    return this.gpu.device.createBindGroup({ label: dispatch.kernel.name, layout: pipeline.layout, entries });
  }

  get dispatchCount(): number {
    return this.planned.length;
  }

  /** Writes this run's parameters and submits the launches, in several submissions where they are long. */
  run(): void {
    const { device, counts } = this.gpu;
    const asUnsigned = new Uint32Array(this.words);
    const asSigned = new Int32Array(this.words);
    const asFloat = new Float32Array(this.words);
    for (const { dispatch, pipeline, word } of this.planned) {
      pipeline.interface.parameters.forEach(({ name, type }, i) => {
        const value = valueOf(dispatch.parameters[name]!);
        if (type === 'f32') asFloat[word + i] = value;
        else if (type === 'i32') asSigned[word + i] = value;
        else asUnsigned[word + i] = value;
      });
    }
    if (this.uniformBuffer) device.queue.writeBuffer(this.uniformBuffer, 0, this.words);

    let encoder: GPUCommandEncoder | null = null;
    let pass: GPUComputePassEncoder | null = null;
    let work = 0;
    const submit = () => {
      if (!encoder || !pass) return;
      pass.end();
      device.queue.submit([encoder.finish()]);
      counts.submissions++;
      encoder = pass = null;
      work = 0;
    };
    let bound: Pipeline | null = null;
    for (const { dispatch, pipeline, bindGroup } of this.planned) {
      const [x, y, z] = dispatch.workgroups();
      if (x * y * z === 0) continue;
      const more = dispatch.work?.() ?? 0;
      if (work > 0 && work + more > WORK_PER_SUBMISSION) submit();
      if (!pass) {
        encoder = device.createCommandEncoder({ label: this.label });
        pass = encoder.beginComputePass({ label: this.label });
        bound = null;
      }
      if (bound !== pipeline) {
        pass.setPipeline(pipeline.raw);
        bound = pipeline;
      }
      pass.setBindGroup(0, bindGroup);
      pass.dispatchWorkgroups(x, y, z);
      counts.dispatches++;
      work += more;
    }
    submit();
  }

  destroy(): void {
    if (this.uniformBuffer && this.planned.length > 0) {
      this.planned.length = 0;
      this.uniformBuffer.destroy();
      this.gpu.liveBuffers--;
    }
  }
}
