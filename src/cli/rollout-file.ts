import { createReadStream } from 'node:fs';
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
    const code = (error as NodeJS.ErrnoException).code;
    if (code === undefined) throw error;
    const why: Record<string, string> = {
      ENOENT: 'there is no such file',
      EISDIR: 'it is a folder',
      EACCES: 'reading it is not permitted',
    };
    throw new UsageError(`${fileName(path)} could not be read: ${why[code] ?? code}.`);
  }
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
