/**
 * One training iteration, in four phases that can be taken apart: roll out, group, compare, update. Each phase is a
 * function from what the one before it gave, so a page can stop between any two and show what is there.
 */
import { levelDiagnostics, shareWithoutSignal, type LevelDiagnostics } from '../analysis/groups.ts';
import { openEnvironment } from '../environments/registry.ts';
import { DynamicSampler } from '../estimators/dynamic-sampling.ts';
import { estimate, EstimatorWorkspace, type Estimate } from '../estimators/estimate.ts';
import type { Grouping } from '../estimators/groups.ts';
import { resolveSettings, type Settings } from '../estimators/settings.ts';
import { randomStream } from '../random/stream.ts';
import type { RolloutBatch } from '../rollouts/batch.ts';
import {
  collectRollouts,
  drawEpisodes,
  type Collected,
  type CollectProgress,
  type EpisodeChoice,
  type TrajectoryOutcome,
} from '../rollouts/collect.ts';
import type { Decision } from '../rollouts/policy.ts';
import { concatenateTasks } from '../rollouts/select.ts';
import type { Learner, UpdateFigures } from './learner.ts';
import type { RunSettings } from './run-settings.ts';

export const phases = ['roll-out', 'group', 'compare', 'update'] as const;
export type Phase = (typeof phases)[number];

/** What the phase "roll out" gives. */
export interface RolledOut<D extends Decision = Decision> {
  readonly batch: RolloutBatch;
  /** [rows] */
  readonly decisions: readonly D[];
  /** [trajectories] */
  readonly outcomes: readonly TrajectoryOutcome[];
  /** Success of all that was rolled out, groups that dynamic sampling dropped included. */
  readonly success: number;
  /** Task groups that dynamic sampling rolled out and dropped. */
  readonly droppedGroups: number;
  readonly notices: readonly string[];
}

/** What the phase "group" gives: the hierarchy, before anything is compared. */
export interface Grouped {
  readonly workspace: EstimatorWorkspace;
  /** Levels 0 … K. */
  readonly hierarchy: readonly Grouping[];
}

/** What the phase "compare" gives. */
export interface Compared {
  readonly estimate: Estimate;
  readonly levels: readonly LevelDiagnostics[];
  /** Share of rows with advantage 0. */
  readonly withoutSignal: number;
  /**
   * Share of rows whose advantage comes from the invalid-action penalty alone: not 0 as it is, 0 without the penalty.
   * Divided by the small standard deviation of a group without a success, the penalty grows to the size of a success.
   */
  readonly penaltyOnly: number;
}

/** Plays one batch, and further ones where dynamic sampling asks for them. */
export async function rollOut<D extends Decision>(
  run: RunSettings,
  iteration: number,
  learner: Learner<D>,
  signal?: AbortSignal,
  onProgress?: (progress: CollectProgress) => void,
): Promise<RolledOut<D>> {
  const { settings } = run;
  const collect = (batch: number) =>
    collectRollouts<D>({
      environment: () => openEnvironment(run.environment),
      policy: learner.policy,
      episodes: trainingEpisodes(run, batch),
      groupSize: settings.groupSize,
      memory: run.memory,
      seed: run.seed,
      batch,
      ...(signal ? { signal } : {}),
      ...(onProgress ? { onProgress } : {}),
    });
  if (settings.dynamicSampling === 'off') {
    const collected = await collect(iteration);
    return { ...collected, success: successOf(collected.outcomes), droppedGroups: 0, notices: [] };
  }
  const sampler = new DynamicSampler<{ collected: Collected<D>; task: number }>(settings.dynamicSampling, settings);
  const outcomes: TrajectoryOutcome[] = [];
  // Tries of one iteration have batch numbers of their own, out of the way of every other iteration's.
  for (let attempt = 0; sampler.wantsMore; attempt++) {
    const collected = await collect(iteration + attempt * BATCHES_OF_A_RUN);
    outcomes.push(...collected.outcomes);
    sampler.offer(groupsOf(collected));
  }
  const { groups, dropped, notices } = sampler.finish();
  return { ...keepGroups(groups), success: successOf(outcomes), droppedGroups: dropped, notices };
}

const BATCHES_OF_A_RUN = 2 ** 20;

function trainingEpisodes(run: RunSettings, batch: number): EpisodeChoice[] {
  const { groups, stepLimit } = run.settings;
  if (run.episodes) {
    const { length } = run.episodes;
    return Array.from({ length: groups }, (_, group) => run.episodes![(batch * groups + group) % length]!);
  }
  const environment = openEnvironment(run.environment);
  return drawEpisodes(environment, run.split, groups, run.seed, batch, { preset: run.preset, stepLimit });
}

function groupsOf<D extends Decision>(collected: Collected<D>) {
  const { batch } = collected;
  const rewards: number[][] = Array.from({ length: batch.tasks.size }, () => []);
  for (let t = 0; t < batch.trajectories.size; t++) {
    let reward = 0;
    for (let at = batch.rowStart[t]!; at < batch.rowStart[t + 1]!; at++) reward += batch.reward[batch.byStep[at]!]!;
    rewards[batch.trajectoryTask[t]!]!.push(reward);
  }
  return rewards.map((episodeRewards, task) => ({ group: { collected, task }, episodeRewards }));
}

function keepGroups<D extends Decision>(groups: readonly { collected: Collected<D>; task: number }[]) {
  const { batch, rows } = concatenateTasks(groups.map(({ collected, task }) => ({ batch: collected.batch, task })));
  return {
    batch,
    decisions: rows.map(({ part, row }) => groups[part]!.collected.decisions[row]!),
    outcomes: groups.flatMap(({ collected, task }) =>
      collected.outcomes.filter((_, t) => collected.batch.trajectoryTask[t] === task),
    ),
  };
}

function successOf(outcomes: readonly TrajectoryOutcome[]): number {
  return outcomes.filter(({ won }) => won).length / Math.max(1, outcomes.length);
}

/** Builds the nested groups; the comparison that follows reuses them. */
export function group(settings: Settings, rolled: RolledOut): Grouped {
  const workspace = new EstimatorWorkspace(rolled.batch);
  return { workspace, hierarchy: workspace.hierarchy(settings) };
}

/** ω of an iteration: it may move linearly from `omega` to `omegaEnd`. */
export function settingsAt(settings: Settings, iteration: number): Settings {
  if (settings.omegaEnd === null || settings.iterations < 2) return settings;
  const progress = Math.min(1, iteration / (settings.iterations - 1));
  const omega = settings.omega + progress * (settings.omegaEnd - settings.omega);
  return Object.freeze({ ...settings, omega });
}

/** Computes the advantages, and what they owe to the penalty. */
export function compare(settings: Settings, grouped: Grouped): Compared {
  const { workspace } = grouped;
  const found = estimate(workspace.batch, settings, workspace);
  const advantage = found.advantage.slice();
  let penaltyOnly = 0;
  if (settings.invalidPenalty > 0 && workspace.batch.valid.includes(0)) {
    const without = estimate(workspace.batch, Object.freeze({ ...settings, invalidPenalty: 0 }), workspace);
    for (let i = 0; i < advantage.length; i++) if (advantage[i] !== 0 && without.advantage[i] === 0) penaltyOnly++;
  }
  // Every method is shown with the hierarchy, GRPO too: that it does not use it is the point.
  const levels = found.levels.length > 0 ? found.levels : hierarchyOf(settings, workspace).levels;
  return {
    estimate: { ...found, advantage },
    levels: levelDiagnostics(levels),
    withoutSignal: shareWithoutSignal(advantage),
    penaltyOnly: penaltyOnly / Math.max(1, advantage.length),
  };
}

function hierarchyOf(settings: Settings, workspace: EstimatorWorkspace): Estimate {
  const { preset, environment, K, gamma, invalidPenalty } = settings;
  const shown = resolveSettings({ method: 'hgpo', preset, environment, options: { K, gamma, invalidPenalty } });
  return estimate(workspace.batch, shown, workspace);
}

/** One pass (or several) of optimizer steps over the rows of the batch. */
export async function update<D extends Decision>(
  run: RunSettings,
  iteration: number,
  learner: Learner<D>,
  rolled: RolledOut<D>,
  compared: Compared,
  klCoefficient: number,
  signal?: AbortSignal,
  onProgress?: (done: number, total: number) => void,
): Promise<UpdateFigures> {
  const { estimate: found } = compared;
  return learner.update({
    settings: run.settings,
    klCoefficient,
    decisions: rolled.decisions,
    advantage: found.advantage,
    inLoss: found.inLoss,
    valueTarget: found.detail.kind === 'ppo' ? found.detail.target : null,
    miniBatches: miniBatches(run, iteration, found.inLoss),
    signal,
    onProgress,
  });
}

/**
 * The rows that are trained on, cut into mini-batches; in a fresh order in each pass, because in batch order a
 * mini-batch would hold a handful of tasks only.
 */
function miniBatches({ settings, seed }: RunSettings, iteration: number, inLoss: Uint8Array): Int32Array[] {
  const rows: number[] = [];
  for (let i = 0; i < inLoss.length; i++) if (inLoss[i]) rows.push(i);
  const batches: Int32Array[] = [];
  for (let epoch = 0; epoch < settings.epochs; epoch++) {
    const order = rows.slice();
    randomStream(seed, 'mini-batches', iteration, epoch).shuffle(order);
    for (let at = 0; at < order.length; at += settings.miniBatch) {
      batches.push(Int32Array.from(order.slice(at, at + settings.miniBatch)));
    }
  }
  return batches;
}
