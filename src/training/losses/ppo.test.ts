import { expect, test } from 'vitest';
import { tokenWeights } from './aggregation.ts';
import { ppoLoss, type PpoSettings } from './ppo.ts';

const settings: PpoSettings = { clipLow: 0.2, clipHigh: 0.28, dualClip: 3, logRatioClamp: 20 };

/** The loss of one token with the given ratio and advantage. */
function oneToken(ratio: number, advantage: number, change: Partial<PpoSettings> = {}) {
  const rows = {
    rowStart: [0, 1],
    mask: [1],
    oldLogProb: [-1],
    logProb: [-1 + Math.log(ratio)],
    advantage: [advantage],
  };
  const { loss, gradient, metrics } = ppoLoss(rows, tokenWeights('token-mean', rows), { ...settings, ...change });
  return { loss, gradient: gradient[0]!, ...metrics };
}

test('inside the clip range the gradient is −A ρ', () => {
  expect(oneToken(1.1, 2).gradient).toBeCloseTo(-2.2, 12);
  expect(oneToken(0.9, -2).gradient).toBeCloseTo(1.8, 12);
});

test('a good action is not pushed above 1 + clipHigh, nor a bad one below 1 − clipLow', () => {
  expect(oneToken(1.3, 2)).toMatchObject({ gradient: 0, loss: -2 * 1.28 });
  expect(oneToken(0.7, -2)).toMatchObject({ gradient: 0, loss: 2 * 0.8 });
  expect(oneToken(1.3, 2).clipFrac).toBeCloseTo(1, 6);
});

test('the clip never holds back a step in the direction of the advantage that undoes drift', () => {
  expect(oneToken(0.5, 2).gradient).toBeCloseTo(-1, 12);
  expect(oneToken(1.5, -2).gradient).toBeCloseTo(3, 12);
});

test('the dual clip bounds the loss of a bad action that became likely, and can be switched off', () => {
  expect(oneToken(5, -2)).toMatchObject({ loss: 6, gradient: 0 });
  expect(oneToken(5, -2).clipFracLower).toBeCloseTo(1, 6);
  expect(oneToken(5, -2, { dualClip: null }).gradient).toBeCloseTo(10, 12);
});

test('an advantage of 0 sends no gradient', () => {
  for (const ratio of [0.1, 1, 10]) expect(oneToken(ratio, 0)).toMatchObject({ gradient: 0 });
});

test('a clamped log ratio sends no gradient and stays finite', () => {
  const far = oneToken(Math.exp(-50), 1);
  expect(far.gradient).toBe(0);
  expect(far.ppoKl).toBeCloseTo(20, 6);
  expect(oneToken(Math.exp(300), -1, { dualClip: null }).loss).toBeCloseTo(Math.exp(20), 0);
});

test('what stands behind the mask does not matter', () => {
  const rows = {
    rowStart: [0, 2],
    mask: [1, 0],
    oldLogProb: [-1, NaN],
    logProb: [-1, Infinity],
    advantage: [1, NaN],
  };
  const { loss, gradient, metrics } = ppoLoss(rows, tokenWeights('token-mean', rows), settings);
  expect(loss).toBe(-1);
  expect([...gradient]).toEqual([-1, 0]);
  expect(metrics.ratioMax).toBe(1);
});

test('the first update of a rollout has ratio 1 on every token', () => {
  const rows = { rowStart: [0, 2], mask: [1, 1], oldLogProb: [-1, -2], logProb: [-1, -2], advantage: [3, 3] };
  const { metrics } = ppoLoss(rows, tokenWeights('token-mean', rows), settings);
  expect(metrics).toMatchObject({ ratioMin: 1, ratioMax: 1, ratioMean: 1, ratioSpread: 0, clipFrac: 0, ppoKl: 0 });
});
