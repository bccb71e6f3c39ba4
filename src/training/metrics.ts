import type { LevelDiagnostics } from '../analysis/groups.ts';
import type { TrajectoryOutcome } from '../rollouts/collect.ts';
import type { Compared, Phase, RolledOut } from './iteration.ts';
import type { UpdateFigures } from './learner.ts';

/** The numbers of one iteration. What each means stands in `metricTable`, its one definition. */
export interface IterationMetrics {
  /** 0 for the first. */
  readonly iteration: number;
  readonly meanAdvantage: number;
  readonly policyLoss: number;
  readonly kl: number;
  readonly clipFraction: number;
  readonly meanReward: number;
  readonly success: number;
  readonly loss: number;
  readonly valueLoss: number;
  readonly entropy: number;
  readonly gradientNorm: number;
  readonly invalidShare: number;
  readonly episodeLength: number;
  readonly score: number;
  readonly withoutSignal: number;
  readonly penaltyOnly: number;
  readonly failedGroups: number;
  readonly klOnlyUpdates: number;
  readonly ratioMin: number;
  readonly ratioMax: number;
  readonly ratioSpread: number;
  readonly klCoefficient: number;
  readonly rows: number;
  readonly trajectories: number;
  readonly droppedGroups: number;
  readonly optimizerSteps: number;
  readonly rolloutSeconds: number;
  readonly groupSeconds: number;
  readonly advantageSeconds: number;
  readonly updateSeconds: number;
  /** Success by kind of task. */
  readonly successByTask: Readonly<Record<string, number>>;
  /** [levels 0 … K] mean |G_k| over the rows that have the level */
  readonly groupSize: readonly number[];
  /** [levels 0 … K] */
  readonly utilisation: readonly number[];
  /** [levels 0 … K] */
  readonly levelWithoutSignal: readonly number[];
}

export interface MetricDefinition {
  readonly name: string;
  /** Empty for plain numbers. */
  readonly unit: string;
  /** How it is computed, as a formula or a short sentence. */
  readonly formula: string;
  /** Whether it is one of the six curves of the HGPO paper. */
  readonly paper: boolean;
}

const metric = (name: string, unit: string, formula: string, paper = false): MetricDefinition => ({
  name,
  unit,
  formula,
  paper,
});

export const metricTable: Readonly<Record<keyof IterationMetrics, MetricDefinition>> = {
  iteration: metric('Iteration', '', 'counted from 0'),
  meanAdvantage: metric('Mean advantage', '', 'Σ A_i / rows', true),
  policyLoss: metric('Policy-gradient loss', '', 'agg max(−A ρ, −A clip(ρ)), mean over mini-batches', true),
  kl: metric(
    'KL to the reference policy',
    'nat/token',
    'Σ w k(log π − log π_ref) / Σ w with the weights w of the loss, mean over mini-batches',
    true,
  ),
  clipFraction: metric('Clip fraction', 'share', 'tokens whose clipped branch is the larger / tokens', true),
  meanReward: metric('Mean reward', 'return', 'Σ undiscounted reward / trajectories, penalties not included', true),
  success: metric('Episode success', 'share', 'won trajectories / trajectories rolled out', true),
  loss: metric('Loss', '', 'policy loss − c_H · entropy + β · KL'),
  valueLoss: metric('Value loss', 'return²', 'mean of ½ max((V − R)², (V_clip − R)²)'),
  entropy: metric('Entropy', 'nat/token', 'Σ w H / Σ w with the weights w of the loss, mean over mini-batches'),
  gradientNorm: metric('Gradient norm', '', '√Σ g² before clipping, mean over mini-batches'),
  invalidShare: metric('Invalid actions', 'share', 'steps whose action was not valid / steps'),
  episodeLength: metric('Episode length', 'steps', 'steps / trajectories'),
  score: metric('Score', 'share', 'mean score of an episode; equals success in rooms'),
  withoutSignal: metric('Steps without signal', 'share', 'rows with A = 0 / rows'),
  penaltyOnly: metric('Advantage from the penalty alone', 'share', 'rows with A ≠ 0 that have A = 0 at c = 0 / rows'),
  failedGroups: metric('Groups without a success', 'share', 'task groups in which no trajectory won / groups'),
  klOnlyUpdates: metric('KL-only updates', 'share', 'optimizer steps whose rows all have A = 0 / optimizer steps'),
  ratioMin: metric('Smallest importance ratio', '', 'min π_new / π_old over tokens'),
  ratioMax: metric('Largest importance ratio', '', 'max π_new / π_old over tokens'),
  ratioSpread: metric('Importance-ratio spread', '', '√ mean (ρ − 1)², mean over mini-batches'),
  klCoefficient: metric('KL coefficient', '', 'β of this update'),
  rows: metric('Rows', 'steps', 'steps of the batch'),
  trajectories: metric('Trajectories', '', 'trajectories of the batch'),
  droppedGroups: metric('Dropped groups', '', 'task groups that dynamic sampling rolled out and dropped'),
  optimizerSteps: metric('Optimizer steps', '', 'mini-batches × epochs'),
  rolloutSeconds: metric('Time to roll out', 's', 'wall time of the phase, pauses left out'),
  groupSeconds: metric('Time to group', 's', 'wall time of the phase, pauses left out'),
  advantageSeconds: metric('Time to compare', 's', 'wall time of the phase, pauses left out'),
  updateSeconds: metric('Time to update', 's', 'wall time of the phase, pauses left out'),
  successByTask: metric('Success by task', 'share', 'won trajectories / trajectories of each kind of task'),
  groupSize: metric('Group size by level', 'steps', 'mean |G_k| over rows that have level k'),
  utilisation: metric('Utilisation by level', 'share', 'rows with |G_k| ≥ 2 / rows'),
  levelWithoutSignal: metric('Steps without signal by level', 'share', 'rows with a_k absent or 0 / rows'),
};

/** All numbers of an iteration from what its phases gave. */
export function iterationMetrics(
  iteration: number,
  rolled: RolledOut,
  compared: Compared,
  figures: UpdateFigures,
  klCoefficient: number,
  seconds: Readonly<Record<Phase, number>>,
): IterationMetrics {
  const { outcomes, batch } = rolled;
  const { advantage } = compared.estimate;
  const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / Math.max(1, values.length);
  const steps = outcomes.reduce((total, o) => total + o.steps, 0);
  return {
    iteration,
    meanAdvantage: mean([...advantage]),
    policyLoss: figures.policyLoss,
    kl: figures.kl,
    clipFraction: figures.metrics.clipFrac,
    meanReward: batch.reward.reduce((a, b) => a + b, 0) / Math.max(1, batch.trajectories.size),
    success: rolled.success,
    loss: figures.loss,
    valueLoss: figures.valueLoss,
    entropy: figures.entropy,
    gradientNorm: figures.gradientNorm,
    invalidShare: outcomes.reduce((total, o) => total + o.invalidSteps, 0) / Math.max(1, steps),
    episodeLength: steps / Math.max(1, outcomes.length),
    score: mean(outcomes.map((o) => o.score)),
    withoutSignal: compared.withoutSignal,
    penaltyOnly: compared.penaltyOnly,
    failedGroups: failedGroups(rolled),
    klOnlyUpdates: figures.withoutAdvantage / Math.max(1, figures.optimizerSteps),
    ratioMin: figures.metrics.ratioMin,
    ratioMax: figures.metrics.ratioMax,
    ratioSpread: figures.metrics.ratioSpread,
    klCoefficient,
    rows: batch.rowCount,
    trajectories: batch.trajectories.size,
    droppedGroups: rolled.droppedGroups,
    optimizerSteps: figures.optimizerSteps,
    rolloutSeconds: seconds['roll-out'],
    groupSeconds: seconds.group,
    advantageSeconds: seconds.compare,
    updateSeconds: seconds.update,
    successByTask: successByTask(outcomes),
    groupSize: compared.levels.map(meanGroupSize),
    utilisation: compared.levels.map(({ utilisation }) => utilisation),
    levelWithoutSignal: compared.levels.map(({ withoutSignal }) => withoutSignal),
  };
}

function meanGroupSize({ histogram, present }: LevelDiagnostics): number {
  return present === 0 ? 0 : histogram.reduce((total, { size, rows }) => total + size * rows, 0) / present;
}

function failedGroups({ batch, outcomes }: RolledOut): number {
  const won = new Set<number>();
  outcomes.forEach((outcome, t) => {
    if (outcome.won) won.add(batch.trajectoryTask[t]!);
  });
  return 1 - won.size / Math.max(1, batch.tasks.size);
}

function successByTask(outcomes: readonly TrajectoryOutcome[]): Record<string, number> {
  const tasks = [...new Set(outcomes.map(({ task }) => task))].sort();
  return Object.fromEntries(
    tasks.map((task) => {
      const ofTask = outcomes.filter((outcome) => outcome.task === task);
      return [task, ofTask.filter(({ won }) => won).length / ofTask.length];
    }),
  );
}
