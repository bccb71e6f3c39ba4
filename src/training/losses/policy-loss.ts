import indexSource from '../../../shaders/index.wgsl?raw';
import policyLossSource from '../../../shaders/policy-loss.wgsl?raw';
import type { Binding } from '../../gpu/buffer.ts';
import type { Kernel } from '../../gpu/kernel.ts';
import { linearWorkgroups, valueOf, WORKGROUP, type Count, type Dispatch } from '../../gpu/program.ts';
import { evaluate, kernelTest } from '../../gpu/selftest.ts';
import { tokenCount, tokenWeights, aggregationModes } from './aggregation.ts';
import { klKinds, type KlKind } from './kl.ts';
import { PolicyMetricSums, type PolicyMetrics } from './policy-metrics.ts';
import type { PolicyRows } from './ppo.ts';
import { objectiveAggregation, totalLoss, type PolicyObjective } from './total.ts';

const kernel: Kernel = { name: 'policy-loss', source: indexSource + policyLossSource };

// The forms of shaders/policy-loss.wgsl: of the value and of the gradient.
const klForms: Readonly<Record<KlKind, readonly [value: number, gradient: number]>> = {
  k1: [1, 1],
  abs: [2, 2],
  k2: [3, 3],
  k3: [4, 4],
  'k1+': [1, 3],
  'abs+': [2, 3],
  'k3+': [4, 3],
};

/** Numbers that the kernel writes for each row. */
export const POLICY_ROW_SUMS = 12;

/** The policy objective on the GPU: the gradient that enters the output head, and each row's part of loss and metrics. */
export function policyLoss(operands: {
  readonly objective: PolicyObjective;
  /** [rows + 1] u32 */
  readonly rowStart: Binding;
  /** [tokens, 4] from `policyTargets` */
  readonly targets: Binding;
  /** [tokens] */
  readonly logProb: Binding;
  /** [tokens] */
  readonly entropy: Binding;
  /** [tokens]; absent where the objective has no KL term */
  readonly refLogProb?: Binding | undefined;
  /** [tokens, 2] ∂loss/∂log π_new and ∂loss/∂entropy of each token */
  readonly gradient: Binding;
  /** [sumsAt + rows, POLICY_ROW_SUMS], for `policyFigures` */
  readonly rowSums: Binding;
  /** First row of `rowSums` that is written: micro-batches of a mini-batch stand behind one another. */
  readonly sumsAt?: Count;
  readonly rows: Count;
}): Dispatch {
  const { objective, rowStart, targets, logProb, entropy, refLogProb, gradient, rowSums, sumsAt = 0, rows } = operands;
  const sequence = objective.ratio === 'sequence';
  const [value, slope] = klForms[objective.klKind];
  return {
    kernel,
    constants: {
      WORKGROUP,
      SEQUENCE_RATIO: sequence,
      REFERENCE: refLogProb !== undefined,
      KL_VALUE: value,
      KL_GRADIENT: slope,
    },
    bindings: { rowStart, targets, logProb, entropy, gradient, rowSums, ...(refLogProb ? { refLogProb } : {}) },
    parameters: {
      rows,
      sumsAt,
      clipLow: objective.clipLow,
      clipHigh: objective.clipHigh,
      dualClip: sequence ? 0 : (objective.dualClip ?? 0),
      logRatioClamp: objective.logRatioClamp ?? 1e30,
      entropyCoefficient: objective.entropyCoefficient,
      ...(refLogProb ? { klCoefficient: objective.klCoefficient } : {}),
    },
    workgroups: () => linearWorkgroups(valueOf(rows)),
  };
}

/** [tokens, 4] what the CPU knows of each token: log π_old, advantage, weight of the aggregation, mask. */
export function policyTargets(
  rows: Pick<PolicyRows, 'rowStart' | 'mask' | 'oldLogProb' | 'advantage'>,
  weights: ArrayLike<number>,
): Float32Array {
  const targets = new Float32Array(tokenCount(rows) * 4);
  for (let token = 0; token < tokenCount(rows); token++) {
    targets[token * 4] = rows.oldLogProb[token]!;
    targets[token * 4 + 1] = rows.advantage[token]!;
    targets[token * 4 + 2] = weights[token]!;
    targets[token * 4 + 3] = rows.mask[token] ? 1 : 0;
  }
  return targets;
}

export interface PolicyFigures {
  readonly loss: number;
  readonly policyLoss: number;
  /** agg(entropy), before its coefficient */
  readonly entropy: number;
  /** agg(KL), before its coefficient; 0 without a reference */
  readonly kl: number;
  readonly metrics: PolicyMetrics;
}

/** Loss and metrics from what `policyLoss` wrote for each row; micro-batches of one mini-batch may be put behind one another. */
export function policyFigures(rowSums: ArrayLike<number>, objective: PolicyObjective): PolicyFigures {
  const sums = new PolicyMetricSums();
  let policy = 0;
  let entropy = 0;
  let kl = 0;
  for (let at = 0; at < rowSums.length; at += POLICY_ROW_SUMS) {
    policy += rowSums[at]!;
    entropy += rowSums[at + 1]!;
    kl += rowSums[at + 2]!;
    sums.tokens += rowSums[at + 3]!;
    sums.clipped += rowSums[at + 4]!;
    sums.clippedLower += rowSums[at + 5]!;
    sums.reverseLogRatio += rowSums[at + 6]!;
    sums.excess += rowSums[at + 7]!;
    sums.excessSquared += rowSums[at + 8]!;
    sums.ratioMin = Math.min(sums.ratioMin, rowSums[at + 9]!);
    sums.ratioMax = Math.max(sums.ratioMax, rowSums[at + 10]!);
  }
  return {
    loss: policy - objective.entropyCoefficient * entropy + objective.klCoefficient * kl,
    policyLoss: policy,
    entropy,
    kl,
    metrics: sums.metrics(),
  };
}

export const policyLossTest = kernelTest(
  'policy-loss',
  klKinds.map((klKind, i) => ({
    ratio: i % 2 === 0 ? ('token' as const) : ('sequence' as const),
    aggregation: aggregationModes[i % aggregationModes.length]!,
    dualClip: i < 4 ? 3 : null,
    logRatioClamp: i < 5 ? 20 : null,
    klKind,
    rowCount: 3 ** i % 83,
  })),
  ({ rowCount, ...kinds }) => ({
    async compare(gpu, random) {
      const objective: PolicyObjective = {
        ...kinds,
        clipLow: 0.2,
        clipHigh: 0.28,
        entropyCoefficient: 0.01,
        klCoefficient: 0.1,
      };
      const rowStart = new Uint32Array(rowCount + 1);
      for (let row = 0; row < rowCount; row++) rowStart[row + 1] = rowStart[row]! + random.below(9);
      const tokens = rowStart[rowCount]!;
      const column = (next: () => number) => Float32Array.from({ length: tokens }, next);
      const oldLogProb = column(() => -3 * random.nextFloat());
      const rows = {
        rowStart,
        mask: column(() => (random.below(5) > 0 ? 1 : 0)),
        oldLogProb,
        advantage: column(() => (random.below(6) > 0 ? random.nextNormal() : 0)),
        logProb: oldLogProb.map((old) => old + 0.5 * random.nextNormal()),
        refLogProb: column(() => -3 * random.nextFloat()),
        entropy: column(() => 2 * random.nextFloat()),
      };
      const weights = tokenWeights(objectiveAggregation(objective), rows);
      const result = await evaluate(
        gpu,
        {
          rowStart,
          targets: policyTargets(rows, weights),
          logProb: rows.logProb,
          entropy: rows.entropy,
          refLogProb: rows.refLogProb,
          gradient: tokens * 2,
          rowSums: rowCount * POLICY_ROW_SUMS,
        },
        (buffers) => policyLoss({ ...buffers, objective, rows: rowCount }),
        ['gradient', 'rowSums'],
      );
      const twin = totalLoss(rows, objective, weights);
      const figures = policyFigures(result.rowSums, objective);
      const listed = (total: Omit<PolicyFigures, 'metrics'> & { metrics: PolicyMetrics }) => [
        total.loss,
        total.policyLoss,
        total.entropy,
        total.kl,
        ...Object.values(total.metrics),
      ];
      const { gradient } = result;
      return [
        {
          name: 'gradient in log-probabilities',
          actual: Array.from(twin.gradient, (_, t) => gradient[t * 2]!),
          expected: twin.gradient,
        },
        {
          name: 'gradient in entropies',
          actual: Array.from(twin.gradient, (_, t) => gradient[t * 2 + 1]!),
          expected: twin.entropyGradient,
        },
        { name: 'loss and metrics', actual: listed(figures), expected: listed(twin) },
      ];
    },
  }),
);
