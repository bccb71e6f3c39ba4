import { RolloutCollector, type ImportResult } from './import.ts';
import { rolloutJsonl } from './jsonl.ts';
import type { ByteSource } from './lines.ts';

/** A way in which rollouts are written in files. Adding one is a file that exports it and a line in `dialects`. */
export interface RolloutDialect {
  /** What `--dialect` and the report call it. */
  readonly id: string;
  readonly title: string;
  readonly description: string;
  /** File name endings, with the dot. */
  readonly extensions: readonly string[];
  /** Whether the project writes it too. */
  readonly writes: boolean;
  /**
   * Hands everything that the source holds to the collector: rows, defective rows, unreadable lines. Never throws for
   * what stands in a line; throws NotTextError for a file that has no lines.
   */
  read(source: ByteSource, into: RolloutCollector): Promise<void>;
}

export const dialects: readonly RolloutDialect[] = [rolloutJsonl];

/** A dialect that the registry does not have. */
export class UnknownDialectError extends Error {
  override readonly name = 'UnknownDialectError';
}

/**
 * Reads rollouts as a stream. Defects never throw: they are in the report, and what is whole is in the batch.
 * @param options.dialect id of the dialect; default `rollout-jsonl`
 * @param options.keepSource whether to keep the original text of each row, for writing it back byte for byte; it costs
 *   the size of the file in memory. Default false.
 * @throws UnknownDialectError
 * @throws NotTextError when the file is UTF-16 or compressed
 */
export async function readRollouts(
  source: ByteSource,
  options: { readonly dialect?: string; readonly keepSource?: boolean } = {},
): Promise<ImportResult> {
  const id = options.dialect ?? rolloutJsonl.id;
  const dialect = dialects.find((one) => one.id === id);
  if (!dialect) {
    const known = dialects.map((one) => one.id).join(', ');
    throw new UnknownDialectError(`There is no dialect ${JSON.stringify(id)}; known: ${known}.`);
  }
  const collector = new RolloutCollector(dialect.id, options.keepSource ?? false);
  await dialect.read(source, collector);
  return collector.finish();
}
