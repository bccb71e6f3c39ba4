import { tokenCount, type TokenRows } from './aggregation.ts';

/** Rows whose value is learnt; all columns are [tokens] (one token a row where a value belongs to a step). */
export interface ValueRows extends TokenRows {
  /** V: the critic's value now. */
  readonly value: ArrayLike<number>;
  /** V_old: its value when the advantages were computed. */
  readonly oldValue: ArrayLike<number>;
  /** The return that the value should predict. */
  readonly returns: ArrayLike<number>;
}

export interface ValueLoss {
  readonly loss: number;
  /** [tokens] ∂loss/∂V; 0 for masked tokens. */
  readonly gradient: Float64Array;
  /** Share of tokens whose clipped error is the larger one. */
  readonly clipFrac: number;
}

/**
 * PPO's clipped value loss, per token ½ max((V − R)², (V_clip − R)²) with V_clip = clamp(V, V_old ± clipValue).
 *
 * @param weights [tokens] from `tokenWeights`
 */
export function valueLoss(rows: ValueRows, weights: ArrayLike<number>, clipValue: number): ValueLoss {
  const gradient = new Float64Array(tokenCount(rows));
  let loss = 0;
  let clipped = 0;
  let tokens = 0;
  for (let token = 0; token < gradient.length; token++) {
    if (!rows.mask[token]) continue;
    tokens++;
    const value = rows.value[token]!;
    const low = rows.oldValue[token]! - clipValue;
    const high = rows.oldValue[token]! + clipValue;
    const error = value - rows.returns[token]!;
    const clippedError = Math.min(Math.max(value, low), high) - rows.returns[token]!;
    if (clippedError ** 2 > error ** 2) clipped++;
    loss += (weights[token]! * Math.max(error ** 2, clippedError ** 2)) / 2;
    const flows = error ** 2 > clippedError ** 2 || (value >= low && value <= high);
    gradient[token] = flows ? weights[token]! * error : 0;
  }
  return { loss, gradient, clipFrac: clipped / (tokens + 1e-8) };
}
