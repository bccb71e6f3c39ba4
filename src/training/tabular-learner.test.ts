import { expect, test } from 'vitest';
import { randomStream } from '../random/stream.ts';
import { freshTable, tabularRun } from '../testing/tabular-run.ts';
import { compare, group, rollOut } from './iteration.ts';
import { totalLoss } from './losses/total.ts';
import { objectiveOf, objectiveWeights } from './objective.ts';
import { logSoftmax, type TabularDecision } from './tabular-learner.ts';

test('a small step along the gradient lowers the loss by its square, as calculus says', async () => {
  // One plain gradient step cannot be seen through Adam, so the check is on the learner's loss around its parameters.
  const run = tabularRun('hgpo', { entropyCoefficient: 0.05, klCoefficient: 0.2, miniBatch: 100_000 });
  const learner = freshTable(1.3);
  const rolled = await rollOut(run, 0, learner);
  const compared = compare(run.settings, group(run.settings, rolled));
  const { advantage, inLoss } = compared.estimate;
  const rows = Int32Array.from({ length: rolled.batch.rowCount }, (_, i) => i);
  const stream = randomStream(1, 'logits');
  const logits = Float64Array.from({ length: learner.parameterCount }, () => 0.3 * stream.nextNormal());
  const gradient = learner.gradientAt(logits, rows, rolled.decisions, advantage, inLoss, run.settings);
  const step = 1e-6;
  let checked = 0;
  for (let parameter = 0; parameter < logits.length; parameter += Math.ceil(logits.length / 40)) {
    const lossAt = (change: number) => {
      const moved = logits.slice();
      moved[parameter]! += change;
      return lossOf(moved, 1.3, rolled.decisions, advantage, inLoss, run.settings);
    };
    const slope = (lossAt(step) - lossAt(-step)) / (2 * step);
    expect(gradient[parameter]).toBeCloseTo(slope, 7);
    if (slope !== 0) checked++;
  }
  expect(checked).toBeGreaterThan(5);
});

// The loss written out once more from the definition of a softmax table, without the learner.
function lossOf(
  logits: Float64Array,
  temperature: number,
  decisions: readonly TabularDecision[],
  advantage: Float64Array,
  inLoss: Uint8Array,
  settings: Parameters<typeof objectiveOf>[0],
): number {
  const rows = {
    rowStart: Int32Array.from({ length: decisions.length + 1 }, (_, i) => i),
    mask: inLoss,
    oldLogProb: decisions.map(({ logProb }) => logProb),
    advantage,
    logProb: [] as number[],
    refLogProb: [] as number[],
    entropy: [] as number[],
  };
  for (const { parameters, choice } of decisions) {
    const logP = logSoftmax(parameters, logits, temperature);
    rows.logProb.push(logP[choice]!);
    rows.refLogProb.push(-Math.log(parameters.length));
    rows.entropy.push(-logP.reduce((sum, x) => sum + Math.exp(x) * x, 0));
  }
  return totalLoss(rows, objectiveOf(settings), objectiveWeights(settings, rows)).loss;
}
