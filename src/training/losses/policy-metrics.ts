/** What an update reports about the step it takes; shares and means are over the tokens that count. */
export interface PolicyMetrics {
  /** Share of tokens whose clipped branch is the larger one. */
  readonly clipFrac: number;
  /** Share of tokens with a negative advantage whose loss the dual clip bounds. */
  readonly clipFracLower: number;
  /** Mean of log π_old − log π_new: an estimate of KL(π_old, π_new) on samples of π_old. */
  readonly ppoKl: number;
  /** Smallest, largest and mean importance ratio, and its root mean square distance from 1; all 1, 1, 1, 0 without tokens. */
  readonly ratioMin: number;
  readonly ratioMax: number;
  readonly ratioMean: number;
  readonly ratioSpread: number;
}

/** Running sums behind `PolicyMetrics`; sums of parts add up, so rows and micro-batches can be counted apart. */
export class PolicyMetricSums {
  tokens = 0;
  clipped = 0;
  clippedLower = 0;
  /** Σ log π_old − log π_new */
  reverseLogRatio = 0;
  /** Σ (ρ − 1) and Σ (ρ − 1)²: the distance from 1 is what is small, so it is what gets summed. */
  excess = 0;
  excessSquared = 0;
  ratioMin = Infinity;
  ratioMax = -Infinity;

  /** Counts one token. */
  add(ratio: number, logRatio: number, clipped: boolean, clippedLower: boolean): void {
    this.tokens++;
    if (clipped) this.clipped++;
    if (clippedLower) this.clippedLower++;
    this.reverseLogRatio -= logRatio;
    this.excess += ratio - 1;
    this.excessSquared += (ratio - 1) ** 2;
    this.ratioMin = Math.min(this.ratioMin, ratio);
    this.ratioMax = Math.max(this.ratioMax, ratio);
  }

  metrics(): PolicyMetrics {
    // The 1e-8 keeps shares of nothing at 0 (the masked mean of the reference code).
    const count = this.tokens + 1e-8;
    const empty = this.tokens === 0;
    return {
      clipFrac: this.clipped / count,
      clipFracLower: this.clippedLower / count,
      ppoKl: this.reverseLogRatio / count,
      ratioMin: empty ? 1 : this.ratioMin,
      ratioMax: empty ? 1 : this.ratioMax,
      ratioMean: 1 + this.excess / count,
      ratioSpread: Math.sqrt(this.excessSquared / count),
    };
  }
}
