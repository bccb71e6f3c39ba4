import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NotTextError, readLines, type ByteSource, type Line } from './lines.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

/** The bytes in pieces of these sizes, again and again. */
function* inChunks(whole: Uint8Array, sizes: readonly number[]): Generator<Uint8Array> {
  for (let at = 0, i = 0; at < whole.length; i++) {
    const size = sizes[i % sizes.length]!;
    yield whole.subarray(at, at + size);
    at += size;
  }
}

async function linesOf(source: ByteSource, limit?: number): Promise<Line[]> {
  const lines: Line[] = [];
  await readLines(source, (line) => lines.push(line), limit);
  return lines;
}

describe('lines of a stream', () => {
  it('are the same however the bytes are cut into chunks, inside a character too', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ unit: 'grapheme-composite' }).map((text) => text.replace(/^\ufeff|\n/g, ''))),
        fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1 }),
        async (texts, sizes) => {
          const lines = await linesOf(inChunks(bytes(texts.map((text) => `${text}\n`).join('')), sizes));
          expect(lines.map(({ text }) => text)).toEqual(texts);
          expect(lines.map(({ number }) => number)).toEqual(texts.map((_, i) => i + 1));
        },
      ),
    );
  });

  it('come from a Blob, from a ReadableStream that cannot be iterated and from an asynchronous generator alike', async () => {
    const whole = bytes('é\nb\n');
    const reader = new Blob([whole]).stream().getReader();
    const bare = { getReader: () => reader } as unknown as ReadableStream<Uint8Array>;
    async function* generator() {
      yield* inChunks(whole, [1]);
    }
    for (const source of [new Blob([whole]).stream(), bare, generator()]) {
      expect((await linesOf(source)).map(({ text }) => text)).toEqual(['é', 'b']);
    }
  });

  it('lose the byte order mark and keep the carriage return', async () => {
    expect((await linesOf([bytes('\ufeffa\r\n\ufeffb')])).map(({ text }) => text)).toEqual(['a\r', '\ufeffb']);
  });

  it('say whether the last one was ended', async () => {
    expect((await linesOf([bytes('a\nb')])).map(({ ended }) => ended)).toEqual([true, false]);
    expect(await linesOf([])).toEqual([]);
    expect(await linesOf([bytes('\n\n')])).toHaveLength(2);
  });

  it('mark what is not UTF-8 and go on with the next', async () => {
    const lines = await linesOf([Uint8Array.of(0x61, 0xff, 0x0a), Uint8Array.of(0xed, 0xa0, 0x80, 0x0a), bytes('b\n')]);
    expect(lines.map(({ defect }) => defect)).toEqual(['not UTF-8', 'not UTF-8', null]);
    expect(lines[0]!.text).toBe('a\ufffd');
  });

  it('pass over one that is too long without keeping it', async () => {
    const lines = await linesOf(inChunks(bytes(`${'x'.repeat(200_000)}\nb\n`), [1000]), 5000);
    expect(lines.map(({ defect }) => defect)).toEqual(['too long', null]);
    expect(lines[0]!.text.length).toBeLessThanOrEqual(64 * 1024);
    expect(lines[1]!.text).toBe('b');
  });

  it.each([
    ['UTF-16', Uint8Array.of(0xff, 0xfe, 0x7b, 0)],
    ['gzip', Uint8Array.of(0x1f, 0x8b, 8, 0)],
  ])('refuse %s as a whole', async (name, start) => {
    await expect(linesOf([start])).rejects.toThrow(NotTextError);
    await expect(linesOf([start])).rejects.toThrow(name);
  });
});
