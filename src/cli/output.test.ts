import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { OutputClosedError } from './errors.ts';
import { Output } from './output.ts';

describe('output', () => {
  it('waits for a slow reader and loses nothing', async () => {
    let read = '';
    let waiting = 0;
    const slow = new Writable({
      highWaterMark: 1,
      write(chunk: Buffer, _, done) {
        waiting = chunk.length;
        setImmediate(() => {
          read += chunk.toString();
          waiting = 0;
          done();
        });
      },
    });
    const out = new Output(slow);
    const line = 'x'.repeat(1000);
    for (let i = 0; i < 500; i++) {
      await out.write(line);
      expect(slow.writableLength + waiting).toBeLessThan(3 << 16);
    }
    await out.flush();
    expect(read).toBe(line.repeat(500));
  });

  it('stops with OutputClosedError once the reader has gone', async () => {
    const gone = new Writable({
      write(_, __, done) {
        done(Object.assign(new Error('gone'), { code: 'EPIPE' }));
      },
    });
    const out = new Output(gone);
    const writeMuch = async () => {
      for (let i = 0; i < 10; i++) await out.write('x'.repeat(1 << 17));
    };
    await expect(writeMuch()).rejects.toThrow(OutputClosedError);
  });

  it('passes on that the disk is full', async () => {
    const full = new Writable({
      write(_, __, done) {
        done(Object.assign(new Error('no space'), { code: 'ENOSPC' }));
      },
    });
    const out = new Output(full);
    const writeMuch = async () => {
      for (let i = 0; i < 10; i++) await out.write('x'.repeat(1 << 17));
    };
    await expect(writeMuch()).rejects.toThrow('no space');
  });
});
