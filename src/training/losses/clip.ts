/**
 * The clipped term that PPO and GSPO share. With the log ratio x = log π_new − log π_old, the importance ratio ρ = exp(x)
 * and the advantage A:
 *
 *   l₁ = −A ρ,   l₂ = −A clamp(ρ, 1 − clipLow, 1 + clipHigh),   l = max(l₁, l₂),
 *   and for A < 0, with dual clip c > 1:   l = min(l, −A c).
 *
 * PPO: arXiv:1707.06347; separate bounds ("clip-higher"): DAPO, arXiv:2503.14476; dual clip: arXiv:1912.09729.
 */
export interface ClipSettings {
  /** ρ is clipped below at 1 − clipLow. */
  readonly clipLow: number;
  /** ρ is clipped above at 1 + clipHigh. */
  readonly clipHigh: number;
  /** c > 1, the bound of the loss for negative advantages; null switches the dual clip off. */
  readonly dualClip: number | null;
}

/** One token's clipped loss. Reused by callers in loops: `clippedTerm` overwrites it. */
export interface ClippedTerm {
  loss: number;
  /** ∂loss/∂log π_new, with the advantage held constant. */
  gradient: number;
  /** The clipped branch is the larger one: l₂ > l₁. */
  clipped: boolean;
  /** The dual clip bounds the loss: A < 0 and l > −A c. */
  clippedLower: boolean;
}

export const newClippedTerm = (): ClippedTerm => ({ loss: 0, gradient: 0, clipped: false, clippedLower: false });

/**
 * The clipped loss of one token and its gradient.
 *
 * The gradient is −A ρ where l₁ is the larger branch or ρ lies inside the clip range (there both branches are the same
 * function), and 0 where the clipped branch wins, where the dual clip bounds the loss, where A = 0, and where the log ratio
 * was clamped before it came here.
 *
 * @param logRatio x, clamped by the caller
 * @param clamped whether the caller's clamp changed x
 */
export function clippedTerm(
  logRatio: number,
  clamped: boolean,
  advantage: number,
  settings: ClipSettings,
  out: ClippedTerm,
): void {
  const ratio = Math.exp(logRatio);
  const low = 1 - settings.clipLow;
  const high = 1 + settings.clipHigh;
  const unclippedLoss = -advantage * ratio;
  const clippedLoss = -advantage * Math.min(Math.max(ratio, low), high);
  const loss = Math.max(unclippedLoss, clippedLoss);
  const bound = settings.dualClip === null ? Infinity : -advantage * settings.dualClip;
  out.clipped = clippedLoss > unclippedLoss;
  out.clippedLower = advantage < 0 && loss > bound;
  out.loss = out.clippedLower ? bound : loss;
  const flows = !clamped && !out.clippedLower && (unclippedLoss > clippedLoss || (ratio >= low && ratio <= high));
  // `0 − …` keeps the zero of a zero advantage positive.
  out.gradient = flows ? 0 - advantage * ratio : 0;
}
