import fc from 'fast-check';
import { expect, test } from 'vitest';
import { centralDifferences, objectiveRows } from '../../testing/random-rows.ts';
import { aggregationModes, tokenWeights } from './aggregation.ts';
import { klKinds } from './kl.ts';
import { objectiveAggregation, totalLoss, type ObjectiveRows, type PolicyObjective } from './total.ts';

const objectives: fc.Arbitrary<PolicyObjective> = fc.record({
  ratio: fc.constantFrom('token' as const, 'sequence' as const),
  aggregation: fc.constantFrom(...aggregationModes),
  clipLow: fc.constantFrom(0.0003, 0.2),
  clipHigh: fc.constantFrom(0.0004, 0.28),
  dualClip: fc.constantFrom(null, 1.5, 3),
  logRatioClamp: fc.constantFrom(null, 0.7, 20),
  entropyCoefficient: fc.constantFrom(0, 0.001, 0.5),
  klKind: fc.constantFrom(...klKinds),
  klCoefficient: fc.constantFrom(0, 0.01, 1),
});

/** Whether a loss changes its branch within reach of the difference quotient. */
function nearKink(rows: ObjectiveRows, objective: PolicyObjective): boolean {
  const near = (a: number, b: number) => Math.abs(a - b) < 1e-4;
  for (let row = 0; row + 1 < rows.rowStart.length; row++) {
    const tokens = [];
    for (let t = rows.rowStart[row]!; t < rows.rowStart[row + 1]!; t++) if (rows.mask[t]) tokens.push(t);
    const logRatios = tokens.map((t) => rows.logProb[t]! - rows.oldLogProb[t]!);
    const mean = logRatios.reduce((sum, x) => sum + x, 0) / tokens.length;
    const relevant = objective.ratio === 'sequence' ? [mean] : logRatios;
    for (const x of relevant) {
      const ratio = Math.exp(x);
      if (near(ratio, 1 - objective.clipLow) || near(ratio, 1 + objective.clipHigh)) return true;
      if (objective.dualClip !== null && near(ratio, objective.dualClip)) return true;
      if (objective.logRatioClamp !== null && near(Math.abs(x), objective.logRatioClamp)) return true;
    }
    for (const t of tokens) {
      const d = rows.logProb[t]! - rows.refLogProb![t]!;
      if (near(d, 0) || near(Math.exp(-d) + d - 1, 10)) return true;
    }
  }
  return false;
}

test('the gradient in the log-probabilities is the derivative of the loss', () => {
  fc.assert(
    fc.property(objectiveRows, objectives, (rows, objective) => {
      fc.pre(!objective.klKind.endsWith('+') && !nearKink(rows, objective));
      const { gradient } = totalLoss(rows, objective);
      const slopes = centralDifferences((logProb) => totalLoss({ ...rows, logProb }, objective).loss, rows.logProb);
      slopes.forEach((slope, t) =>
        expect(Math.abs(gradient[t]! - slope)).toBeLessThan(1e-6 * Math.max(1, Math.abs(slope))),
      );
    }),
    { numRuns: 300 },
  );
});

test('the gradient in the entropies is the derivative of the loss', () => {
  fc.assert(
    fc.property(objectiveRows, objectives, (rows, objective) => {
      const { entropyGradient } = totalLoss(rows, objective);
      const slopes = centralDifferences((entropy) => totalLoss({ ...rows, entropy }, objective).loss, rows.entropy);
      slopes.forEach((slope, t) => expect(Math.abs(entropyGradient[t]! - slope)).toBeLessThan(1e-7));
    }),
  );
});

test('under the weights of the whole mini-batch, the split into micro-batches changes nothing', () => {
  fc.assert(
    fc.property(objectiveRows, objectives, fc.nat(), (rows, objective, cut) => {
      const rowCount = rows.rowStart.length - 1;
      const boundary = cut % (rowCount + 1);
      const weights = tokenWeights(objectiveAggregation(objective), rows);
      const whole = totalLoss(rows, objective, weights);
      const parts = [
        [0, boundary],
        [boundary, rowCount],
      ].map(([from, to]) => {
        const [begin, end] = [rows.rowStart[from!]!, rows.rowStart[to!]!];
        const slice = (column: ArrayLike<number>) => Array.from(column).slice(begin, end);
        const part = {
          rowStart: Array.from(rows.rowStart)
            .slice(from, to! + 1)
            .map((start) => start - begin),
          mask: slice(rows.mask),
          logProb: slice(rows.logProb),
          oldLogProb: slice(rows.oldLogProb),
          advantage: slice(rows.advantage),
          refLogProb: slice(rows.refLogProb),
          entropy: slice(rows.entropy),
        };
        return totalLoss(part, objective, slice(weights));
      });
      expect([...parts[0]!.gradient, ...parts[1]!.gradient]).toEqual([...whole.gradient]);
      expect(Math.abs(parts[0]!.loss + parts[1]!.loss - whole.loss)).toBeLessThan(1e-12);
    }),
  );
});
