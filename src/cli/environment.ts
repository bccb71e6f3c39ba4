import { ModelTooLargeError } from '../analysis/episode-model.ts';
import {
  EpisodeGenerationError,
  environmentNames,
  type EnvironmentName,
  OptionError,
  SeedError,
  UnknownNameError,
} from '../environments/environment.ts';
import { RoomDescriptionError } from '../environments/rooms/room.ts';
import { TabularPolicyFileError } from '../rollouts/policies/tabular.ts';
import { ModelFileError } from '../policy/model-file-error.ts';
import { PromptTooLongError } from '../policy/prompt.ts';
import { PolicyInputError } from '../rollouts/policy.ts';
import { UsageError } from './errors.ts';

const refusals = [
  SeedError,
  UnknownNameError,
  OptionError,
  EpisodeGenerationError,
  RoomDescriptionError,
  TabularPolicyFileError,
  PolicyInputError,
  ModelFileError,
  PromptTooLongError,
  ModelTooLargeError,
];

/** Runs work on what a person asked for; what environments and policies refuse then is bad input, not a defect. */
export async function onRequest<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (refusals.some((kind) => error instanceof kind)) throw new UsageError((error as Error).message);
    throw error;
  }
}

/** @throws UsageError with the names that are accepted. */
export function environmentName(text: string): EnvironmentName {
  if ((environmentNames as readonly string[]).includes(text)) return text as EnvironmentName;
  throw new UsageError(`There is no environment ${JSON.stringify(text)}; known are ${environmentNames.join(', ')}.`);
}
