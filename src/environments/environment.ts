/**
 * The interface that Rooms and Shop share. An environment is deterministic: equal (generator version, seed, options,
 * actions) give byte-equal texts and keys everywhere. All values that leave it are plain data.
 */

export const environmentNames = ['rooms', 'shop'] as const;
export type EnvironmentName = (typeof environmentNames)[number];

/** Sizes, from smallest to largest; each environment says what they mean. */
export const presetNames = ['XS', 'S', 'M', 'L', 'XL'] as const;
export type PresetName = (typeof presetNames)[number];

/** Reward of the step on which the goal is reached; every other step gives 0. */
export const WIN_REWARD = 10;

/** What happened, in structured form; texts are pure functions of it. */
export interface EnvironmentEvent {
  readonly kind: string;
}

export interface Observation<Event extends EnvironmentEvent = EnvironmentEvent> {
  /** For people. */
  readonly text: string;
  /** For small policies: the same information in words of a closed vocabulary. */
  readonly compact: string;
  /** `compact` as it stands in a history entry: shortened where that observation is long, still a function of the event. */
  readonly brief: string;
  readonly event: Event;
}

export interface StepInfo<Event extends EnvironmentEvent = EnvironmentEvent> {
  /** False on an environment that had already finished: the step was ignored. */
  readonly active: boolean;
  /** Whether the action was carried out; otherwise the state is as it was. */
  readonly effective: boolean;
  /** Whether the goal was reached: success is this, never `done`. */
  readonly won: boolean;
  /** Whether the step limit ended the episode without a win. */
  readonly truncated: boolean;
  /** In [0, 1]. Rooms: 1 on a win, else 0. Shop: the score of the purchase. */
  readonly score: number;
  readonly event: Event;
  /** Steps taken since reset, this one included. */
  readonly stepIndex: number;
  readonly episodeId: string;
}

export interface StepResult<Event extends EnvironmentEvent = EnvironmentEvent> {
  readonly observation: Observation<Event>;
  readonly reward: number;
  readonly done: boolean;
  readonly info: StepInfo<Event>;
}

/**
 * The whole state of an episode, step counter and current observation included: small, structured-clonable, valid in
 * every worker that has reset to the same episode.
 */
export interface Snapshot {
  readonly environment: EnvironmentName;
  /** Version of the encoding of `state`. */
  readonly version: number;
  readonly episodeId: string;
  readonly state: Uint8Array;
}

/** Options that every environment knows. */
export interface EpisodeOptions {
  readonly preset?: PresetName;
  /** Which set of episodes the seed counts in; see `splits` of the environment. Default: the first that takes the seed. */
  readonly split?: string;
  /** The episode ends after this many steps. */
  readonly stepLimit?: number;
}

/** A policy of rules that sees observations only (`searching`) or the hidden state too (`oracle`). */
export interface Expert {
  /** Takes in the observation that `command` gave; `command` is null for the start observation. */
  observe(command: string | null, observation: Observation): void;
  /** The next command from here. */
  next(): string;
}

export const expertKinds = ['oracle', 'searching'] as const;
export type ExpertKind = (typeof expertKinds)[number];

/**
 * One episode at a time. `reset` comes first; everything else throws EnvironmentNotResetError before it.
 * A finished environment ignores further steps and never resets itself.
 */
export interface Environment<
  Options extends EpisodeOptions = EpisodeOptions,
  Event extends EnvironmentEvent = EnvironmentEvent,
> {
  readonly name: EnvironmentName;
  /** Names of the sets of episodes; disjoint. */
  readonly splits: readonly string[];
  /** Kinds of task that `reset` accepts as `task`. */
  readonly tasks: readonly string[];

  /**
   * Starts the episode of a seed.
   * @param seed whole number from 0 to 2³¹−1; a split may take only some of them (`seedForEpisode`).
   * @param task one of `tasks`; drawn from the seed when left out.
   * @throws SeedError, UnknownNameError, EpisodeGenerationError, OptionError
   */
  reset(seed: number, task?: string, options?: Options): Observation<Event>;
  /** The seed of the index-th episode (0, 1, 2, …) of a split. */
  seedForEpisode(split: string, index: number): number;

  /** Carries out a command, or the entry of `admissible()` with this index. Whatever is not admissible has no effect. */
  step(action: string | number): StepResult<Event>;
  /** The commands that have an effect now: complete, no duplicates, sorted by character code. */
  admissible(): readonly string[];
  /** The part of `admissible()` that can bring the goal nearer: without commands that only inform. Same order. */
  acting(): readonly string[];
  observation(): Observation<Event>;

  snapshot(): Snapshot;
  /** @throws ForeignSnapshotError when the snapshot is of another environment, version or episode. */
  restore(snapshot: Snapshot): void;

  /** Key of the current observation text: equal texts, equal keys. 16 hexadecimal digits. */
  anchorKey(): string;
  /** Canonical hidden state, without step counter and observation: equal states, equal keys, whatever the path. */
  stateKey(): string;

  /** The instruction, for the prompt. */
  readonly goal: string;
  /** Which of `tasks` this episode is. */
  readonly task: string;
  /** Generator version, preset, split, seed and every option that is not the default. */
  readonly episodeId: string;
  readonly stepIndex: number;
  readonly stepLimit: number;
  readonly done: boolean;
  readonly won: boolean;
  /** Whether the step limit ended the episode without a win. */
  readonly truncated: boolean;

  /** A fresh expert for the episode; `oracle` reads the hidden state of this environment at each `next`. */
  expert(kind: ExpertKind): Expert;
}

/** A seed that is no whole number from 0 to 2³¹−1, or that the split does not take. */
export class SeedError extends Error {
  override readonly name = 'SeedError';
}

/** A name (preset, split, task, room kind, …) that is not in its list. */
export class UnknownNameError extends Error {
  override readonly name = 'UnknownNameError';
}

/** An option outside its range, or options that contradict each other. */
export class OptionError extends Error {
  override readonly name = 'OptionError';
}

/** A snapshot of another environment, encoding version or episode. */
export class ForeignSnapshotError extends Error {
  override readonly name = 'ForeignSnapshotError';
}

/** No episode could be built for a seed within the number of tries. */
export class EpisodeGenerationError extends Error {
  override readonly name = 'EpisodeGenerationError';
}

/** A call that needs an episode, before the first `reset`. */
export class EnvironmentNotResetError extends Error {
  override readonly name = 'EnvironmentNotResetError';
  constructor(environment: EnvironmentName) {
    super(`The ${environment} environment has no episode yet: call reset(seed) first.`);
  }
}

export const LARGEST_SEED = 2147483647;

/** @throws SeedError unless the seed is a whole number from 0 to 2³¹−1. */
export function checkSeed(seed: number): void {
  if (!(Number.isInteger(seed) && seed >= 0 && seed <= LARGEST_SEED)) {
    throw new SeedError(`Seed ${seed} is out of range: a whole number from 0 to ${LARGEST_SEED} is accepted.`);
  }
}

/**
 * The name, when it is in the list.
 * @throws UnknownNameError with the names that are accepted.
 */
export function checkName<Name extends string>(what: string, name: string, accepted: readonly Name[]): Name {
  if ((accepted as readonly string[]).includes(name)) return name as Name;
  throw new UnknownNameError(`There is no ${what} ${JSON.stringify(name)}: accepted are ${accepted.join(', ')}.`);
}

/** @throws ForeignSnapshotError unless the snapshot belongs to this environment, encoding version and episode. */
export function checkSnapshot(snapshot: Snapshot, name: EnvironmentName, version: number, episodeId: string): void {
  const fits = snapshot.environment === name && snapshot.version === version && snapshot.episodeId === episodeId;
  if (fits && snapshot.state instanceof Uint8Array) return;
  throw new ForeignSnapshotError(
    `This snapshot is of ${snapshot.environment} version ${snapshot.version}, episode ${snapshot.episodeId}; ` +
      `only one of ${name} version ${version}, episode ${episodeId} can be restored here.`,
  );
}
