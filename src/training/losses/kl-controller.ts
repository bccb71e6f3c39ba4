export interface AdaptiveKlSettings {
  /** The KL divergence to settle at. */
  readonly target: number;
  /** Number of rows over which a full correction (20 %) is applied. */
  readonly horizon: number;
}

/**
 * The KL coefficient after an update that saw `rows` rows at mean divergence `kl` (Ziegler et al., arXiv:1909.08593):
 * β · (1 + clamp(kl / target − 1, −0.2, 0.2) · rows / horizon).
 */
export function adaptKlCoefficient(
  coefficient: number,
  kl: number,
  rows: number,
  settings: AdaptiveKlSettings,
): number {
  const error = Math.min(Math.max(kl / settings.target - 1, -0.2), 0.2);
  return coefficient * (1 + (error * rows) / settings.horizon);
}
