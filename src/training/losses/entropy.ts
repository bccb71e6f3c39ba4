/**
 * The entropy of a token distribution, H = −Σ p log p, over the tokens that may be emitted (p = 0 elsewhere, 0 log 0 = 0).
 * The bonus −c_H · agg(H) of the objective pulls at every logit, not only at the sampled token's.
 *
 * @param logProbs [vocabulary] log p; −Infinity for tokens that may not be emitted
 */
export function entropy(logProbs: ArrayLike<number>): number {
  let sum = 0;
  for (let v = 0; v < logProbs.length; v++) {
    const p = Math.exp(logProbs[v]!);
    if (p > 0) sum -= p * logProbs[v]!;
  }
  return sum;
}

/**
 * ∂H/∂z for logits z with p = softmax(z): −p (log p + H); 0 for tokens that may not be emitted.
 *
 * @param logProbs [vocabulary] log p; −Infinity for tokens that may not be emitted
 * @param out [vocabulary]
 */
export function entropyGradient(logProbs: ArrayLike<number>, out: Float64Array): void {
  const total = entropy(logProbs);
  for (let v = 0; v < logProbs.length; v++) {
    const p = Math.exp(logProbs[v]!);
    out[v] = p > 0 ? -p * (logProbs[v]! + total) : 0;
  }
}
