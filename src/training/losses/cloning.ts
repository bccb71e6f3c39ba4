import { aggregate, tokenCount, type TokenRows } from './aggregation.ts';

/**
 * Behaviour cloning: the cross-entropy of the demonstrated tokens, loss = −Σ weight · log π. Its gradient in log π is
 * minus the weight, a constant.
 *
 * @param logProb [tokens] log π of each demonstrated token
 * @param weights [tokens] from `tokenWeights`
 */
export function cloningLoss(
  rows: TokenRows,
  logProb: ArrayLike<number>,
  weights: ArrayLike<number>,
): { loss: number; gradient: Float64Array } {
  const gradient = new Float64Array(tokenCount(rows));
  for (let token = 0; token < gradient.length; token++) if (rows.mask[token]) gradient[token] = -weights[token]!;
  return { loss: -aggregate(rows, weights, logProb), gradient };
}
