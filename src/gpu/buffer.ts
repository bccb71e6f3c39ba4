import type { Gpu } from './device.ts';

export type BufferContents = Float32Array | Uint32Array | Int32Array | Uint8Array;

/** A storage buffer with one owner, who destroys it. Counted by its `Gpu`. */
export class GpuBuffer {
  readonly raw: GPUBuffer;
  readonly bytes: number;
  private alive = true;

  constructor(
    private readonly gpu: Gpu,
    readonly label: string,
    bytes: number,
  ) {
    // Bindings of zero bytes are invalid; an empty tensor still gets a word.
    this.bytes = Math.max(4, Math.ceil(bytes / 4) * 4);
    this.raw = gpu.device.createBuffer({
      label,
      size: this.bytes,
      usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST,
    });
    gpu.liveBuffers++;
    gpu.liveBytes += this.bytes;
    gpu.peakBytes = Math.max(gpu.peakBytes, gpu.liveBytes);
  }

  /** Replaces part of the contents, in order with what is submitted before and after. */
  write(contents: BufferContents, byteOffset = 0): void {
    let bytes = new Uint8Array(contents.buffer as ArrayBuffer, contents.byteOffset, contents.byteLength);
    if (bytes.byteLength === 0) return;
    if (bytes.byteLength % 4 !== 0) {
      const padded = new Uint8Array(Math.ceil(bytes.byteLength / 4) * 4);
      padded.set(bytes);
      bytes = padded;
    }
    this.gpu.device.queue.writeBuffer(this.raw, byteOffset, bytes);
  }

  /** Fills with zero bytes. */
  clear(): void {
    const encoder = this.gpu.device.createCommandEncoder();
    encoder.clearBuffer(this.raw);
    this.gpu.device.queue.submit([encoder.finish()]);
  }

  /** A part of this buffer, to be bound alone. `byteOffset` must be a multiple of 256 (WebGPU's default alignment). */
  slice(byteOffset: number, bytes: number): BufferSlice {
    return { buffer: this, byteOffset, bytes: Math.max(4, Math.ceil(bytes / 4) * 4) };
  }

  destroy(): void {
    if (!this.alive) return;
    this.alive = false;
    this.raw.destroy();
    this.gpu.liveBuffers--;
    this.gpu.liveBytes -= this.bytes;
  }
}

export interface BufferSlice {
  readonly buffer: GpuBuffer;
  readonly byteOffset: number;
  readonly bytes: number;
}

/** What a kernel's binding can be given. */
export type Binding = GpuBuffer | BufferSlice;
