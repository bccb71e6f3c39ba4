import { create } from 'zustand';
import { WorkerCallError, WorkerLostError } from '../../workers/calls.ts';
import type { Environments } from '../../workers/environments.ts';
import { isUnfolded } from '../state/unfolded.ts';
import type { EnvironmentView, EpisodeStart, HiddenView } from '../../workers/views.ts';

/** One moment of an episode: where it stood after an action. Moments form a tree, because one can go back and act otherwise. */
export interface Moment {
  /** The moment before, by number; −1 for the start. */
  readonly parent: number;
  /** What was done there to get here; empty for the start. */
  readonly action: string;
  readonly reward: number;
  /** Whether the action was carried out. */
  readonly effective: boolean;
  readonly view: EnvironmentView;
}

export interface PlayedEpisode {
  readonly start: EpisodeStart | null;
  readonly moments: readonly Moment[];
  /** The moment that is on screen. */
  readonly current: number;
  /** What a recorded trajectory did, from the start on; empty for an episode of one's own. */
  readonly recorded: readonly string[];
  /** Moments of the recorded trajectory, as far as it has been played: the i-th is the one before its i-th action. */
  readonly recordedPath: readonly number[];
  readonly busy: boolean;
  readonly error: string | null;
  /** The hidden state of the current moment, for viewers who asked. */
  readonly hidden: HiddenView | null;
}

const nothingPlayed: PlayedEpisode = {
  start: null,
  moments: [],
  current: -1,
  recorded: [],
  recordedPath: [],
  busy: false,
  error: null,
  hidden: null,
};

export const usePlay = create<PlayedEpisode>(() => nothingPlayed);

/** The page plays one episode at a time. */
const player = 0;
let opened: Promise<Environments> | null = null;

/** The environments, loaded when somebody first plays: most visitors only look. */
function environments(): Promise<Environments> {
  opened ??= import('../../workers/environments.ts').then(
    ({ Environments: OpenEnvironments }) => new OpenEnvironments(),
    () => {
      // Not remembered: the next try may find the connection again.
      opened = null;
      throw new WorkerLostError('The environments could not be loaded. Check the connection and try again.');
    },
  );
  return opened;
}

/** Runs one request after another; a lost worker or a refused call becomes a sentence, and what was there stays. */
async function busily(work: () => Promise<void>): Promise<void> {
  if (usePlay.getState().busy) return;
  usePlay.setState({ busy: true, error: null });
  try {
    await work();
    await reveal();
  } catch (error) {
    if (!(
      error instanceof WorkerCallError ||
      error instanceof WorkerLostError ||
      error instanceof EpisodeMismatchError
    ))
      throw error;
    usePlay.setState({ error: error.message });
  } finally {
    usePlay.setState({ busy: false });
  }
}

/** A recorded trajectory whose environment answers otherwise than it did then. */
export class EpisodeMismatchError extends Error {
  override readonly name = 'EpisodeMismatchError';
}

async function begin(start: EpisodeStart): Promise<Moment> {
  await (await environments()).reset([player], [start]);
  const view = await (await environments()).view(player);
  return { parent: -1, action: '', reward: 0, effective: true, view };
}

async function act(parent: number, action: string): Promise<Moment> {
  const { reply } = await (await environments()).step([player], [action]);
  const view = await (await environments()).view(player);
  return { parent, action, reward: reply.rewards[0] ?? 0, effective: ((reply.flags[0] ?? 0) & 1) === 1, view };
}

/** Starts an episode. */
export function startEpisode(start: EpisodeStart): Promise<void> {
  return busily(async () => {
    const first = await begin(start);
    usePlay.setState({
      ...nothingPlayed,
      start,
      moments: [first],
      current: 0,
      busy: true,
    });
  });
}

/**
 * Plays a recorded trajectory again up to a step, so that one can look around there and act otherwise.
 * @param episodeId the id that the episode must have, or the environment has changed since
 */
export function replay(
  start: EpisodeStart,
  episodeId: string,
  actions: readonly string[],
  step: number,
): Promise<void> {
  return busily(async () => {
    const moments = [await begin(start)];
    const { episodeId: played } = moments[0]!.view;
    if (played !== episodeId) {
      throw new EpisodeMismatchError(mismatch(episodeId, played));
    }
    for (const action of actions.slice(0, step)) moments.push(await act(moments.length - 1, action));
    usePlay.setState({
      ...nothingPlayed,
      start,
      moments,
      current: moments.length - 1,
      recorded: actions,
      recordedPath: moments.map((_, index) => index),
      busy: true,
    });
  });
}

/** The environment that looks behind recorded trajectories, beside the one that is played. */
const onlooker = 1;
let looking: Promise<unknown> = Promise.resolve();

/**
 * What was hidden after some actions of an episode.
 * @param episodeId the id that the episode must have
 * @throws EpisodeMismatchError, WorkerCallError, WorkerLostError
 */
export function hiddenAfter(start: EpisodeStart, episodeId: string, actions: readonly string[]): Promise<HiddenView> {
  const look = async () => {
    const worker = await environments();
    await worker.reset([onlooker], [start]);
    const { episodeId: played } = await worker.view(onlooker);
    if (played !== episodeId) throw new EpisodeMismatchError(mismatch(episodeId, played));
    for (const action of actions) await worker.step([onlooker], [action]);
    return worker.reveal(onlooker);
  };
  // One after another: they share an environment.
  const seen = looking.then(look, look);
  looking = seen;
  return seen;
}

const mismatch = (recorded: string, played: string) =>
  `These rollouts are of episode ${recorded}; this page would play ${played}.`;

/** Carries out a command at the current moment. An action that was tried here before leads to the same moment again. */
export function carryOut(action: string): Promise<void> {
  return busily(async () => {
    const { moments, current, recorded, recordedPath } = usePlay.getState();
    if (moments[current]!.view.done) return;
    const known = moments.findIndex((moment) => moment.parent === current && moment.action === action);
    if (known >= 0) {
      await (await environments()).restore(player, moments[known]!.view.snapshot);
      usePlay.setState({ current: known });
      return;
    }
    const moment = await act(current, action);
    const number = moments.length;
    const follows = recordedPath.at(-1) === current && recorded[recordedPath.length - 1] === action;
    usePlay.setState({
      moments: [...moments, moment],
      current: number,
      ...(follows && { recordedPath: [...recordedPath, number] }),
    });
  });
}

/** Puts the episode away. */
export function leaveEpisode(): void {
  usePlay.setState(nothingPlayed);
}

/** Goes back, or across, to a moment that has been there. */
export function goTo(moment: number): Promise<void> {
  return busily(async () => {
    await (await environments()).restore(player, usePlay.getState().moments[moment]!.view.snapshot);
    usePlay.setState({ current: moment });
  });
}

/** Takes or drops what no policy sees, after the switch for it has moved. */
export async function followHiddenSwitch(): Promise<void> {
  if (usePlay.getState().current >= 0) await busily(() => Promise.resolve());
}

async function reveal(): Promise<void> {
  const isWanted = isUnfolded('hidden-state') && usePlay.getState().current >= 0;
  usePlay.setState({ hidden: isWanted ? await (await environments()).reveal(player) : null });
}

/** The recorded action at the current moment, or null where one has left the recorded path or reached its end. */
export function recordedAction({ recorded, recordedPath, current }: PlayedEpisode): string | null {
  const at = recordedPath.indexOf(current);
  return at < 0 ? null : (recorded[at] ?? null);
}

/** The moments from the start to this one. */
export function pathTo(moments: readonly Moment[], moment: number): number[] {
  const path: number[] = [];
  for (let at = moment; at >= 0; at = moments[at]!.parent) path.unshift(at);
  return path;
}

/** The ends of all branches: moments from which nothing has been tried yet. */
export function branchEnds(moments: readonly Moment[]): number[] {
  const parents = new Set(moments.map(({ parent }) => parent));
  return moments.map((_, index) => index).filter((index) => !parents.has(index));
}
