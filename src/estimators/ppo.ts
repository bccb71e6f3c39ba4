import type { RolloutBatch } from '../rollouts/batch.ts';
import { generalisedAdvantages, whiten, type GaeResult } from './gae.ts';
import { chargeInvalid } from './returns.ts';
import type { Settings } from './settings.ts';

export interface TokenAdvantages {
  /** [rows + 1] where each row's tokens begin */
  readonly start: Int32Array;
  /** [tokens] whitened */
  readonly advantage: Float64Array;
  /** [tokens] target of the critic */
  readonly target: Float64Array;
}

export interface PpoAdvantages {
  /** [rows] whitened; at token level the mean over the row's tokens, 0 for a row without tokens */
  readonly advantage: Float64Array;
  /** [rows] V, 0 where the batch has none */
  readonly value: Float64Array;
  /** [rows] before whitening */
  readonly raw: Float64Array;
  /** [rows] target of the critic */
  readonly target: Float64Array;
  readonly whitening: { readonly mean: number; readonly scale: number };
  /** Rows without a value. */
  readonly missingValues: number;
  /** The numbers per token, at token level. */
  readonly tokens: TokenAdvantages | null;
}

type PpoRows = Pick<RolloutBatch, 'rowCount' | 'reward' | 'valid' | 'value' | 'tokenCount' | 'byStep' | 'rowStart'>;
type PpoSettings = Pick<Settings, 'gamma' | 'lambda' | 'gaeLevel' | 'invalidPenalty'>;

/**
 * PPO's advantages, whitened over the batch.
 *
 * Step level: one value a row, reward r_i − c·(1 − v_i), credit flows back over the steps of a trajectory. Token level
 * (as in verl): each row is a sequence of its own with the score S_i on its last token, so every step of an episode gets
 * the full episode reward and γ discounts tokens.
 *
 * @param score [rows] S
 * @param tokenValues [tokens] the critic's value at each token, rows in order; the row's value at each where null
 */
export function ppoAdvantages(
  rows: PpoRows,
  score: Float64Array,
  settings: PpoSettings,
  tokenValues: Float64Array | null = null,
): PpoAdvantages {
  const value = new Float64Array(rows.rowCount);
  let missingValues = rows.rowCount;
  if (rows.value !== null) {
    missingValues = 0;
    for (let i = 0; i < value.length; i++) {
      if (Number.isNaN(rows.value[i]!)) missingValues++;
      else value[i] = rows.value[i]!;
    }
  }
  if (settings.gaeLevel === 'token') {
    return { ...tokenLevel(rows, score, value, settings, tokenValues), value, missingValues };
  }
  const gae = generalisedAdvantages({
    order: rows.byStep,
    start: rows.rowStart,
    values: value,
    rewards: chargeInvalid(rows.reward.slice(), rows.valid, settings.invalidPenalty),
    mask: null,
    gamma: settings.gamma,
    lambda: settings.lambda,
  });
  const { advantage, mean, scale } = whiten(gae.advantage, null);
  return {
    advantage,
    value,
    raw: gae.advantage,
    target: gae.target,
    whitening: { mean, scale },
    missingValues,
    tokens: null,
  };
}

function tokenLevel(
  rows: PpoRows,
  score: Float64Array,
  value: Float64Array,
  settings: PpoSettings,
  tokenValues: Float64Array | null,
): Omit<PpoAdvantages, 'value' | 'missingValues'> {
  const start = new Int32Array(rows.rowCount + 1);
  for (let i = 0; i < rows.rowCount; i++) start[i + 1] = start[i]! + (rows.tokenCount?.[i] ?? 1);
  const tokens = start[rows.rowCount]!;
  if (tokenValues !== null && tokenValues.length !== tokens) {
    throw new RangeError(`The batch has ${tokens} tokens but ${tokenValues.length} token values were given.`);
  }
  const values = tokenValues ?? new Float64Array(tokens);
  const rewards = new Float64Array(tokens);
  for (let i = 0; i < rows.rowCount; i++) {
    if (start[i + 1] === start[i]) continue;
    if (tokenValues === null) values.fill(value[i]!, start[i]!, start[i + 1]!);
    rewards[start[i + 1]! - 1] = score[i]!;
  }
  const gae: GaeResult = generalisedAdvantages({
    order: Int32Array.from({ length: tokens }, (_, j) => j),
    start,
    values,
    rewards,
    mask: null,
    gamma: settings.gamma,
    lambda: settings.lambda,
  });
  const { advantage, mean, scale } = whiten(gae.advantage, null);
  return {
    advantage: rowMeans(advantage, start),
    raw: rowMeans(gae.advantage, start),
    target: rowMeans(gae.target, start),
    whitening: { mean, scale },
    tokens: { start, advantage, target: gae.target },
  };
}

function rowMeans(tokens: Float64Array, start: Int32Array): Float64Array {
  const means = new Float64Array(start.length - 1);
  for (let i = 0; i < means.length; i++) {
    for (let j = start[i]!; j < start[i + 1]!; j++) means[i] = means[i]! + tokens[j]! / (start[i + 1]! - start[i]!);
  }
  return means;
}
