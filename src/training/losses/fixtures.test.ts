import { describe, expect, test } from 'vitest';
import { readFixtures } from '../../testing/fixtures.ts';
import { isLossFile, lossCases } from '../../testing/loss-cases.ts';
import { aggregate, tokenWeights, type TokenRows } from './aggregation.ts';
import { adaptKlCoefficient } from './kl-controller.ts';
import { klGradient, klValue } from './kl.ts';
import { objectiveAggregation, totalLoss } from './total.ts';
import { valueLoss } from './value.ts';

// The files were computed in float32: absolute 1e-5 plus relative 1e-4. Where an implementation that was run gives a
// number that is not finite (0/0 on an empty row, an overflowing exponential), ours is finite.
function expectClose(actual: number, expected: number, what: string): void {
  if (Number.isFinite(expected)) {
    expect(Math.abs(actual - expected), `${what}: ${actual}, expected ${expected}`).toBeLessThanOrEqual(
      1e-5 + 1e-4 * Math.abs(expected),
    );
  } else {
    expect(Number.isFinite(actual), `${what} is finite, got ${actual}`).toBe(true);
  }
}

function expectAllClose(actual: ArrayLike<number>, expected: ArrayLike<number>, what: string): void {
  expect(actual.length, what).toBe(expected.length);
  for (let i = 0; i < expected.length; i++) expectClose(actual[i]!, expected[i]!, `${what}[${i}]`);
}

const files = readFixtures('advantages', isLossFile);
if (files.length === 0) test.skip('the folder has no losses', () => {});

for (const fixture of files) {
  describe(`${fixture.data.name ?? fixture.file}: ${fixture.data.title ?? ''}`, () => {
    test.each(lossCases(fixture).map((lossCase) => [lossCase.id, lossCase] as const))('%s', (_id, lossCase) => {
      switch (lossCase.kind) {
        case 'policy': {
          const { rows, objective, divisor, expected, gradient } = lossCase;
          const ours = totalLoss(rows, objective, tokenWeights(objectiveAggregation(objective), rows, divisor));
          const figures: Record<string, number> = { loss: ours.loss, ...ours.metrics };
          for (const [name, value] of Object.entries(expected)) expectClose(figures[name]!, value, name);
          if (gradient) expectAllClose(ours.gradient, gradient, 'gradient');
          break;
        }
        case 'kl': {
          const differences = lossCase.logProb.map((logProb, i) => logProb - lossCase.refLogProb[i]!);
          expectAllClose(
            differences.map((d) => klValue(lossCase.klKind, d)),
            lossCase.value,
            'value',
          );
          expectAllClose(
            differences.map((d) => klGradient(lossCase.klKind, d)),
            lossCase.gradient,
            'gradient',
          );
          break;
        }
        case 'aggregation': {
          const weights = tokenWeights(lossCase.mode, lossCase.rows, lossCase.divisor);
          expectClose(aggregate(lossCase.rows, weights, lossCase.values), lossCase.expected, 'loss');
          break;
        }
        case 'micro-batches': {
          const { rows, values, mode, sizes, perMicroBatch, fullBatch } = lossCase;
          const weights = tokenWeights(mode, rows);
          let row = 0;
          let sum = 0;
          sizes.forEach((size, part) => {
            const [begin, end] = [rows.rowStart[row]!, rows.rowStart[row + size]!];
            const alone: TokenRows = {
              rowStart: rows.rowStart.slice(row, row + size + 1).map((start) => start - begin),
              mask: rows.mask.slice(begin, end),
            };
            row += size;
            const partValues = values.slice(begin, end);
            expectClose(aggregate(alone, tokenWeights(mode, alone), partValues), perMicroBatch[part]!, `part ${part}`);
            sum += aggregate(alone, weights.slice(begin, end), partValues);
          });
          expectClose(sum, fullBatch, 'sum of the parts under the weights of the whole');
          break;
        }
        case 'value': {
          const { rows, mode, divisor, clipValue, factor, expected, gradient } = lossCase;
          const ours = valueLoss(rows, tokenWeights(mode, rows, divisor), clipValue);
          expectClose(ours.loss, expected.loss! * factor, 'loss');
          expectClose(ours.clipFrac, expected.clipFrac!, 'clipFrac');
          expectAllClose(
            ours.gradient,
            gradient.map((g) => g * factor),
            'gradient',
          );
          break;
        }
        case 'kl-controller': {
          let coefficient = lossCase.initial;
          lossCase.updates.forEach(([kl, rows], i) => {
            coefficient = adaptKlCoefficient(coefficient, kl, rows, lossCase);
            expectClose(coefficient, lossCase.expected[i]!, `update ${i}`);
          });
          break;
        }
      }
    });
  });
}
