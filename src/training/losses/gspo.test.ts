import { expect, test } from 'vitest';
import { tokenWeights } from './aggregation.ts';
import { gspoLoss } from './gspo.ts';

const settings = { clipLow: 0.0003, clipHigh: 0.0004 };

function gradient(logProb: number[], advantage: number[]): number[] {
  const rows = { rowStart: [0, 2], mask: [1, 1], oldLogProb: [-1, -1], logProb, advantage };
  return [...gspoLoss(rows, tokenWeights('seq-mean-token-mean', rows), settings).gradient];
}

test('a row is clipped as one, whatever its tokens do alone', () => {
  expect(gradient([-0.2, -1.8], [1, 1])).toEqual([-0.5, -0.5]);
  expect(gradient([-0.2, -1.7], [1, 1])).toEqual([0, 0]);
});

test('a row ratio above e¹⁰ sends no gradient and stays finite', () => {
  expect(gradient([40, 40], [-1, -1])).toEqual([0, 0]);
});
