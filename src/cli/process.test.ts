import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

// The bundled command line as a process of its own: streams, pipes and exit codes are those of the operating system.
const script = resolve(import.meta.dirname, '../../scripts/hgpo.mjs');

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** @param readAll false: closes the pipe after the first piece of output, as `head` does */
function run(args: readonly string[], readAll = true, env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [script, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
    });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (piece: Buffer) => {
      stdout += piece.toString();
      if (!readAll) child.stdout.destroy();
    });
    child.stderr.on('data', (piece: Buffer) => (stderr += piece.toString()));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
}

describe('the process', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hgpo-'));
    await run(['formats']); // builds the bundle, where it is not current
  });
  afterAll(() => rm(folder, { recursive: true }));

  it('under npm, reads files from where the person is and not from the project', async () => {
    await writeFile(join(folder, 'here.jsonl'), '');
    const env = { npm_lifecycle_event: 'hgpo', INIT_CWD: folder };
    const { code, stderr } = await run(['estimate', 'here.jsonl', '--method', 'hgpo'], true, env);
    expect([code, stderr]).toEqual([2, 'here.jsonl is empty.\n']);
  });

  it('survives a hostile file: JSON lines alone on stdout, the account on stderr', async () => {
    const good = (trajectory: string, step: number) =>
      `{"uid":"u","traj_uid":"${trajectory}","step":${step},"anchor_obs":"o","action":"a","reward":${step},"valid":true}`;
    const path = join(folder, 'hostile.jsonl');
    await writeFile(
      path,
      Buffer.concat([
        Buffer.from(`\ufeff${good('a', 0)}\r\n\r\n${good('a', 1)}\n${good('b', 0)}\n[]\n`),
        Buffer.from([0xff, 0xfe, 0x0a]),
        Buffer.from(`${good('n', 0).replace('"reward":0', '"reward":NaN')}\n`),
        Buffer.from(`{"__proto__":{"uid":1},"traj_uid":"p"}\n${'['.repeat(100_000)}\n${'x'.repeat(1_000_000)}\n`),
        Buffer.from(good('b', 1).slice(0, 60)),
      ]),
    );
    const { code, stdout, stderr } = await run(['estimate', path, '--method', 'hgpo', '--json']);
    expect(code).toBe(0);
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.map(({ traj_uid, step, refused }) => [traj_uid, step, refused === undefined])).toEqual([
      ['a', 0, true],
      ['a', 1, true],
      ['b', 0, false],
      ['n', 0, false],
      ['p', null, false],
    ]);
    expect(stderr).toContain('Accepted 2 rows of 1 trajectory');
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  it('ends quietly when the reader of its output has seen enough', async () => {
    const path = join(folder, 'long.jsonl');
    const row = (i: number) =>
      `{"uid":"u","traj_uid":"t${i}","step":0,"anchor_obs":"o","action":"a","reward":${i % 2},"valid":true}\n`;
    await writeFile(path, Array.from({ length: 20_000 }, (_, i) => row(i)).join(''));
    const { code, stderr } = await run(['estimate', path, '--method', 'grpo', '--json'], false);
    expect([code, stderr]).toEqual([0, '']);
  });

  it.each([
    [['estimate', 'no-such-file', '--method', 'grpo'], 'no-such-file could not be read: there is no such file.\n'],
    [['nonsense'], "Unknown command 'nonsense'; --help lists what there is.\n"],
  ])('answers %j with 2 and one sentence', async (args, sentence) => {
    expect(await run(args)).toEqual({ code: 2, stdout: '', stderr: sentence });
  });
});
