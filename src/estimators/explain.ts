import type { RolloutBatch } from '../rollouts/batch.ts';
import type { Estimate } from './estimate.ts';
import type { TrajectoryAdvantages } from './grpo.ts';
import { membersOf, type Grouping } from './groups.ts';
import type { DepthEstimate } from './progpo.ts';
import { divisor, firstVisits, type GroupComparison } from './statistics.ts';

/**
 * Opens the advantage of one row: every part with the rows that it was made from and its arithmetic, so that every
 * number on screen leads back to steps. The parts sum to the advantage: A = Σ weight · advantage.
 */

/** A comparison with a group of rows: (value − mean) / divisor = advantage. */
export interface ComparisonPart {
  readonly kind: 'level' | 'episode' | 'peers';
  /** Depth of the context, for levels. */
  readonly k: number | null;
  /** Rows that count in the mean, in row order. */
  readonly members: Int32Array;
  /** Their values: returns Q at levels and among peers, scores S of whole trajectories. */
  readonly values: Float64Array;
  /** The row's own value. */
  readonly value: number;
  readonly mean: number;
  /** Standard deviation of the group; 1 for a lone score, NaN where there is nothing to compare. */
  readonly sd: number;
  /** sd + ε; 1 where the mode does not scale or the sd is 0; (n − 1)/n for RLOO. */
  readonly divisor: number;
  /** NaN where there is nothing to compare. */
  readonly advantage: number;
  /** Factor in the row's advantage; 0 = does not count. */
  readonly weight: number;
  /** Why it counts or does not. */
  readonly state: PartState;
}

/**
 * `counts`; `absent`: the history is too short; `alone`: nobody to be compared with; `zero`: no difference from the
 * group, left out of the weights; `unused`: the settings leave the part out.
 */
export type PartState = 'counts' | 'absent' | 'alone' | 'zero' | 'unused';

/** ProGPO's transition credit: (reward − charge + γ · next − potential) / divisor = advantage. */
export interface CreditPart {
  readonly kind: 'credit';
  readonly reward: number;
  readonly charge: number;
  readonly gamma: number;
  /** Φ of the next row; 0 behind the last one. */
  readonly nextPotential: number;
  readonly potential: number;
  readonly divisor: number;
  readonly advantage: number;
  readonly weight: number;
  readonly state: PartState;
  /** The estimates that Φ was fused from. */
  readonly depths: readonly {
    readonly k: number;
    /** Rows with this context. */
    readonly members: Int32Array;
    readonly mean: number;
    readonly variance: number;
    /** Effective number of samples, borrowed ones included. */
    readonly samples: number;
    /** Similar contexts that lent returns. */
    readonly lenders: number;
    /** Share in the potential. */
    readonly share: number;
  }[];
}

/** PPO: (raw − mean) / divisor = advantage, raw from critic values and rewards. */
export interface CriticPart {
  readonly kind: 'critic';
  readonly value: number;
  readonly target: number;
  readonly raw: number;
  /** Mean and standard deviation of all raw advantages of the batch. */
  readonly mean: number;
  readonly divisor: number;
  readonly advantage: number;
  readonly weight: number;
  readonly state: PartState;
}

export type AdvantagePart = ComparisonPart | CreditPart | CriticPart;

export interface RowExplanation {
  readonly row: number;
  readonly returns: number;
  readonly score: number;
  readonly advantage: number;
  readonly inLoss: boolean;
  readonly parts: readonly AdvantagePart[];
}

/** How the advantage of one row came about. O(rows · parts). */
export function explainRow(batch: RolloutBatch, estimate: Estimate, row: number): RowExplanation {
  return {
    row,
    returns: estimate.returns[row]!,
    score: estimate.score[row]!,
    advantage: estimate.advantage[row]!,
    inLoss: estimate.inLoss[row] === 1,
    parts: partsOf(batch, estimate, row),
  };
}

function partsOf(batch: RolloutBatch, estimate: Estimate, row: number): AdvantagePart[] {
  const { detail, settings } = estimate;
  const { crossSteps, episodeWeight } = settings;
  const levels = estimate.levels.map(({ k, groups, comparison, weight }) =>
    groupPart(batch, estimate, row, 'level', k, groups, comparison, weight[row]!),
  );
  switch (detail.kind) {
    case 'trajectory':
      return [episodePart(batch, estimate, row, detail, 1, crossSteps)];
    case 'gigpo':
      return [episodePart(batch, estimate, row, detail.episode, episodeWeight, crossSteps), ...levels];
    case 'hgpo':
      return detail.base
        ? [...levels, episodePart(batch, estimate, row, detail.base, detail.base.weight[row]!, true)]
        : levels;
    case 'progpo': {
      const share = detail.peerWeight[row]!;
      const own = [
        groupPart(batch, estimate, row, 'peers', null, detail.peers, detail.peer, share),
        creditPart(batch, estimate, row, detail, (1 - share) * settings.beta),
      ];
      return detail.episode
        ? [...own, episodePart(batch, estimate, row, detail.episode, episodeWeight, crossSteps)]
        : own;
    }
    case 'ppo':
      return [
        {
          kind: 'critic',
          value: detail.value[row]!,
          target: detail.target[row]!,
          raw: detail.raw[row]!,
          mean: detail.whitening.mean,
          divisor: detail.whitening.scale,
          advantage: detail.advantage[row]!,
          weight: 1,
          state: 'counts',
        },
      ];
  }
}

function groupPart(
  batch: RolloutBatch,
  { settings, returns }: Estimate,
  row: number,
  kind: 'level' | 'peers',
  k: number | null,
  groups: Grouping,
  comparison: GroupComparison,
  weight: number,
): ComparisonPart {
  const group = groups.group[row]!;
  const first = settings.visits === 'first' ? firstVisits(batch, groups.group) : null;
  const members = membersOf(groups, group).filter(
    (other) =>
      (first === null || first[other] === 1) &&
      !(settings.leaveOut === 'row' && other === row) &&
      !(settings.leaveOut === 'trajectory' && batch.trajectory[other] === batch.trajectory[row]),
  );
  const advantage = comparison.advantage[row]!;
  const sd = comparison.sd[group] ?? NaN;
  return {
    kind,
    k,
    members,
    ...meanOf(members, returns),
    value: returns[row]!,
    sd,
    divisor: divisor(settings.mode, sd, settings.eps),
    advantage,
    weight,
    state:
      group < 0
        ? 'absent'
        : Number.isNaN(advantage)
          ? 'alone'
          : weight !== 0
            ? 'counts'
            : advantage === 0 && kind === 'level'
              ? 'zero'
              : 'unused',
  };
}

function episodePart(
  batch: RolloutBatch,
  { settings, score }: Estimate,
  row: number,
  comparison: TrajectoryAdvantages,
  weight: number,
  crossSteps: boolean,
): ComparisonPart {
  const task = batch.task[row]!;
  const members: number[] = [];
  if (crossSteps) {
    batch.task.forEach((other, i) => {
      if (other === task) members.push(i);
    });
  } else {
    batch.trajectoryTask.forEach((other, t) => {
      if (other === task) members.push(batch.byStep[batch.rowStart[t]!]!);
    });
  }
  const n = members.length;
  const sd = comparison.baseline.sd[task]!;
  const advantage = comparison.advantage[row]!;
  const { values, mean } = meanOf(Int32Array.from(members), score);
  return {
    kind: 'episode',
    k: null,
    members: Int32Array.from(members),
    values,
    value: score[row]!,
    mean: n === 1 ? 0 : mean,
    sd,
    divisor: settings.method === 'rloo' ? Math.max(1, n - 1) / n : divisor(settings.mode, sd, settings.eps),
    advantage,
    weight,
    state: weight !== 0 ? 'counts' : advantage === 0 ? 'zero' : 'unused',
  };
}

function creditPart(
  batch: RolloutBatch,
  { settings }: Estimate,
  row: number,
  detail: Extract<Estimate['detail'], { kind: 'progpo' }>,
  weight: number,
): CreditPart {
  const trajectory = batch.trajectory[row]!;
  const position = batch.rowStart[trajectory]! + batch.step[row]!;
  const last = position + 1 === batch.rowStart[trajectory + 1]!;
  const scale = settings.mode === 'mean_norm' ? 1 : detail.creditScale[batch.task[row]!]! + settings.eps;
  const depths = detail.depths.filter(({ groups }) => groups.group[row]! >= 0);
  const shares = fusionShares(depths, row, settings.fusion);
  return {
    kind: 'credit',
    reward: batch.reward[row]!,
    charge: batch.valid[row] === 0 ? settings.invalidPenalty : 0,
    gamma: settings.gamma,
    nextPotential: last ? 0 : detail.potential[batch.byStep[position + 1]!]!,
    potential: detail.potential[row]!,
    divisor: scale,
    advantage: detail.credit[row]! / scale,
    weight,
    state: weight === 0 ? 'unused' : 'counts',
    depths: depths.map(({ k, groups, mean, variance, samples, lenders }, j) => {
      const context = groups.group[row]!;
      return {
        k,
        members: membersOf(groups, context),
        mean: mean[context]!,
        variance: variance[context]!,
        samples: samples[context]!,
        lenders: lenders[context]!,
        share: shares[j]!,
      };
    }),
  };
}

function fusionShares(depths: readonly DepthEstimate[], row: number, fusion: Estimate['settings']['fusion']): number[] {
  const weights = depths.map(({ groups, variance }, j) =>
    fusion === 'uniform'
      ? 1
      : fusion === 'deepest'
        ? j === depths.length - 1
          ? 1
          : 0
        : 1 / variance[groups.group[row]!]!,
  );
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / total);
}

/** Shifted by the first value, so that equal values have exactly that mean. */
function meanOf(rows: Int32Array, column: Float64Array): { mean: number; values: Float64Array } {
  const values = Float64Array.from(rows, (row) => column[row]!);
  const first = values[0] ?? NaN;
  return { mean: first + values.reduce((sum, value) => sum + (value - first), 0) / values.length, values };
}
