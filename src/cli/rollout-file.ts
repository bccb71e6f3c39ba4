import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { readRollouts, UnknownDialectError } from '../rollouts/dialects.ts';
import type { ImportReport, ImportResult } from '../rollouts/import.ts';
import { NotTextError } from '../rollouts/lines.ts';
import type { Terminal } from './command.ts';
import { UsageError } from './errors.ts';

/**
 * Reads the rollouts of a file, or of standard input for `-`, as a stream.
 * @throws UsageError when the file cannot be opened or is no text; defects inside are in the report.
 */
export async function readRolloutFile(
  path: string,
  dialect: string | undefined,
  terminal: Terminal,
): Promise<ImportResult> {
  try {
    const source = path === '-' ? terminal.input : createReadStream(path, { highWaterMark: 1 << 20 });
    return await readRollouts(source, dialect === undefined ? {} : { dialect });
  } catch (error) {
    if (error instanceof UnknownDialectError) throw new UsageError(error.message);
    if (error instanceof NotTextError) throw new UsageError(`${fileName(path)}: ${error.message}`);
    throw fileError(path, 'read', error);
  }
}

/** A failure of the file system as a sentence; any other error as it is. */
export function fileError(path: string, what: 'read' | 'written', error: unknown): unknown {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === undefined) return error;
  const why: Record<string, string> = {
    ENOENT: what === 'read' ? 'there is no such file' : 'there is no such folder',
    EISDIR: 'it is a folder',
    ENOTDIR: 'a part of the path is no folder',
    EACCES: 'it is not permitted',
    ENOSPC: 'the disk is full',
  };
  return new UsageError(`${fileName(path)} could not be ${what}: ${why[code] ?? code}.`);
}

/** Where rows are written to. */
export interface Sink {
  write(text: string): Promise<void>;
  close(): Promise<void>;
}

/** Characters collected before one write. */
const blockSize = 1 << 16;

/**
 * A file that is written anew, or standard output where no path is given.
 * @throws UsageError when the file cannot be opened or written.
 */
export async function openSink(path: string | undefined, terminal: Terminal): Promise<Sink> {
  if (path === undefined) return { write: (text) => terminal.out.write(text), close: () => terminal.out.flush() };
  const attempt = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      throw fileError(path, 'written', error);
    }
  };
  const file = await attempt(open(path, 'w'));
  let block = '';
  const flush = async () => {
    await attempt(file.writeFile(block)); // writes on from where it stands
    block = '';
  };
  return {
    write: async (text) => {
      block += text;
      if (block.length >= blockSize) await flush();
    },
    close: async () => {
      await flush();
      await file.close();
    },
  };
}

/** How messages call a file. */
export function fileName(path: string): string {
  return path === '-' ? 'Standard input' : path;
}

/** One sentence for a file from which no trajectory remains. */
export function nothingRemains(path: string, report: ImportReport): string {
  if (report.lines === report.blankLines) return `${fileName(path)} is empty.`;
  const first = [...report.unreadable, ...report.defective].sort((a, b) => a.lines[0]! - b.lines[0]!)[0];
  const example = first
    ? `line ${first.lines[0]}: ${first.reason}`
    : `trajectory ${JSON.stringify(report.refused[0]!.trajectory)}: ${report.refused[0]!.reason}`;
  return `${fileName(path)} has no complete trajectory (${example}); \`hgpo report\` lists everything.`;
}
