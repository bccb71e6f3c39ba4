/** Intervals for shares and means. All are 95 % unless another z is given. */

export interface Interval {
  readonly low: number;
  readonly high: number;
}

/** The 97.5 % point of the normal distribution. */
export const Z95 = 1.959963984540054;

/**
 * Wilson's interval for a share: `successes` of `trials` (E. B. Wilson, 1927). Inside [0, 1], sensible at 0 and at 1;
 * [0, 1] without trials.
 */
export function wilsonInterval(successes: number, trials: number, z = Z95): Interval {
  if (trials === 0) return { low: 0, high: 1 };
  const share = successes / trials;
  const square = (z * z) / trials;
  const centre = (share + square / 2) / (1 + square);
  const half = (z / (1 + square)) * Math.sqrt((share * (1 - share)) / trials + square / (4 * trials));
  return {
    // The limits at no success and at full success are exactly 0 and 1; rounding must not move them.
    low: successes === 0 ? 0 : Math.max(0, centre - half),
    high: successes === trials ? 1 : Math.min(1, centre + half),
  };
}

/** Mean and the standard error of the mean (sample standard deviation / √n); the error is NaN for fewer than two values. */
export function meanAndError(values: ArrayLike<number>): { readonly mean: number; readonly error: number } {
  const n = values.length;
  let mean = 0;
  for (let i = 0; i < n; i++) mean += (values[i]! - mean) / (i + 1);
  let squares = 0;
  for (let i = 0; i < n; i++) squares += (values[i]! - mean) ** 2;
  return { mean: n === 0 ? NaN : mean, error: n < 2 ? NaN : Math.sqrt(squares / (n - 1) / n) };
}
