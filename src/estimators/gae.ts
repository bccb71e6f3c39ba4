/**
 * Generalised advantage estimation (arXiv:1506.02438) over sequences of decisions: the steps of a trajectory, or the
 * tokens of a reply. Also the whitening that follows it in PPO.
 */

export interface GaeInput {
  /** [n] positions, sequence by sequence, each in order */
  readonly order: Int32Array;
  /** [sequences + 1] where each sequence begins in `order` */
  readonly start: Int32Array;
  /** [n] V; at masked positions not read when these are skipped */
  readonly values: Float64Array;
  /** [n] */
  readonly rewards: Float64Array;
  /** [n] 0 = not a decision of the policy; null = all are */
  readonly mask: Uint8Array | null;
  readonly gamma: number;
  readonly lambda: number;
  /** Masked positions are passed over (verl today), or are steps like any other (the older code inside verl-agent). */
  readonly masked?: 'skip' | 'step';
}

export interface GaeResult {
  /** [n] before whitening */
  readonly advantage: Float64Array;
  /** [n] A + V, the target of the critic */
  readonly target: Float64Array;
}

/**
 * Backward over each sequence, with V_next = L = 0 behind its end:
 *
 *     δ = r + γ V_next − V,   L ← δ + γ λ L,   A = L,   target = A + V
 *
 * A skipped position changes neither V_next nor L and takes the L of the next decision. O(n).
 */
export function generalisedAdvantages(input: GaeInput): GaeResult {
  const { order, start, values, rewards, mask, gamma, lambda } = input;
  const skip = input.masked !== 'step';
  const advantage = new Float64Array(values.length);
  const target = new Float64Array(values.length);
  for (let s = 0; s + 1 < start.length; s++) {
    let nextValue = 0;
    let trace = 0;
    for (let j = start[s + 1]! - 1; j >= start[s]!; j--) {
      const at = order[j]!;
      if (!skip || mask === null || mask[at] === 1) {
        trace = rewards[at]! + gamma * nextValue - values[at]! + gamma * lambda * trace;
        nextValue = values[at]!;
      }
      advantage[at] = trace;
      target[at] = trace + values[at]!;
    }
  }
  return { advantage, target };
}

export interface Whitening {
  /** [n] */
  readonly advantage: Float64Array;
  readonly mean: number;
  /** What the deviations were divided by; 1 where fewer than two values are valid and nothing was done. */
  readonly scale: number;
}

/**
 * Shifts and scales the valid values to mean 0 and variance 1:
 *
 *     (A − m) / sqrt(var + 1e-8),   m = Σ A / (n + 1e-8),   var = sample variance (n − 1)
 *
 * With fewer than two valid values they are left as they are.
 *
 * @param mask [n] 0 = does not count; null = all count. Values that do not count are shifted and scaled all the same.
 */
export function whiten(values: Float64Array, mask: Uint8Array | null): Whitening {
  let n = 0;
  let sum = 0;
  for (let i = 0; i < values.length; i++) {
    if (mask !== null && mask[i] === 0) continue;
    n++;
    sum += values[i]!;
  }
  if (n < 2) return { advantage: values.slice(), mean: 0, scale: 1 };
  const mean = sum / (n + 1e-8);
  let squares = 0;
  for (let i = 0; i < values.length; i++) {
    if (mask === null || mask[i] === 1) squares += (values[i]! - mean) ** 2;
  }
  const scale = Math.sqrt(squares / (n - 1) + 1e-8);
  return { advantage: values.map((value) => (value - mean) / scale), mean, scale };
}
