/** One pair of the past: what was seen and what was then done. */
export interface HistoryEntry<Seen> {
  /** 1 for the first step of the episode. */
  readonly step: number;
  readonly observation: Seen;
  /** The command as executed, not the raw reply. */
  readonly action: string;
}

/** What a prompt shows of an episode. */
export interface HistoryWindow<Seen> {
  /** The last min(K, steps taken) pairs, oldest first; empty at the first step and for K = 0: then the part is left out. */
  readonly entries: readonly HistoryEntry<Seen>[];
  readonly stepsTaken: number;
  /** The number of the step to come, from 1. */
  readonly currentStep: number;
  readonly currentObservation: Seen;
}

/**
 * The window of history length K over an episode so far.
 * @param observations [steps taken + 1] the start observation first
 * @param actions [steps taken]
 */
export function historyWindow<Seen>(
  observations: readonly Seen[],
  actions: readonly string[],
  historyLength: number,
): HistoryWindow<Seen> {
  const stepsTaken = actions.length;
  if (observations.length !== stepsTaken + 1) {
    throw new RangeError(`${stepsTaken} actions go with ${stepsTaken + 1} observations, not ${observations.length}.`);
  }
  const first = Math.max(0, stepsTaken - historyLength);
  const entries: HistoryEntry<Seen>[] = [];
  for (let i = first; i < stepsTaken; i++) {
    entries.push({ step: i + 1, observation: observations[i]!, action: actions[i]! });
  }
  return { entries, stepsTaken, currentStep: stepsTaken + 1, currentObservation: observations[stepsTaken]! };
}
