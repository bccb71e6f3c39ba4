/**
 * One training run at a time, as the page steers it: opened, run as far as is asked, paused anywhere, stopped, rolled back,
 * kept. It knows no worker: what it needs of the world is passed in, and what happens goes out as events.
 */
import { GpuLostError } from '../../gpu/device.ts';
import { openEnvironment } from '../../environments/registry.ts';
import { collectRollouts, firstEpisodes } from '../../rollouts/collect.ts';
import { rowAt } from '../../rollouts/select.ts';
import { Trainer, type BestState, type RunState, type StopReason } from '../../training/trainer.ts';
import type { Phase } from '../../training/iteration.ts';
import { checkRun, type RunSettings } from '../../training/run-settings.ts';
import { runOfPlan, startingPolicies, type RunPlan } from '../../training/run-plan.ts';
import { resolveSettings } from '../../estimators/settings.ts';
import type { Alarm } from '../../training/watch.ts';
import { Gate } from './gate.ts';
import { decodeRun, encodeRun } from './kept-run.ts';
import type { OpenedLearner, OpenLearner, OpenSteps } from './open-learner.ts';
import { pacedLearner } from './paced-learner.ts';
import type {
  Activity,
  PhaseReport,
  PlayedEpisode,
  PlayRequest,
  RunProgress,
  RunRecord,
  RunStatus,
  SampledBatch,
  TimeEstimate,
  TrainingEvent,
} from './protocol.ts';
import type { RunStore } from './run-store.ts';

export interface SessionHost {
  readonly openLearner: OpenLearner;
  readonly store: RunStore;
  readonly emit: (event: TrainingEvent) => void;
  /** Seconds. */
  readonly now: () => number;
  /** Milliseconds since 1970. */
  readonly date: () => number;
}

/** How far a run goes on before it waits for a person again. */
export type Stretch = 'phase' | 'iteration' | 'to the end';

/** A call that makes no sense where the run stands; one sentence. */
export class SessionError extends Error {
  override readonly name = 'SessionError';
}

interface OpenRun {
  readonly id: string;
  readonly plan: RunPlan;
  opened: OpenedLearner;
  trainer: Trainer<never>;
  /** The state at the last boundary between two iterations: what a lost device leaves. */
  boundary: RunState;
  /** The policy before the first iteration. */
  readonly first: RunState;
  /** What was rolled out last. */
  sampled: SampledBatch | null;
}

/** A device that is lost this often within one iteration is not asked again. */
const TRIES = 3;
/** Seconds between two writes to storage while the run goes on; a write may also not take more than a twentieth of the time. */
const SAVE_EVERY = 2;

/** Iterations in a message: whoever reads it copies it in one task, 20,000 of them in a twentieth of a second. */
const HISTORY_PART = 1000;

/** The batch that a neural iteration is measured on. */
const PROBE = { groups: 2, groupSize: 8, steps: 4 };

export class TrainingSession {
  private run: OpenRun | null = null;
  private activity: Activity = 'idle';
  private stretch: Stretch = 'to the end';
  private reason: StopReason | null = null;
  private alarm: Alarm | null = null;
  private error: string | null = null;
  private devicesLost = 0;
  private controller = new AbortController();
  private readonly gate: Gate;
  private nextSave = 0;
  private lastProgress = 0;

  constructor(private readonly host: SessionHost) {
    this.gate = new Gate(host.now, () => {
      this.enter('waiting');
    });
  }

  /** Opens a new run. @throws SettingsError, RunSettingsError before anything is opened */
  async create(plan: RunPlan): Promise<void> {
    runOfPlan(plan);
    await this.busily('preparing', async (signal) => {
      const run = await this.openTrainer(newId(this.host.date()), plan, null, null, signal);
      await this.take(run);
      await this.keep();
    });
  }

  /** Opens a run that was kept. */
  async reopen(id: string): Promise<void> {
    await this.busily('preparing', async (signal) => {
      const stored = await this.host.store.read(id);
      if (!stored)
        throw new SessionError('This run is no longer in browser storage: open its checkpoint file, or start anew.');
      const { plan, state, best } = decodeRun(stored.bytes);
      await this.take(await this.openTrainer(id, plan, state, best, signal));
    });
  }

  /**
   * Takes in the bytes of a checkpoint file as a run of its own and opens it.
   * @param plan where the file has none of its own, as those of the command line: says the starting policy
   */
  async takeIn(bytes: Uint8Array, plan: RunPlan): Promise<void> {
    await this.busily('preparing', async (signal) => {
      const run = decodeRun(bytes, ({ run: { settings, environment, preset, policyKind, memory, seed } }) => ({
        ...plan,
        policy:
          startingPolicies[plan.policy].kind === policyKind
            ? plan.policy
            : policyKind === 'tabular'
              ? 'tabular'
              : 'rooms-novice',
        environment,
        size: preset,
        method: settings.method,
        ablation: null,
        preset: settings.preset,
        memory,
        seed,
        options: {},
      }));
      await this.take(await this.openTrainer(newId(this.host.date()), run.plan, run.state, run.best, signal));
      await this.keep();
    });
  }

  /**
   * Finds out on a small batch how long an iteration of a plan takes on this device. Null where it was stopped or failed.
   */
  async measure(plan: RunPlan): Promise<TimeEstimate | null> {
    const wanted = runOfPlan(plan);
    let estimate: TimeEstimate | null = null;
    await this.busily('measuring', async (signal) => {
      const opened = await this.host.openLearner(plan, this.openSteps(signal, 0));
      try {
        const { settings } = wanted;
        // The first iteration of a neural policy compiles its kernels: it is not what later ones cost.
        const warmUps = opened.learner.kind === 'neural' ? 1 : 0;
        const probe: RunSettings = {
          ...wanted,
          memory: opened.memory,
          settings: {
            ...settings,
            ...(opened.learner.kind === 'neural' && {
              groups: Math.min(settings.groups, PROBE.groups),
              groupSize: Math.min(settings.groupSize, PROBE.groupSize),
              stepLimit: Math.min(settings.stepLimit, PROBE.steps),
            }),
          },
        };
        const learner = pacedLearner(opened.learner, this.gate);
        const trainer = new Trainer(probe, learner, this.gate.clock, {
          onProgress: ({ done }) => {
            this.progress({ iteration: 0, phase: 'measure', done });
          },
        });
        for (let i = 0; i < warmUps; i++) await trainer.runIteration(signal);
        const before = trainer.seconds;
        const { rows } = await trainer.runIteration(signal);
        const probeSeconds = trainer.seconds - before;
        const most = settings.groups * settings.groupSize * settings.stepLimit;
        estimate = { probeRows: rows, probeSeconds, rows: most, seconds: (probeSeconds * most) / Math.max(1, rows) };
      } finally {
        await opened.close();
      }
    });
    return estimate;
  }

  /** Plays an episode with the open policy; the run is as it was afterwards. Null where it was stopped or failed. */
  async play({ policy, split, episode, temperature, seed }: PlayRequest): Promise<PlayedEpisode | null> {
    let played: PlayedEpisode | null = null;
    await this.busily('playing', async (signal) => {
      const { first, opened, trainer } = this.needRun();
      const { run } = trainer;
      const { environment, preset, memory, settings } = run;
      const { learner } = opened;
      const choices =
        split === 'set' && run.episodes
          ? run.episodes
          : firstEpisodes(openEnvironment(environment), split === 'set' ? 'train' : split, episode + 1, {
              preset,
              stepLimit: settings.stepLimit,
            });
      const choice = choices[Math.min(episode, choices.length - 1)]!;
      const now = policy === 'before' ? await learner.save() : null;
      if (now) await learner.load(first.learner);
      try {
        const { batch, outcomes } = await collectRollouts({
          environment: () => openEnvironment(environment),
          // A softmax has no temperature 0; this one is as good.
          policy: learner.policyAt(learner.kind === 'tabular' ? Math.max(temperature, 1e-6) : temperature),
          episodes: [choice],
          groupSize: 1,
          memory,
          seed,
          signal,
        });
        const steps = Array.from({ length: batch.rowCount }, (_, row) => rowAt(batch, row));
        const opening = openEnvironment(environment);
        opening.reset(choice.seed, choice.task, choice.options);
        played = {
          task: opening.task,
          goal: opening.goal,
          won: outcomes[0]!.won,
          steps: steps.map(({ observation, action, valid }) => ({ observation: String(observation), action, valid })),
        };
      } finally {
        if (now) await learner.load(now);
      }
    });
    return played;
  }

  /** Runs as far as is asked. Ends when it has; `pause`, `stop` and a shorter stretch are obeyed meanwhile. */
  async go(stretch: Stretch): Promise<void> {
    this.stretch = stretch;
    if (this.gate.isShut) {
      this.gate.open();
      if (this.activity === 'waiting' || this.activity === 'pausing') this.enter('running');
      return;
    }
    if (this.activity === 'running') return;
    await this.busily('running', async (signal) => {
      this.alarm = null;
      this.reason = null;
      this.status();
      await this.runOn(signal);
    });
  }

  /** Waits at the next step of the policy or mini-batch. */
  pause(): void {
    if (this.activity !== 'running') return;
    this.enter('pausing');
    this.gate.shut();
  }

  /** Gives up what is under way; a phase that is stopped leaves no trace. */
  stop(): void {
    if (this.activity === 'idle') return;
    this.enter('stopping');
    this.controller.abort();
    this.gate.open();
  }

  /** Goes back; what came after is forgotten. @throws NoCheckpointError */
  async rollBack(to: 'best' | 'last good'): Promise<void> {
    await this.busily('preparing', async () => {
      const run = this.needRun();
      await run.trainer.rollBack(to);
      run.boundary = await run.trainer.save();
      this.alarm = null;
      this.reason = null;
      this.announce(run);
      await this.keep();
    });
  }

  /** Other options from here on, for a run that went wrong or that should go on. @throws SettingsError, RunSettingsError */
  async amend(options: Readonly<Record<string, unknown>>): Promise<void> {
    await this.busily('preparing', async () => {
      const run = this.needRun();
      const before = run.trainer.run;
      const { method, preset, environment, ...values } = before.settings;
      const settings = resolveSettings({ method, preset, environment, options: { ...values, ...options } });
      // What should go on has met its stop rules already.
      const stop = 'iterations' in options ? { success: null, minutes: null } : before.stop;
      const amended: RunSettings = { ...before, settings, stop };
      checkRun(amended);
      const state = { ...(await run.trainer.save()), run: amended };
      const { bestState } = run.trainer;
      run.trainer = this.trainerOf(run.id, amended, run.opened);
      await run.trainer.restore(state, bestState);
      run.boundary = state;
      this.reason = null;
      this.announce(run);
      await this.keep();
    });
  }

  /** The rollouts of the iteration under way, or else of the last one, for the rest of the page. */
  rollouts(): SampledBatch | null {
    return this.run?.sampled ?? null;
  }

  /** Emits every run that is kept, oldest first, and gives back the names of those that could not be read. */
  async kept(): Promise<{ readonly unreadable: readonly string[] }> {
    const unreadable: string[] = [];
    for (const { id, bytes } of [...(await this.host.store.all())].reverse()) {
      try {
        const { plan, state } = decodeRun(bytes);
        this.tell('found', recordOf(id, plan, state));
      } catch {
        unreadable.push(id);
      }
    }
    return { unreadable };
  }

  async forget(id: string): Promise<void> {
    await this.host.store.remove(id);
    if (this.run?.id === id && this.activity === 'idle') {
      await this.close();
    }
  }

  /** The checkpoint of a run as a file. */
  async checkpoint(id: string): Promise<Uint8Array> {
    if (this.run?.id === id) return this.encode(this.run, await this.run.trainer.save());
    const stored = await this.host.store.read(id);
    if (!stored) throw new SessionError('This run is no longer in browser storage.');
    return stored.bytes;
  }

  /** The open policy as it is now, as files. */
  async policyFiles(card: string): Promise<ReadonlyMap<string, Uint8Array>> {
    return this.needRun().opened.files(card);
  }

  status(): void {
    const { run } = this;
    const status: RunStatus = {
      activity: this.activity,
      id: run?.id ?? null,
      iteration: run?.trainer.iteration ?? 0,
      phase: run?.trainer.phase ?? 'roll-out',
      reason: this.reason,
      alarm: this.alarm,
      best: run?.trainer.bestCheckpoint ?? null,
      hasLastGood: (run?.trainer.history.length ?? 0) > 0,
      seconds: run?.trainer.seconds ?? 0,
      error: this.error,
      devicesLost: this.devicesLost,
    };
    this.host.emit({ kind: 'status', status });
  }

  /** One thing at a time: what is under way is stopped by `stop` alone. */
  private async busily(activity: Activity, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    if (this.activity !== 'idle') throw new SessionError('The trainer is busy: stop it first.');
    this.controller = new AbortController();
    const { signal } = this.controller;
    this.error = null;
    this.enter(activity);
    try {
      await work(signal);
    } catch (error) {
      if (!signal.aborted) this.error = error instanceof Error ? error.message : String(error);
    } finally {
      this.gate.open();
      this.enter('idle');
    }
  }

  private async runOn(signal: AbortSignal): Promise<void> {
    let lostInARow = 0;
    for (;;) {
      const run = this.needRun();
      try {
        this.reason = await run.trainer.runUntilStopped(signal, (finished) => {
          if (finished === 'iteration') lostInARow = 0;
          return this.stretch === 'phase' || (this.stretch === 'iteration' && finished === 'iteration');
        });
        if (this.reason === 'alarm') this.alarm = run.trainer.alarms.findLast(({ severity }) => severity === 'stop')!;
        await this.keep();
        return;
      } catch (error) {
        if (!(error instanceof GpuLostError) || ++lostInARow > TRIES) throw error;
        await this.replaceDevice(run, signal);
      }
    }
  }

  /** Goes on from the last boundary on another device. */
  private async replaceDevice(run: OpenRun, signal: AbortSignal): Promise<void> {
    this.devicesLost++;
    this.enter('preparing');
    const { bestState } = run.trainer;
    const again = await this.openTrainer(run.id, run.plan, run.boundary, bestState, signal);
    run.opened = again.opened;
    run.trainer = again.trainer;
    this.announce(run);
    this.enter('running');
  }

  private async openTrainer(
    id: string,
    plan: RunPlan,
    state: RunState | null,
    best: BestState | null,
    signal: AbortSignal,
  ): Promise<OpenRun> {
    const opened = await this.host.openLearner(plan, this.openSteps(signal, state?.iteration ?? 0), state?.learner);
    try {
      signal.throwIfAborted();
      const run = state?.run ?? runOfPlan(plan, opened.memory);
      const trainer = this.trainerOf(id, run, opened);
      const first = await trainer.save();
      if (state) await trainer.restore(state, best);
      return { id, plan, opened, trainer, first, boundary: state ?? first, sampled: null };
    } catch (error) {
      await opened.close();
      throw error;
    }
  }

  private openSteps(signal: AbortSignal, iteration: number): OpenSteps {
    return {
      signal,
      onKernel: (done, kernels) => {
        this.progress({ iteration, phase: 'compare kernels', done: done / kernels });
      },
    };
  }

  private trainerOf(id: string, run: RunSettings, { learner }: OpenedLearner): Trainer<never> {
    const { emit } = this.host;
    return new Trainer(run, pacedLearner(learner, this.gate), this.gate.clock, {
      onProgress: (progress) => {
        this.progress(progress);
      },
      onIteration: (metrics) => {
        emit({ kind: 'iteration', id, metrics });
      },
      onPhase: (phase, iteration) => {
        if (this.run && phase === 'roll-out') {
          this.run.sampled = { batch: this.run.trainer.pending.rolled!.batch, iteration };
        }
        const report = this.run && reportOf(this.run.trainer, phase, iteration);
        if (report) emit({ kind: 'phase', id, report });
        this.status();
      },
      onAlarm: (alarm) => {
        emit({ kind: 'alarm', id, alarm });
      },
      onValidation: (validation) => {
        emit({ kind: 'validation', id, validation });
      },
      onState: async (state) => {
        if (this.run) this.run.boundary = state;
        if (this.host.now() >= this.nextSave) await this.keep();
      },
    }) as Trainer<never>;
  }

  private async take(run: OpenRun): Promise<void> {
    await this.close();
    this.run = run;
    this.devicesLost = 0;
    this.announce(run);
  }

  /** Closes the open run; it stays in storage. */
  async close(): Promise<void> {
    if (this.activity === 'running' || this.activity === 'waiting') throw new SessionError('Stop the run first.');
    const { run } = this;
    this.run = null;
    this.reason = null;
    this.alarm = null;
    await run?.opened.close();
    this.status();
  }

  /** Writes the open run to storage. */
  private async keep(): Promise<void> {
    const { run, host } = this;
    if (!run) return;
    const start = host.now();
    try {
      await host.store.write({ id: run.id, savedAt: host.date(), bytes: this.encode(run, run.boundary) });
    } catch (error) {
      host.emit({ kind: 'not kept', reason: error instanceof Error ? error.message : String(error) });
    }
    const now = host.now();
    this.nextSave = now + Math.max(SAVE_EVERY, 20 * (now - start));
  }

  private encode({ plan, trainer }: OpenRun, state: RunState): Uint8Array {
    return encodeRun({ plan, state, best: trainer.bestState });
  }

  private announce({ id, plan, boundary }: OpenRun): void {
    this.tell('opened', recordOf(id, plan, boundary));
  }

  /** Emits a record, a long history in parts. */
  private tell(kind: 'opened' | 'found', record: RunRecord): void {
    const { id, history } = record;
    this.host.emit({ kind, record: { ...record, history: history.slice(0, HISTORY_PART) } });
    for (let from = HISTORY_PART; from < history.length; from += HISTORY_PART) {
      this.host.emit({ kind: 'history', id, from, metrics: history.slice(from, from + HISTORY_PART) });
    }
  }

  private needRun(): OpenRun {
    if (!this.run) throw new SessionError('There is no run: start one first.');
    return this.run;
  }

  private enter(activity: Activity): void {
    this.activity = activity;
    this.status();
  }

  private progress(progress: RunProgress): void {
    const now = this.host.now();
    if (progress.done < 1 && now - this.lastProgress < 0.1) return;
    this.lastProgress = now;
    this.host.emit({ kind: 'progress', progress });
  }
}

function recordOf(id: string, plan: RunPlan, state: RunState): RunRecord {
  const { run, history, validations, alarms } = state;
  return { id, plan, run, history, validations, alarms };
}

/** What a phase gave, where it leaves something that the metrics of the iteration do not say yet. */
function reportOf(trainer: Trainer<never>, phase: Phase, iteration: number): PhaseReport | null {
  const { rolled, grouped, compared } = trainer.pending;
  const mean = (values: ArrayLike<number>) =>
    Array.from(values).reduce((a, b) => a + b, 0) / Math.max(1, values.length);
  switch (phase) {
    case 'roll-out':
      return (
        (rolled && {
          iteration,
          phase,
          figures: {
            rows: rolled.batch.rowCount,
            trajectories: rolled.batch.trajectories.size,
            tasks: rolled.batch.tasks.size,
            success: rolled.success,
          },
        }) ??
        null
      );
    case 'group':
      return (
        (grouped && {
          iteration,
          phase,
          figures: Object.fromEntries(grouped.hierarchy.map(({ groupCount }, k) => [`groups at ${k}`, groupCount])),
        }) ??
        null
      );
    case 'compare':
      return (
        (compared && {
          iteration,
          phase,
          figures: {
            withoutSignal: compared.withoutSignal,
            penaltyOnly: compared.penaltyOnly,
            meanAdvantage: mean(compared.estimate.advantage),
            meanSize: mean(compared.estimate.advantage.map(Math.abs)),
          },
        }) ??
        null
      );
    case 'update':
      return null;
  }
}

/** Ids sort by age, and two tabs that start in the same millisecond still differ. */
function newId(date: number): string {
  return `${date.toString(36)}-${crypto.randomUUID().slice(0, 8)}`;
}
