import type { Settings } from '../estimators/settings.ts';
import { tokenWeights, type TokenRows } from './losses/aggregation.ts';
import { objectiveAggregation, type PolicyObjective } from './losses/total.ts';

/** The loss that settings ask for; `klCoefficient` may have been adapted since. */
export function objectiveOf(settings: Settings, klCoefficient = settings.klCoefficient): PolicyObjective {
  return {
    ratio: settings.ratio,
    clipLow: settings.clipLow,
    clipHigh: settings.clipHigh,
    dualClip: settings.dualClip,
    logRatioClamp: settings.logRatioClamp,
    aggregation: settings.aggregation,
    entropyCoefficient: settings.entropyCoefficient,
    klKind: settings.klForm,
    klCoefficient: settings.klPlacement === 'loss' ? klCoefficient : 0,
  };
}

/** [tokens] the weight of each token's loss in a mini-batch. */
export function objectiveWeights(settings: Settings, rows: TokenRows): Float64Array {
  const mode = objectiveAggregation(objectiveOf(settings));
  const constant = mode === 'seq-mean-token-sum-norm' ? settings.aggregationLength : null;
  return constant === null ? tokenWeights(mode, rows) : tokenWeights(mode, rows, constant);
}
