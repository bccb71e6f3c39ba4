import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { CheckpointError } from '../training/packed-state.ts';
import { UsageError } from './errors.ts';
import { fileError } from './rollout-file.ts';

/** The folder that a long run writes to, and goes on from. */
export interface OutputFolder {
  /** Writes a file beside and moves it there: a run that is interrupted while writing leaves the last whole file. */
  replace(name: string, content: string | Uint8Array): Promise<void>;
  /** What `decode` makes of a file; null where there is none. */
  readCheckpoint<State>(name: string, decode: (bytes: Uint8Array) => State): Promise<State | null>;
}

/** @throws UsageError when the folder cannot be made; its methods, when a file cannot be read, written or decoded. */
export async function openOutputFolder(path: string): Promise<OutputFolder> {
  const guarded = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      throw fileError(path, 'written', error);
    }
  };
  await guarded(mkdir(path, { recursive: true }));
  return {
    replace: async (name, content) => {
      const target = join(path, name);
      await guarded(mkdir(dirname(target), { recursive: true }));
      await guarded(writeFile(`${target}.part`, content));
      await guarded(rename(`${target}.part`, target));
    },
    readCheckpoint: async (name, decode) => {
      const file = join(path, name);
      const bytes = await readFile(file).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return null;
        throw fileError(file, 'read', error);
      });
      if (!bytes) return null;
      try {
        return decode(bytes);
      } catch (error) {
        if (error instanceof CheckpointError) throw new UsageError(`${file}: ${error.message}`);
        throw error;
      }
    },
  };
}
