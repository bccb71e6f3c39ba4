import type { Writable } from 'node:stream';
import { OutputClosedError } from './errors.ts';

/** Characters collected before one write: a write per line would cost a system call per row. */
const blockSize = 1 << 16;

/**
 * Standard output with back-pressure: `write` resolves once the stream can take more, so a command that produces faster
 * than its reader consumes holds one block, not the whole output.
 */
export class Output {
  private block = '';
  private closed = false;
  private wake: (() => void) | undefined;

  constructor(private readonly stream: Writable) {
    const settle = () => {
      this.wake?.();
      this.wake = undefined;
    };
    stream.on('drain', settle);
    stream.on('close', () => {
      this.closed = true;
      settle();
    });
    stream.on('error', (error: NodeJS.ErrnoException) => {
      // A closed pipe (EPIPE; EOF on Windows) only says that the reader has read enough. A full disk is another matter.
      if (error.code !== 'EPIPE' && error.code !== 'EOF') this.failure = error;
      this.closed = true;
      settle();
    });
  }

  private failure: Error | undefined;

  /** Adds text; waits when a block is full and the reader is behind. */
  async write(text: string): Promise<void> {
    this.block += text;
    if (this.block.length >= blockSize) await this.flush();
  }

  /** One JSON value and a line feed. */
  line(value: unknown): Promise<void> {
    return this.write(`${JSON.stringify(value)}\n`);
  }

  /**
   * Hands over what has been collected.
   * @throws OutputClosedError when the reader has closed its end; the stream's own error when writing failed otherwise.
   */
  async flush(): Promise<void> {
    if (this.failure) throw this.failure;
    if (this.closed) throw new OutputClosedError('The reader of the output has closed it.');
    const block = this.block;
    this.block = '';
    if (block === '' || this.stream.write(block)) return;
    await new Promise<void>((resolve) => (this.wake = resolve));
    if (this.failure) throw this.failure;
  }
}
