import { existsSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readModelFolder, weightFormats, type ReadFile } from './model-folder.ts';

const policies = resolve(import.meta.dirname, '../../public/policies');
const names = readdirSync(policies).filter((name) => existsSync(resolve(policies, name, 'config.json')));
const MEBIBYTE = 2 ** 20;

describe.each(names)('the shipped policy %s', (name) => {
  const read: ReadFile = async (path) => new Uint8Array(await readFile(resolve(policies, name, path)));

  it('can be read in every format, and its quantized files take at most 2 MiB', async () => {
    for (const format of weightFormats) {
      const { bytes } = await readModelFolder(read, format);
      if (format !== 'float32') expect(bytes.length).toBeLessThanOrEqual(2 * MEBIBYTE);
    }
  });

  it('has a card that says what was measured and which command makes it', async () => {
    const card = new TextDecoder().decode((await read('README.md'))!);
    expect(card).toMatch(/^\| q4 +\| generate-admissible +\| seen +\| 1 +\|/m);
    expect(card).toContain('`hgpo pretrain ');
  });
});
