import { tokenCount } from './aggregation.ts';
import { clippedTerm, newClippedTerm, type ClipSettings } from './clip.ts';
import { PolicyMetricSums } from './policy-metrics.ts';
import type { PolicyLoss, PolicyRows } from './ppo.ts';

/** The largest log ratio of a row: above it the ratio is e¹⁰ and the row sends no gradient. */
export const gspoLogRatioLimit = 10;

/**
 * GSPO (arXiv:2507.18071): one importance ratio a row, ρ = exp(min(10, mean over the row's tokens of log π_new − log π_old)),
 * in the clipped loss of `clip.ts` on every token of the row, without dual clip.
 *
 * The gradient of a token is that of the clipped term with the row's ratio: it flows through the token's own log π_new as
 * if the ratio were its own. With the weights of `seq-mean-token-mean`, the only aggregation GSPO is defined for, and one
 * advantage for the whole row, that is exactly the gradient of the loss.
 *
 * @param weights [tokens] `tokenWeights('seq-mean-token-mean', rows)`
 */
export function gspoLoss(
  rows: PolicyRows,
  weights: ArrayLike<number>,
  settings: Omit<ClipSettings, 'dualClip'>,
): PolicyLoss {
  const gradient = new Float64Array(tokenCount(rows));
  const sums = new PolicyMetricSums();
  const term = newClippedTerm();
  const clip: ClipSettings = { clipLow: settings.clipLow, clipHigh: settings.clipHigh, dualClip: null };
  let loss = 0;
  for (let row = 0; row + 1 < rows.rowStart.length; row++) {
    const begin = rows.rowStart[row]!;
    const end = rows.rowStart[row + 1]!;
    let tokens = 0;
    let sum = 0;
    for (let token = begin; token < end; token++) {
      if (!rows.mask[token]) continue;
      tokens++;
      sum += rows.logProb[token]! - rows.oldLogProb[token]!;
    }
    const mean = sum / tokens;
    const logRatio = Math.min(mean, gspoLogRatioLimit);
    for (let token = begin; token < end; token++) {
      if (!rows.mask[token]) continue;
      clippedTerm(logRatio, logRatio !== mean, rows.advantage[token]!, clip, term);
      loss += weights[token]! * term.loss;
      gradient[token] = weights[token]! * term.gradient;
      sums.add(Math.exp(logRatio), rows.logProb[token]! - rows.oldLogProb[token]!, term.clipped, term.clippedLower);
    }
  }
  return { loss, gradient, metrics: sums.metrics() };
}
