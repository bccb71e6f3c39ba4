import { existsSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readModelFolder, weightFormats, type ReadFile, type WeightFormat } from '../policy/model-folder.ts';
import { openOnnxPolicy } from '../policy/onnx/open-onnx-policy.ts';
import { heads, type Head } from '../policy/text-policy.ts';
import { UsageError } from './errors.ts';
import type { OpenedPolicy, PolicyRequest } from './policies.ts';
import { projectRoot } from './project-root.ts';
import { fileError } from './rollout-file.ts';

/** How a neural policy is run; other policies have no use for it. */
export interface NeuralOptions {
  readonly weights?: string;
  readonly head?: string;
}

export const weightsOption = [
  '--weights <format>',
  `weights of a neural policy: ${weightFormats.join(', ')}`,
  'q4',
] as const;

export const headOption = [
  '--head <name>',
  `how a neural policy gives its command: ${heads.join(', ')}`,
  'generate-admissible',
] as const;

/** The model folder that a path or a shipped policy's name means; null where it means none. */
export function modelFolderPath(name: string): string | null {
  const shipped = join(projectRoot(), 'public', 'policies', name);
  if (/^[\w-]+$/.test(name) && existsSync(join(shipped, 'config.json'))) return shipped;
  return statSync(name, { throwIfNoEntry: false })?.isDirectory() ? name : null;
}

/** The files of a folder on disk. */
export function folderOnDisk(folder: string): ReadFile {
  return async (path) => {
    try {
      return new Uint8Array(await readFile(join(folder, path)));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw fileError(join(folder, path), 'read', error);
    }
  };
}

/**
 * The policy of a model folder, on ONNX Runtime's WebAssembly.
 * @throws ModelFileError for a folder that cannot be used; UsageError where it is for another environment or memory.
 */
export async function openNeuralPolicy(folder: string, request: PolicyRequest): Promise<OpenedPolicy> {
  const { environment, temperature, memory, neural = {} } = request;
  const format = oneOf('--weights', neural.weights ?? 'q4', weightFormats) as WeightFormat;
  const head = oneOf('--head', neural.head ?? 'generate-admissible', heads) as Head;
  const model = await readModelFolder(folderOnDisk(folder), format);
  if (!model.environments.includes(environment)) {
    throw new UsageError(`${folder} is a policy for ${model.environments.join(' and ')}, not for ${environment}.`);
  }
  const { historyLength } = model.promptFormat;
  if (memory !== undefined && memory !== historyLength) {
    throw new UsageError(`${folder} was made for memory ${historyLength}, not ${memory}.`);
  }
  const { policy } = await openOnnxPolicy(folder, model, { head, temperature });
  return { policy, memory: historyLength };
}

function oneOf(flag: string, value: string, known: readonly string[]): string {
  if (known.includes(value)) return value;
  throw new UsageError(`There is no ${JSON.stringify(value)} for ${flag}; known are ${known.join(', ')}.`);
}
