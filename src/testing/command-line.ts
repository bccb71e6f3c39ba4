import { Writable } from 'node:stream';
import type { Terminal } from '../cli/command.ts';
import { explain, runCommand } from '../cli/main.ts';
import { Output } from '../cli/output.ts';

export interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Standard output as JSON lines. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests name the fields that they read
  readonly lines: any[];
}

/** Runs a command inside the test's own process, standard input given as text or bytes. */
export async function hgpo(args: readonly string[], input: string | Uint8Array = ''): Promise<Run> {
  let stdout = '';
  let stderr = '';
  let code = 0;
  const out = new Output(
    new Writable({
      write(chunk: Buffer, _, done) {
        stdout += chunk.toString();
        done();
      },
    }),
  );
  const terminal: Terminal = {
    out,
    say: (sentence) => (stderr += `${sentence}\n`),
    input: (async function* () {
      yield typeof input === 'string' ? new TextEncoder().encode(input) : input;
    })(),
    setExitCode: (value) => (code = value),
  };
  try {
    await runCommand(args, terminal).finally(() => out.flush());
  } catch (error) {
    code = explain(error, terminal);
  }
  return {
    code,
    stdout,
    stderr,
    get lines() {
      return stdout
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as unknown);
    },
  };
}
