import { clippedTerm, newClippedTerm, type ClipSettings } from './clip.ts';
import { tokenCount, type TokenRows } from './aggregation.ts';
import { PolicyMetricSums, type PolicyMetrics } from './policy-metrics.ts';

/** Rows of tokens that a policy loss is taken over; all columns are [tokens]. */
export interface PolicyRows extends TokenRows {
  /** log π_new of each token, under the mask and temperature that it was sampled with. */
  readonly logProb: ArrayLike<number>;
  /** log π_old: the policy that produced the token. */
  readonly oldLogProb: ArrayLike<number>;
  /** The advantage of the row, repeated for its tokens (token-level GAE has one for each). */
  readonly advantage: ArrayLike<number>;
}

export interface PpoSettings extends ClipSettings {
  /** log π_new − log π_old is clamped to ±this before the exponential; null leaves it as it is. */
  readonly logRatioClamp: number | null;
}

/** A policy loss and what it sends back. */
export interface PolicyLoss {
  readonly loss: number;
  /** [tokens] ∂loss/∂log π_new; 0 for masked tokens. */
  readonly gradient: Float64Array;
  readonly metrics: PolicyMetrics;
}

/**
 * PPO's clipped loss with one importance ratio a token (`clip.ts` has the formula).
 *
 * @param weights [tokens] from `tokenWeights`
 */
export function ppoLoss(rows: PolicyRows, weights: ArrayLike<number>, settings: PpoSettings): PolicyLoss {
  const gradient = new Float64Array(tokenCount(rows));
  const sums = new PolicyMetricSums();
  const term = newClippedTerm();
  const bound = settings.logRatioClamp ?? Infinity;
  let loss = 0;
  for (let token = 0; token < gradient.length; token++) {
    if (!rows.mask[token]) continue;
    const difference = rows.logProb[token]! - rows.oldLogProb[token]!;
    const logRatio = Math.min(Math.max(difference, -bound), bound);
    clippedTerm(logRatio, logRatio !== difference, rows.advantage[token]!, settings, term);
    loss += weights[token]! * term.loss;
    gradient[token] = weights[token]! * term.gradient;
    sums.add(Math.exp(logRatio), logRatio, term.clipped, term.clippedLower);
  }
  return { loss, gradient, metrics: sums.metrics() };
}
