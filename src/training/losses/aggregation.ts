/**
 * From losses of tokens to one loss. Every mode is a weighted sum, loss = Σ weight · token loss, whose weights depend on
 * the mask alone. So the weights of a mini-batch are computed once, for the whole of it, and each micro-batch takes its
 * slice: gradient accumulation cannot depend on the split. (Averaging the means of micro-batches, as the public
 * reference code does, is a different and split-dependent number.)
 */

/** Response tokens of a mini-batch, packed row after row; one row is one decision of the policy. */
export interface TokenRows {
  /** [rows + 1] where each row begins in the token columns; the last entry is the number of tokens. */
  readonly rowStart: ArrayLike<number>;
  /** [tokens] 1 for a token that the policy produced, 0 for one that takes no part whatever its other values are. */
  readonly mask: ArrayLike<number>;
}

/**
 * - `token-mean`: Σ m·l / Σ m over all tokens (DAPO).
 * - `seq-mean-token-sum`: mean over rows of Σ m·l.
 * - `seq-mean-token-mean`: mean over rows of Σ m·l / Σ m (GRPO).
 * - `seq-mean-token-sum-norm`: Σ m·l / constant, rows are not averaged (Dr.GRPO). The constant is the length of the longest row unless given.
 *
 * Rows without a token that counts are left out of the mean over rows.
 */
export type AggregationMode = (typeof aggregationModes)[number];
export const aggregationModes = [
  'token-mean',
  'seq-mean-token-sum',
  'seq-mean-token-mean',
  'seq-mean-token-sum-norm',
] as const;

/** The number of tokens in packed rows, masked ones included. */
export function tokenCount(rows: TokenRows): number {
  return rows.rowStart[rows.rowStart.length - 1]!;
}

/**
 * The divisor of a mode over the given rows: the number of tokens that count, the number of rows with such a token, or
 * the length of the longest row.
 */
export function aggregationDivisor(mode: AggregationMode, rows: TokenRows): number {
  let tokens = 0;
  let filledRows = 0;
  let longest = 0;
  for (let row = 0; row + 1 < rows.rowStart.length; row++) {
    const inRow = countTokens(rows, row);
    tokens += inRow;
    if (inRow > 0) filledRows++;
    longest = Math.max(longest, rows.rowStart[row + 1]! - rows.rowStart[row]!);
  }
  switch (mode) {
    case 'token-mean':
      return tokens;
    case 'seq-mean-token-sum':
    case 'seq-mean-token-mean':
      return filledRows;
    case 'seq-mean-token-sum-norm':
      return longest;
  }
}

/**
 * The weight of each token's loss, [tokens]; 0 for masked tokens, and 0 everywhere when no token counts.
 *
 * @param divisor replaces the divisor that these rows have by themselves: the one of the whole mini-batch when `rows` is
 *   a part of it, or a fixed constant (`seq-mean-token-sum-norm` with the maximum response length, as Dr.GRPO wants).
 */
export function tokenWeights(
  mode: AggregationMode,
  rows: TokenRows,
  divisor: number = aggregationDivisor(mode, rows),
): Float64Array {
  const weights = new Float64Array(tokenCount(rows));
  for (let row = 0; row + 1 < rows.rowStart.length; row++) {
    const inRow = countTokens(rows, row);
    if (inRow === 0) continue;
    const weight = mode === 'seq-mean-token-mean' ? 1 / (inRow * divisor) : 1 / divisor;
    for (let token = rows.rowStart[row]!; token < rows.rowStart[row + 1]!; token++) {
      if (rows.mask[token]) weights[token] = weight;
    }
  }
  return weights;
}

/** Σ weight · value over the tokens that count. Masked values are not touched, so a NaN among them cannot leak. */
export function aggregate(rows: TokenRows, weights: ArrayLike<number>, values: ArrayLike<number>): number {
  let sum = 0;
  for (let token = 0; token < values.length; token++) {
    if (rows.mask[token]) sum += weights[token]! * values[token]!;
  }
  return sum;
}

function countTokens(rows: TokenRows, row: number): number {
  let count = 0;
  for (let token = rows.rowStart[row]!; token < rows.rowStart[row + 1]!; token++) if (rows.mask[token]) count++;
  return count;
}
