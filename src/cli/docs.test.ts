import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hgpo } from '../testing/command-line.ts';

const root = resolve(import.meta.dirname, '../..');

/** The examples of the console blocks: arguments, and what stands below them. */
const examples = [...readFileSync(resolve(root, 'docs/cli.md'), 'utf8').matchAll(/^```console\n(.*?)^```$/gms)].flatMap(
  ([, block]) =>
    block!
      .split(/^\$ npm run hgpo -- /m)
      .slice(1)
      .map((example) => [example.slice(0, example.indexOf('\n')), example.slice(example.indexOf('\n') + 1)] as const),
);

describe('docs/cli.md', () => {
  it('has examples', () => expect(examples.length).toBeGreaterThan(5));

  it.each(examples)('shows what `%s` prints', async (command, printed) => {
    const args = [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!);
    const paths = args.map((arg) => (arg.startsWith('docs/') ? resolve(root, arg) : arg));
    const { code, stdout } = await hgpo(paths);
    expect(code).toBe(0);
    expect(stdout).toBe(printed);
  });
});
