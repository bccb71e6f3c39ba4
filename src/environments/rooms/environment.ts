import {
  checkName,
  checkSeed,
  checkSnapshot,
  EnvironmentNotResetError,
  expertKinds,
  ForeignSnapshotError,
  OptionError,
  WIN_REWARD,
  type Environment,
  type Expert,
  type ExpertKind,
  type Observation,
  type Snapshot,
  type StepResult,
} from '../environment.ts';
import { textKey } from '../text-key.ts';
import { describeEvent, type RoomsEvent } from './events.ts';
import {
  checkRoomsOptions,
  generateRoom,
  LONGEST_STEP_LIMIT,
  roomsEpisodeId,
  STEP_LIMIT,
  type RoomsEpisodeSpec,
  type RoomsOptions,
} from './generator.ts';
import { Oracle } from './oracle.ts';
import { NO_COMMAND, Room, Verb, type RoomDescription } from './room.ts';
import { SearchingExpert } from './searching-expert.ts';
import { roomsSplits, seedParity } from './splits.ts';
import { admissibleLimit, EventKind, RoomState } from './state.ts';
import { taskNames } from './types.ts';
import { observationOf } from './wording.ts';

/** Version of the bytes in `Snapshot.state`: step counter (2 bytes, low first), finished, then `RoomState.save`. */
const SNAPSHOT_VERSION = 1;
const SNAPSHOT_HEADER = 3;

/** What all environments that play one episode share. */
interface Episode {
  readonly id: string;
  readonly room: Room;
  /** Observations whose event says all by its kind, object and receptacle. */
  readonly observations: Map<number, Observation<RoomsEvent>>;
}

// Members of a group, and rollouts from snapshots, reset to the same few episodes over and over.
const recentEpisodes = new Map<string, Episode>();
const MOST_RECENT = 64;

function episodeOf(id: string, build: () => Room): Episode {
  let episode = recentEpisodes.get(id);
  if (episode === undefined) {
    episode = { id, room: build(), observations: new Map() };
    if (recentEpisodes.size >= MOST_RECENT) recentEpisodes.delete(recentEpisodes.keys().next().value!);
    recentEpisodes.set(id, episode);
  }
  return episode;
}

/** A household text game with ALFWorld's rules: find things, treat them with appliances, put them where they belong. */
export class RoomsEnvironment implements Environment<RoomsOptions, RoomsEvent> {
  readonly name = 'rooms';
  readonly splits = roomsSplits;
  readonly tasks = taskNames;

  stepLimit = STEP_LIMIT;
  stepIndex = 0;
  won = false;

  private episode: Episode | null = null;
  private state: RoomState | null = null;
  private current: Observation<RoomsEvent> | null = null;

  // The admissible commands as codes, and as texts; −1 and null when they have to be listed again.
  private codes = new Int32Array(0);
  private codeCount = -1;
  private texts: readonly string[] | null = null;

  // The last observation with a view of each receptacle, by kind of event, while its contents and door are unchanged.
  private views: (Observation<RoomsEvent> | undefined)[] = [];
  private viewVersions = new Uint32Array(0);

  reset(seed: number, task?: string, options: RoomsOptions = {}): Observation<RoomsEvent> {
    const spec = checkRoomsOptions(seed, task, options);
    return this.begin(
      episodeOf(roomsEpisodeId(spec), () => generateRoom(spec)),
      spec,
    );
  }

  /**
   * Starts an episode in a room made by hand. Its id holds a hash of the description.
   * @throws RoomDescriptionError, OptionError
   */
  resetToRoom(description: RoomDescription, options: { readonly stepLimit?: number } = {}): Observation<RoomsEvent> {
    const stepLimit = options.stepLimit ?? STEP_LIMIT;
    if (!(Number.isInteger(stepLimit) && stepLimit >= 1 && stepLimit <= LONGEST_STEP_LIMIT)) {
      throw new OptionError(
        `Option stepLimit is ${stepLimit}: a whole number from 1 to ${LONGEST_STEP_LIMIT} is accepted.`,
      );
    }
    const { receptacles, objects, goal, kind } = description;
    const facts = [
      receptacles.map(({ name, openable, place }) => [name, openable, place]),
      objects.map((object) => [object.name, object.in]),
      [goal.task, goal.object, goal.target, kind, stepLimit],
    ];
    const id = `rooms-described/${textKey(JSON.stringify(facts))}`;
    return this.begin(
      episodeOf(id, () => Room.of(description)),
      { stepLimit },
    );
  }

  seedForEpisode(split: string, index: number): number {
    const seed = 2 * index + seedParity(checkName('split', split, roomsSplits));
    checkSeed(seed);
    return seed;
  }

  step(action: string | number): StepResult<RoomsEvent> {
    const state = this.started;
    const episode = this.episode!;
    if (this.done) return this.result(false, false, 0);
    let code: number;
    if (typeof action === 'number') {
      if (this.codeCount < 0) this.listCodes();
      code = action >= 0 && action < this.codeCount ? (this.codes[action] ?? NO_COMMAND) : NO_COMMAND;
    } else {
      code = episode.room.parseCommand(action);
    }
    const effective = state.apply(code);
    this.stepIndex++;
    if (effective && changesList(state.event)) {
      this.codeCount = -1;
      this.texts = null;
    }
    this.won = state.isWon();
    this.current = this.observe();
    return this.result(true, effective, this.won ? WIN_REWARD : 0);
  }

  admissible(): readonly string[] {
    if (this.texts === null) {
      if (this.codeCount < 0) this.listCodes();
      const { room } = this.episode!;
      const texts = new Array<string>(this.codeCount);
      for (let i = 0; i < this.codeCount; i++) texts[i] = room.commandText(this.codes[i]!);
      this.texts = texts;
    }
    return this.texts;
  }

  /** Length of `admissible()`, without writing its texts. */
  get admissibleCount(): number {
    if (this.codeCount < 0) this.listCodes();
    return this.codeCount;
  }

  acting(): readonly string[] {
    const all = this.admissible();
    if (this.codeCount < 0) this.listCodes();
    return all.filter((_, i) => acts(this.codes[i]! >> 16));
  }

  observation(): Observation<RoomsEvent> {
    if (this.current === null) throw new EnvironmentNotResetError(this.name);
    return this.current;
  }

  snapshot(): Snapshot {
    const state = this.started;
    const bytes = new Uint8Array(SNAPSHOT_HEADER + state.size);
    bytes[0] = this.stepIndex & 255;
    bytes[1] = this.stepIndex >> 8;
    bytes[2] = this.won ? 1 : 0;
    state.save(bytes.subarray(SNAPSHOT_HEADER));
    return { environment: this.name, version: SNAPSHOT_VERSION, episodeId: this.episode!.id, state: bytes };
  }

  restore(snapshot: Snapshot): void {
    const state = this.started;
    const { id } = this.episode!;
    checkSnapshot(snapshot, this.name, SNAPSHOT_VERSION, id);
    const bytes = snapshot.state;
    const saved = bytes.subarray(SNAPSHOT_HEADER);
    const stepIndex = bytes[0]! | (bytes[1]! << 8);
    if (!state.accepts(saved) || stepIndex > this.stepLimit || bytes[2]! > 1) {
      throw new ForeignSnapshotError(
        `This snapshot holds no state of the episode ${id}: take a new one with snapshot().`,
      );
    }
    this.stepIndex = stepIndex;
    this.won = bytes[2] === 1;
    state.load(saved);
    this.codeCount = -1;
    this.texts = null;
    this.current = this.observe();
  }

  anchorKey(): string {
    return textKey(this.observation().text);
  }

  stateKey(): string {
    return this.started.key();
  }

  get goal(): string {
    return this.started.room.goalText;
  }

  get task(): string {
    return this.started.room.goal.task;
  }

  get episodeId(): string {
    if (this.episode === null) throw new EnvironmentNotResetError(this.name);
    return this.episode.id;
  }

  get done(): boolean {
    return this.won || this.stepIndex >= this.stepLimit;
  }

  get truncated(): boolean {
    return this.done && !this.won;
  }

  /** The hidden state: for people who ask to see it, and for tests. */
  get hidden(): RoomState {
    return this.started;
  }

  expert(kind: ExpertKind): Expert {
    const state = this.started;
    if (checkName('expert', kind, expertKinds) === 'searching') return new SearchingExpert(state.room.goal);
    const oracle = new Oracle(state);
    return {
      observe: () => undefined,
      next: () => {
        const code = oracle.nextCommand();
        return code === NO_COMMAND ? 'look' : state.room.commandText(code);
      },
    };
  }

  private begin(episode: Episode, { stepLimit }: Pick<RoomsEpisodeSpec, 'stepLimit'>): Observation<RoomsEvent> {
    if (this.episode === episode) {
      this.state!.reset();
    } else {
      this.episode = episode;
      this.state = new RoomState(episode.room);
      this.codes = new Int32Array(admissibleLimit(episode.room));
      const receptacles = episode.room.receptacleNames.length;
      this.views = new Array<undefined>(3 * receptacles).fill(undefined);
      this.viewVersions = new Uint32Array(3 * receptacles);
    }
    this.stepLimit = stepLimit;
    this.stepIndex = 0;
    this.won = false;
    this.codeCount = -1;
    this.texts = null;
    this.current = this.observe();
    return this.current;
  }

  private get started(): RoomState {
    if (this.state === null) throw new EnvironmentNotResetError(this.name);
    return this.state;
  }

  private listCodes(): void {
    this.codeCount = this.started.listAdmissible(this.codes);
  }

  private result(active: boolean, effective: boolean, reward: number): StepResult<RoomsEvent> {
    const observation = this.current!;
    const { won, done, truncated } = this;
    return {
      observation,
      reward,
      done,
      info: {
        active,
        effective,
        won,
        truncated,
        score: won ? 1 : 0,
        event: observation.event,
        stepIndex: this.stepIndex,
        episodeId: this.episode!.id,
      },
    };
  }

  private observe(): Observation<RoomsEvent> {
    const state = this.state!;
    const { event, eventObject, eventReceptacle } = state;
    if (event === EventKind.arrive || event === EventKind.view || event === EventKind.open) {
      const slot = 3 * eventReceptacle + (event === EventKind.arrive ? 0 : event === EventKind.view ? 1 : 2);
      const kept = this.views[slot];
      const version = state.viewVersion[eventReceptacle]!;
      if (kept !== undefined && this.viewVersions[slot] === version) return kept;
      const observation = observationOf(describeEvent(state));
      this.views[slot] = observation;
      this.viewVersions[slot] = version;
      return observation;
    }
    const detail = event === EventKind.inspect ? state.properties[eventObject]! : eventReceptacle;
    const key = (event << 16) | (eventObject << 8) | detail;
    const { observations } = this.episode!;
    let observation = observations.get(key);
    if (observation === undefined) {
      observation = observationOf(describeEvent(state));
      observations.set(key, observation);
    }
    return observation;
  }
}

// The admissible list depends on the agent's place, the doors and contents there and the hand.
function changesList(event: number): boolean {
  return event === EventKind.arrive || (event >= EventKind.open && event <= EventKind.put);
}

function acts(verb: number): boolean {
  switch (verb) {
    case Verb.examine:
    case Verb.examineObject:
    case Verb.help:
    case Verb.inventory:
    case Verb.look:
      return false;
  }
  return true;
}
