import { aggregate, tokenCount, tokenWeights, type AggregationMode } from './aggregation.ts';
import { gspoLoss } from './gspo.ts';
import { klGradient, klValue, type KlKind } from './kl.ts';
import { ppoLoss, type PolicyLoss, type PolicyRows, type PpoSettings } from './ppo.ts';

/** What one update minimises: policy loss − c_H · agg(entropy) + β · agg(KL). */
export interface PolicyObjective extends PpoSettings {
  /** `token`: PPO, a ratio for each token. `sequence`: GSPO, a ratio for each row; it uses neither `dualClip` nor `logRatioClamp`. */
  readonly ratio: 'token' | 'sequence';
  /** Of all three parts. GSPO is defined for `seq-mean-token-mean` alone and takes that whatever stands here. */
  readonly aggregation: AggregationMode;
  /** c_H */
  readonly entropyCoefficient: number;
  readonly klKind: KlKind;
  /** β; with 0 the reference policy is not needed. */
  readonly klCoefficient: number;
}

export interface ObjectiveRows extends PolicyRows {
  /** [tokens] entropy of the distribution that each token was drawn from; may be absent when c_H = 0. */
  readonly entropy?: ArrayLike<number>;
  /** [tokens] log π_ref; may be absent when β = 0. */
  readonly refLogProb?: ArrayLike<number>;
}

export interface TotalLoss extends PolicyLoss {
  readonly policyLoss: number;
  /** agg(entropy), before its coefficient; 0 when the entropies are absent. */
  readonly entropy: number;
  /** agg(KL), before its coefficient; 0 when the reference is absent. */
  readonly kl: number;
  /** [tokens] ∂loss/∂entropy = −c_H · weight. */
  readonly entropyGradient: Float64Array;
}

/** The aggregation that an objective really uses. */
export function objectiveAggregation(objective: PolicyObjective): AggregationMode {
  return objective.ratio === 'sequence' ? 'seq-mean-token-mean' : objective.aggregation;
}

/**
 * The whole loss of some rows and its gradients in log-probabilities and entropies.
 *
 * @param weights [tokens] of the whole mini-batch's aggregation where `rows` is a part of one
 */
export function totalLoss(
  rows: ObjectiveRows,
  objective: PolicyObjective,
  weights: ArrayLike<number> = tokenWeights(objectiveAggregation(objective), rows),
): TotalLoss {
  const policy =
    objective.ratio === 'sequence' ? gspoLoss(rows, weights, objective) : ppoLoss(rows, weights, objective);
  const { gradient } = policy;
  const entropyGradient = new Float64Array(tokenCount(rows));
  let kl = 0;
  for (let token = 0; token < gradient.length; token++) {
    if (!rows.mask[token]) continue;
    const weight = weights[token]!;
    entropyGradient[token] = 0 - objective.entropyCoefficient * weight;
    if (!rows.refLogProb) continue;
    const difference = rows.logProb[token]! - rows.refLogProb[token]!;
    kl += weight * klValue(objective.klKind, difference);
    gradient[token]! += objective.klCoefficient * weight * klGradient(objective.klKind, difference);
  }
  const entropy = rows.entropy ? aggregate(rows, weights, rows.entropy) : 0;
  return {
    loss: policy.loss - objective.entropyCoefficient * entropy + objective.klCoefficient * kl,
    gradient,
    entropyGradient,
    policyLoss: policy.loss,
    entropy,
    kl,
    metrics: policy.metrics,
  };
}
