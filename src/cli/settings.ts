import type { Command } from 'commander';
import { presetNames as environmentPresets } from '../environments/environment.ts';
import { presetNames as optionPresets, resolveSettings, SettingsError, type Settings } from '../estimators/settings.ts';
import type { RolloutBatch } from '../rollouts/batch.ts';
import { collect, finiteNumber, wholeNumber } from './command.ts';
import { UsageError } from './errors.ts';

/** The options of every command that computes advantages. */
export interface EstimatorOptions {
  readonly method: string;
  readonly preset?: readonly string[];
  readonly env?: string;
  readonly options?: string;
  readonly history?: number;
  readonly alpha?: number;
}

/** Adds `--preset`, `--env`, `--options`, `--history` and `--alpha`. */
export function withEstimatorOptions(command: Command): Command {
  return command
    .option(
      '--preset <name>',
      `${optionPresets.join(' or ')} (option set; default ${optionPresets[0]}), or a size ${environmentPresets.join(', ')}; may be repeated`,
      collect,
    )
    .option(
      '--env <name>',
      'rooms or shop, which some defaults depend on (default: what `episode_id` says, else rooms)',
    )
    .option(
      '--options <json>',
      'options by name, a JSON object: \'{"gamma":1,"invalidPenalty":0}\'; they win over the preset',
    )
    .option('--history <K>', 'the deepest level of the hierarchy (option K)', wholeNumber)
    .option('--alpha <number>', 'how much more deeper levels weigh (option alpha)', finiteNumber);
}

/** The presets of a command line, by kind. */
export interface Presets {
  /** `paper` or `reference`, where one is named. */
  readonly option: string | undefined;
  /** `XS` … `XL`, where one is named. */
  readonly size: string | undefined;
}

/**
 * Sorts the values of `--preset` by the two disjoint sets of names.
 * @throws UsageError for an unknown name and for two of one kind.
 */
export function sortPresets(names: readonly string[] = []): Presets {
  const found: { option: string | undefined; size: string | undefined } = { option: undefined, size: undefined };
  for (const name of names) {
    const kind = isOneOf(optionPresets, name) ? 'option' : isOneOf(environmentPresets, name) ? 'size' : undefined;
    if (!kind) {
      const known = [...optionPresets, ...environmentPresets].join(', ');
      throw new UsageError(`There is no preset ${JSON.stringify(name)}; known are ${known}.`);
    }
    if (found[kind] !== undefined && found[kind] !== name) {
      throw new UsageError(`--preset ${found[kind]} and --preset ${name} exclude each other.`);
    }
    found[kind] = name;
  }
  return found;
}

function isOneOf(names: readonly string[], name: string): boolean {
  return names.includes(name);
}

/**
 * The settings of a command line.
 * @param batch the rollouts, once they are read: their `episode_id` may name the environment
 * @throws UsageError
 */
export function settingsOf(given: EstimatorOptions, batch?: RolloutBatch): Settings {
  const options = optionsOf(given);
  return onSettings(() =>
    resolveSettings({
      method: given.method,
      preset: sortPresets(given.preset).option,
      environment: given.env ?? (batch && environmentOf(batch)),
      options,
    }),
  );
}

/**
 * The options by name that a command line gives: `--options`, and the flags that stand for one of them.
 * @throws UsageError for no JSON object, and for a flag that says something else than `--options`.
 */
export function optionsOf(given: Omit<EstimatorOptions, 'method'>): Record<string, unknown> {
  const options = parseOptions(given.options);
  for (const [flag, name, value] of [
    ['--history', 'K', given.history],
    ['--alpha', 'alpha', given.alpha],
  ] as const) {
    setOption(options, name, value, flag);
  }
  return options;
}

/** @throws UsageError when `--options` says something else than the flag. */
export function setOption(
  options: Record<string, unknown>,
  name: string,
  value: number | undefined,
  flag: string,
): void {
  if (value === undefined) return;
  if (Object.hasOwn(options, name) && options[name] !== value) {
    throw new UsageError(
      `${flag} ${value} and "${name}":${JSON.stringify(options[name])} of --options exclude each other.`,
    );
  }
  options[name] = value;
}

/** Makes settings; a refusal is bad input, not a defect. */
export function onSettings(make: () => Settings): Settings {
  try {
    return make();
  } catch (error) {
    if (error instanceof SettingsError) throw new UsageError(error.message);
    throw error;
  }
}

function parseOptions(text: string | undefined): Record<string, unknown> {
  if (text === undefined) return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new UsageError(`--options is not JSON: ${shortened(text)}; write it as '{"alpha":1}'.`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new UsageError(`--options is not a JSON object: ${shortened(text)}; write it as '{"alpha":1}'.`);
  }
  return value as Record<string, unknown>;
}

function shortened(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}

/** The environment that all episodes name, where they name one. */
function environmentOf(batch: RolloutBatch): string | undefined {
  const ids = batch.episodeIds.values;
  return ids.length > 0 && ids.every((id) => /^shop\b/.test(id)) ? 'shop' : undefined;
}
