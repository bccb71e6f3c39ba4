/** What the page and the training worker say to each other, beside the calls. Plain data. */
import type { RolloutBatch } from '../../rollouts/batch.ts';
import type { IterationMetrics } from '../../training/metrics.ts';
import type { Phase } from '../../training/iteration.ts';
import type { RunPlan } from '../../training/run-plan.ts';
import type { RunSettings } from '../../training/run-settings.ts';
import type { StopReason, Validation } from '../../training/trainer.ts';
import type { Alarm } from '../../training/watch.ts';

/** What the worker is doing now. `preparing`: a policy is opened; `waiting`: paused in the middle of something. */
export type Activity = 'idle' | 'preparing' | 'measuring' | 'playing' | 'running' | 'pausing' | 'waiting' | 'stopping';

/** Where the open run stands. */
export interface RunStatus {
  readonly activity: Activity;
  /** The run that is open; null before the first. */
  readonly id: string | null;
  /** The iteration and the phase that come next. */
  readonly iteration: number;
  readonly phase: Phase;
  /** Why the run stopped last; null while it has not. */
  readonly reason: StopReason | null;
  /** The alarm that stopped it and that nobody has answered yet. */
  readonly alarm: Alarm | null;
  readonly best: { readonly success: number; readonly iteration: number } | null;
  /** Whether there is an iteration to go back to. */
  readonly hasLastGood: boolean;
  /** Seconds of the phases so far; pauses are not in it. */
  readonly seconds: number;
  /** What went wrong, as a sentence. */
  readonly error: string | null;
  /** How often a lost device was replaced in this run. */
  readonly devicesLost: number;
}

export interface RunProgress {
  readonly iteration: number;
  readonly phase: Phase | 'validate' | 'compare kernels' | 'measure';
  /** From 0 to 1 within the phase. */
  readonly done: number;
}

/** A run with its numbers, as it is listed and drawn. */
export interface RunRecord {
  readonly id: string;
  readonly plan: RunPlan;
  readonly run: RunSettings;
  readonly history: readonly IterationMetrics[];
  readonly validations: readonly Validation[];
  readonly alarms: readonly Alarm[];
}

/** What one phase of an iteration gave, in a few numbers; the rollouts themselves are asked for. */
export interface PhaseReport {
  readonly iteration: number;
  readonly phase: Phase;
  /** By name of what they are; texts of the page say it in words. */
  readonly figures: Readonly<Record<string, number>>;
}

/** The rollouts of one iteration. */
export interface SampledBatch {
  readonly iteration: number;
  readonly batch: RolloutBatch;
}

/** How long an iteration is going to take, from a short probe. */
export interface TimeEstimate {
  /** Seconds for each iteration with episodes of full length. */
  readonly seconds: number;
  /** What was really done to find out. */
  readonly probeRows: number;
  readonly probeSeconds: number;
  /** Rows of an iteration whose episodes all have full length. */
  readonly rows: number;
}

/** An episode to be played by the open policy. */
export interface PlayRequest {
  /** The policy as it is now, or as it was before the first iteration. */
  readonly policy: 'before' | 'now';
  /** `set`: the fixed set of a table. */
  readonly split: 'set' | 'train' | 'seen' | 'unseen';
  /** Number of the episode in its split. */
  readonly episode: number;
  /** 0 = the likeliest command each time. */
  readonly temperature: number;
  readonly seed: number;
}

export interface PlayedEpisode {
  readonly task: string;
  readonly goal: string;
  readonly won: boolean;
  readonly steps: readonly { readonly observation: string; readonly action: string; readonly valid: boolean }[];
}

export type TrainingEvent =
  | { readonly kind: 'status'; readonly status: RunStatus }
  | { readonly kind: 'progress'; readonly progress: RunProgress }
  /** A run is open; its numbers replace what was known of it. Of a long history this is the beginning. */
  | { readonly kind: 'opened'; readonly record: RunRecord }
  /** A run is in storage. Of a long history this is the beginning. */
  | { readonly kind: 'found'; readonly record: RunRecord }
  /** The next iterations of such a run, in their order; `from` were sent before. */
  | {
      readonly kind: 'history';
      readonly id: string;
      readonly from: number;
      readonly metrics: readonly IterationMetrics[];
    }
  | { readonly kind: 'iteration'; readonly id: string; readonly metrics: IterationMetrics }
  | { readonly kind: 'validation'; readonly id: string; readonly validation: Validation }
  | { readonly kind: 'alarm'; readonly id: string; readonly alarm: Alarm }
  | { readonly kind: 'phase'; readonly id: string; readonly report: PhaseReport }
  /** Storage could not be written; the run goes on without. */
  | { readonly kind: 'not kept'; readonly reason: string };
