import { create } from 'zustand';
import { comparedMethods, deepestLevel, type ComparedMethod } from '../../workers/estimation/derive.ts';
import { revived } from '../../workers/estimation/changes.ts';
import { WorkerCallError, WorkerLostError, type WorkerCalls } from '../../workers/calls.ts';
import {
  startingPolicies,
  training,
  type IterationMetrics,
  type EngineAdapter,
  type PhaseReport,
  type PlayRequest,
  type RunPlan,
  type RunProgress,
  type RunRecord,
  type RunStatus,
  type Stretch,
  type TimeEstimate,
  type TrainingEvent,
  type Validation,
} from '../../workers/training/client.ts';
import { useSettings, useTrainingChoices } from '../state/controls.ts';
import { openLive } from '../state/rollouts.ts';
import type { TrainingCalls } from '../../workers/training/worker.ts';

/** A run as it is drawn. Its history grows in place; a new object says that it has. */
export interface ShownRun {
  readonly id: string;
  /** The number that the page calls it by, from 1. */
  readonly number: number;
  readonly plan: RunPlan;
  readonly run: RunRecord['run'];
  readonly history: readonly IterationMetrics[];
  readonly validations: readonly Validation[];
  /** Whether its curves are drawn. */
  readonly shown: boolean;
}

interface Trainer {
  readonly status: RunStatus;
  readonly progress: RunProgress | null;
  /** In order of their numbers. */
  readonly runs: readonly ShownRun[];
  /** What the phases of the iteration under way gave. */
  readonly reports: readonly PhaseReport[];
  /** The GPU of this browser; null until it has been looked for. */
  readonly adapter: EngineAdapter | null;
  /** Measured times of an iteration, by `estimateKey`. */
  readonly estimates: Readonly<Record<string, TimeEstimate>>;
  /** A plan that waits for a person, because it will take long here. */
  readonly question: { readonly plan: RunPlan; readonly stretch: Stretch } | null;
  /** Seconds for which the open run computed in a hidden tab. */
  readonly hiddenSeconds: number;
  /** Whether the run waits because the tab was hidden. */
  readonly pausedByHiding: boolean;
  /** A failed call, as a sentence. */
  readonly failure: string | null;
  /** Why runs are not kept in storage. */
  readonly notKept: string | null;
  /** Kept runs that could not be read. */
  readonly unreadable: readonly string[];
}

const nothingOpen: RunStatus = {
  activity: 'idle',
  id: null,
  iteration: 0,
  phase: 'roll-out',
  reason: null,
  alarm: null,
  best: null,
  hasLastGood: false,
  seconds: 0,
  error: null,
  devicesLost: 0,
};

export const useTrainer = create<Trainer>(() => ({
  status: nothingOpen,
  progress: null,
  runs: [],
  reports: [],
  adapter: null,
  estimates: {},
  question: null,
  hiddenSeconds: 0,
  pausedByHiding: false,
  failure: null,
  notKept: null,
  unreadable: [],
}));

/** The run that is open, or null. */
export const openRun = ({ runs, status }: Pick<Trainer, 'runs' | 'status'>): ShownRun | null =>
  runs.find(({ id }) => id === status.id) ?? null;

/** Milliseconds between two redrawings of growing curves. */
const REDRAW = 300;

/** A run that is being added to; `changed` since it was drawn. */
type GrowingRun = { -readonly [Name in keyof ShownRun]: ShownRun[Name] } & {
  history: IterationMetrics[];
  validations: Validation[];
  changed: boolean;
};

const growing = new Map<string, GrowingRun>();
let redraw: ReturnType<typeof setTimeout> | undefined;
/** What a running run says of itself hundreds of times a second; it is shown with the next redraw. */
let latest: { status?: RunStatus; progress?: Trainer['progress'] } = {};
let highest = 0;

function draw(): void {
  clearTimeout(redraw);
  redraw = undefined;
  const before = new Map(useTrainer.getState().runs.map((run) => [run.id, run]));
  const news = latest;
  latest = {};
  useTrainer.setState({
    ...news,
    runs: [...growing.values()].map((now) => {
      const old = before.get(now.id);
      if (old && !now.changed) return old;
      now.changed = false;
      const { changed: _, ...run } = now;
      return run;
    }),
  });
}

function drawSoon(): void {
  redraw ??= setTimeout(draw, REDRAW);
}

function take({ id, plan, run, history, validations }: RunRecord, shown: boolean): void {
  const known = growing.get(id);
  growing.set(id, {
    id,
    number: known?.number ?? ++highest,
    plan,
    run,
    history: history.slice(),
    validations: validations.slice(),
    shown: shown || (known?.shown ?? false),
    changed: true,
  });
}

/** Adds to a run that is known, and has it drawn. */
function grow(id: string, add: (run: GrowingRun) => void): void {
  const run = growing.get(id);
  if (!run) return;
  add(run);
  run.changed = true;
  drawSoon();
}

function onEvent(event: TrainingEvent): void {
  switch (event.kind) {
    case 'status': {
      // Sent before the worker heard of the pause or stop that the page has answered already.
      const heard = event.status.activity;
      const activity = heard === 'running' ? (answered ?? heard) : heard;
      const status = { ...event.status, activity };
      const rests = activity === 'idle' || activity === 'waiting';
      if (activity === 'running' && useTrainer.getState().status.activity === 'running') {
        latest.status = status;
        drawSoon();
        break;
      }
      latest = {};
      useTrainer.setState({ status, ...(activity === 'idle' && { progress: null }) });
      if (activity === 'running') useTrainer.setState({ pausedByHiding: false });
      countHidden();
      if (rests) draw();
      break;
    }
    case 'progress':
      latest.progress = event.progress;
      drawSoon();
      break;
    case 'opened':
      if (event.record.id !== useTrainer.getState().status.id) useTrainer.setState({ hiddenSeconds: 0 });
      take(event.record, true);
      useTrainer.setState({ reports: [] });
      draw();
      break;
    case 'found':
      if (!growing.has(event.record.id)) take(event.record, false);
      drawSoon();
      break;
    case 'history':
      // Of a run that is known already, what storage has is shorter or the same.
      grow(event.id, ({ history }) => {
        if (history.length === event.from) history.push(...event.metrics);
      });
      break;
    case 'iteration':
      grow(event.id, ({ history }) => history.push(event.metrics));
      break;
    case 'validation':
      grow(event.id, ({ validations }) => validations.push(event.validation));
      break;
    case 'phase': {
      const { reports } = useTrainer.getState();
      const { report } = event;
      useTrainer.setState({ reports: [...reports.filter(({ iteration }) => iteration === report.iteration), report] });
      break;
    }
    case 'alarm':
      // The status that follows says it.
      break;
    case 'not kept':
      useTrainer.setState({ notKept: event.reason });
      break;
  }
}

/** What the page said it would do, until the worker has heard of it. */
let answered: 'pausing' | 'stopping' | null = null;

let hiddenSince: number | null = null;

/** Adds up the time that a run computes unseen. */
function countHidden(): void {
  const { status, hiddenSeconds } = useTrainer.getState();
  const now = performance.now();
  if (hiddenSince !== null) useTrainer.setState({ hiddenSeconds: hiddenSeconds + (now - hiddenSince) / 1000 });
  hiddenSince = document.hidden && status.activity === 'running' ? now : null;
}

/** How far the open run was last told to go on. */
let lastStretch: Stretch = 'to the end';

/** Lets a run wait while nobody looks, where that was chosen. To be called once; gives back its end. */
export function followVisibility(): () => void {
  const changed = () => {
    countHidden();
    const { status, pausedByHiding } = useTrainer.getState();
    if (document.hidden && status.activity === 'running' && useTrainingChoices.getState().trainHidden === 'pause') {
      useTrainer.setState({ pausedByHiding: true });
      void pause();
    } else if (!document.hidden && pausedByHiding) {
      useTrainer.setState({ pausedByHiding: false });
      void ask((calls) => calls.call('go', lastStretch));
    }
  };
  document.addEventListener('visibilitychange', changed);
  return () => {
    document.removeEventListener('visibilitychange', changed);
  };
}

let begun: Promise<WorkerCalls<TrainingCalls>> | null = null;

/** The worker, told where the policies lie; it starts with the first thing that is asked of it. */
function trainer(): Promise<WorkerCalls<TrainingCalls>> {
  begun ??= (async () => {
    const calls = training(onEvent);
    await calls.call('begin', new URL(`${import.meta.env.BASE_URL}policies/`, document.baseURI).href);
    return calls;
  })();
  begun.catch(() => {
    begun = null;
  });
  return begun;
}

/** Asks the worker for something; a refusal or a lost worker becomes a sentence on the page. */
async function ask<T>(question: (calls: WorkerCalls<TrainingCalls>) => Promise<T>): Promise<T | null> {
  useTrainer.setState({ failure: null });
  try {
    return await question(await trainer());
  } catch (error) {
    if (!(error instanceof WorkerCallError || error instanceof WorkerLostError)) throw error;
    useTrainer.setState({ failure: error.message });
    if (error instanceof WorkerLostError) {
      begun = null;
      useTrainer.setState({ status: nothingOpen, progress: null });
    }
    return null;
  }
}

/** Lists the runs of earlier visits. */
export async function findKept(): Promise<void> {
  const found = await ask((calls) => calls.call('kept'));
  if (!found) return;
  useTrainer.setState({ unreadable: found.unreadable });
  draw();
}

/** Looks for a GPU. */
export async function findAdapter(): Promise<void> {
  if (useTrainer.getState().adapter) return;
  const adapter = await ask((calls) => calls.call('adapter'));
  if (adapter) useTrainer.setState({ adapter });
}

/** Equal for plans whose iterations take the same time. */
export const estimateKey = ({ policy, tuning, head, environment, size, method, ablation, memory, options }: RunPlan) =>
  JSON.stringify([policy, tuning, head, environment, size, method, ablation, memory, options]);

/** Measures how long an iteration of a plan takes. */
export async function measure(plan: RunPlan): Promise<TimeEstimate | null> {
  const found = await ask((calls) => calls.call('measure', plan));
  if (found) {
    const { estimates } = useTrainer.getState();
    useTrainer.setState({ estimates: { ...estimates, [estimateKey(plan)]: found } });
  }
  return found;
}

/** Goes on with the open run, or with a new one of this plan where none is open. */
export async function go(plan: RunPlan, stretch: Stretch): Promise<void> {
  lastStretch = stretch;
  if (useTrainer.getState().status.id === null) await startAnew(plan, stretch);
  else await ask((calls) => calls.call('go', stretch));
}

/**
 * Starts a new run; one that is open stays in the list. First it says how long an iteration takes here; a neural policy on a
 * processor is then asked about before it begins.
 */
export async function startAnew(plan: RunPlan, stretch: Stretch, isSure = false): Promise<void> {
  lastStretch = stretch;
  useTrainer.setState({ question: null });
  const { estimates, adapter } = useTrainer.getState();
  if (!estimates[estimateKey(plan)] && !(await measure(plan))) return;
  const isNeural = startingPolicies[plan.policy].kind === 'neural';
  if (isNeural && !isSure && !(adapter?.available && !adapter.adapter.software)) {
    useTrainer.setState({ question: { plan, stretch } });
    return;
  }
  await ask(async (calls) => {
    await calls.call('create', plan);
    if (useTrainer.getState().status.error === null) await calls.call('go', stretch);
  });
}

/** Takes the question back. */
export function leaveQuestion(): void {
  useTrainer.setState({ question: null });
}

/** Says at once what was asked for; the worker says it again when it has heard, and when it is so. */
async function answeredAtOnce(
  activity: 'pausing' | 'stopping',
  question: (calls: WorkerCalls<TrainingCalls>) => Promise<void>,
): Promise<void> {
  answered = activity;
  latest = {};
  const { status } = useTrainer.getState();
  useTrainer.setState({ status: { ...status, activity } });
  await ask(question);
  if (answered === activity) answered = null;
}

export const pause = () => answeredAtOnce('pausing', (calls) => calls.call('pause'));
export const stop = () => answeredAtOnce('stopping', (calls) => calls.call('stop'));

export const reopen = (id: string) => ask((calls) => calls.call('reopen', id));
export const rollBack = (to: 'best' | 'last good') => ask((calls) => calls.call('rollBack', to));
/** Closes the open run; it stays in the list. */
export const close = () => ask((calls) => calls.call('close'));
export const amend = (options: Readonly<Record<string, number>>) => ask((calls) => calls.call('amend', options));

/** Goes back to a checkpoint and on from there with other options. */
export const rollBackAnd = (to: 'best' | 'last good', options: Readonly<Record<string, number>>) =>
  ask(async (calls) => {
    await calls.call('rollBack', to);
    if (useTrainer.getState().status.error === null) await calls.call('amend', options);
  });

/** Opens a checkpoint file. It is read here and sent nowhere. */
export async function takeIn(file: File, plan: RunPlan): Promise<void> {
  await ask(async (calls) => {
    const bytes = new Uint8Array(await file.arrayBuffer());
    await calls.call('takeIn', bytes, plan);
  });
}

export const checkpointOf = (id: string) => ask((calls) => calls.call('checkpoint', id));
export const policyFiles = (card: string) => ask((calls) => calls.call('policyFiles', card));
export const clusterScript = (plan: RunPlan) => ask((calls) => calls.call('clusterScript', plan));
export const play = (request: PlayRequest) => ask((calls) => calls.call('play', request));
/** Shows the rollouts of the iteration under way, or of the last one, in the sections above, judged as this run judges. */
export async function lookAtRollouts(): Promise<void> {
  const run = openRun(useTrainer.getState());
  const sampled = await ask((calls) => calls.call('rollouts'));
  if (!run || !sampled) return;
  const { method, preset, alpha, K, gamma, mode } = run.run.settings;
  useSettings.setState({
    ...((comparedMethods as readonly string[]).includes(method) && { method: method as ComparedMethod }),
    preset,
    alpha,
    depth: Math.min(K, deepestLevel),
    gamma,
    normalisation: mode,
    members: 0,
  });
  openLive(revived(sampled.batch), { kind: 'training', run: run.number, iteration: sampled.iteration });
  document.getElementById('roll-out')?.scrollIntoView({ block: 'start' });
  document.querySelector<SVGElement>('[role=grid]')?.focus({ preventScroll: true });
}

/** Draws a run's curves or not. */
export function show(id: string, shown: boolean): void {
  grow(id, (run) => (run.shown = shown));
  draw();
}

/** Removes a run from the list and from storage. */
export async function forget(id: string): Promise<void> {
  await ask((calls) => calls.call('forget', id));
  growing.delete(id);
  draw();
}

/** Removes what could not be read from storage. */
export async function removeUnreadable(): Promise<void> {
  for (const id of useTrainer.getState().unreadable) await ask((calls) => calls.call('forget', id));
  useTrainer.setState({ unreadable: [] });
}
