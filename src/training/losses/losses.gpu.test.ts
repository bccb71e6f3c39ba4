import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Gpu } from '../../gpu/device.ts';
import { evaluate, selfTest } from '../../gpu/selftest.ts';
import { openTestGpu } from '../../testing/gpu.ts';
import { lossCases, type LossCase } from '../../testing/loss-cases.ts';
import { readLossFixtures } from '../../testing/loss-fixtures.ts';
import { tokenCount, tokenWeights, type TokenRows } from './aggregation.ts';
import { lossKernelTests } from './kernels.ts';
import { POLICY_ROW_SUMS, policyFigures, policyLoss, policyTargets } from './policy-loss.ts';
import type { PolicyRows } from './ppo.ts';
import { objectiveAggregation, type PolicyObjective } from './total.ts';
import { valueLoss, valueTargets } from './value-loss.ts';

let gpu: Gpu;
beforeAll(async () => {
  gpu = await openTestGpu();
});
afterAll(() => {
  gpu.destroy();
});

test.each(lossKernelTests.map((one) => [one.kernel, one] as const))('%s agrees with its twin', async (_name, one) => {
  const buffers = gpu.liveBuffers;
  expect((await selfTest(gpu, one)).failure).toBeUndefined();
  expect(gpu.liveBuffers).toBe(buffers);
});

// f32 on both sides: 1e-4, absolute and relative. Where an implementation that was run gives a number that is not finite,
// ours is finite.
function expectClose(actual: number, expected: number, what: string): void {
  if (Number.isFinite(expected)) {
    expect(Math.abs(actual - expected), `${what}: ${actual}, expected ${expected}`).toBeLessThanOrEqual(
      1e-4 + 1e-4 * Math.abs(expected),
    );
  } else {
    expect(Number.isFinite(actual), `${what} is finite, got ${actual}`).toBe(true);
  }
}

/** Runs the policy kernel once. */
async function runPolicyLoss(
  rows: PolicyRows,
  objective: PolicyObjective,
  weights: ArrayLike<number>,
  refLogProb?: ArrayLike<number>,
) {
  const tokens = tokenCount(rows);
  const rowCount = rows.rowStart.length - 1;
  const result = await evaluate(
    gpu,
    {
      rowStart: Uint32Array.from(rows.rowStart),
      targets: policyTargets(rows, weights),
      logProb: Float32Array.from(rows.logProb),
      entropy: new Float32Array(tokens),
      refLogProb: Float32Array.from(refLogProb ?? []),
      gradient: tokens * 2,
      rowSums: rowCount * POLICY_ROW_SUMS,
    },
    ({ refLogProb: reference, ...buffers }) =>
      policyLoss({ ...buffers, objective, rows: rowCount, ...(refLogProb ? { refLogProb: reference } : {}) }),
    ['gradient', 'rowSums'],
  );
  return { gradient: result.gradient.filter((_, i) => i % 2 === 0), rowSums: result.rowSums };
}

const run: { [K in LossCase['kind']]?: (one: Extract<LossCase, { kind: K }>) => Promise<void> } = {
  async policy({ rows, objective, divisor, expected, gradient }) {
    const weights = tokenWeights(objectiveAggregation(objective), rows, divisor);
    const result = await runPolicyLoss(rows, objective, weights);
    const { loss, metrics } = policyFigures(result.rowSums, objective);
    const figures: Record<string, number> = { loss, ...metrics };
    for (const [name, value] of Object.entries(expected)) expectClose(figures[name]!, value, name);
    gradient?.forEach((value, t) => {
      expectClose(result.gradient[t]!, value, `gradient[${t}]`);
    });
  },
  // One token a row, so that each row's KL sum is the value of one token.
  async kl({ klKind, logProb, refLogProb, value, gradient }) {
    const ones = new Float64Array(value.length).fill(1);
    const rows = {
      rowStart: Uint32Array.from({ length: value.length + 1 }, (_, row) => row),
      mask: ones,
      logProb,
      oldLogProb: logProb,
      advantage: new Float64Array(value.length),
    };
    const objective: PolicyObjective = {
      ratio: 'token',
      aggregation: 'token-mean',
      clipLow: 0.2,
      clipHigh: 0.2,
      dualClip: null,
      logRatioClamp: 20,
      entropyCoefficient: 0,
      klKind,
      klCoefficient: 1,
    };
    const result = await runPolicyLoss(rows, objective, ones, refLogProb);
    value.forEach((one, t) => {
      expectClose(result.rowSums[t * POLICY_ROW_SUMS + 2]!, one, `value[${t}]`);
      expectClose(result.gradient[t]!, gradient[t]!, `gradient[${t}]`);
    });
  },
  async value({ rows, mode, divisor, clipValue, factor, expected, gradient }) {
    const tokens = tokenCount(rows);
    const weights = tokenWeights(mode, rows, divisor);
    const result = await evaluate(
      gpu,
      {
        value: Float32Array.from(rows.value),
        targets: valueTargets(rows, weights),
        gradient: tokens,
        terms: tokens * 2,
      },
      (buffers) => valueLoss({ ...buffers, tokens, clipValue }),
      ['gradient', 'terms'],
    );
    const sum = (offset: number) => result.terms.reduce((total, term, i) => total + (i % 2 === offset ? term : 0), 0);
    expectClose(sum(0), expected.loss! * factor, 'loss');
    expectClose(sum(1) / countTokens(rows), expected.clipFrac!, 'clipFrac');
    gradient.forEach((value, t) => {
      expectClose(result.gradient[t]!, value * factor, `gradient[${t}]`);
    });
  },
};

function countTokens(rows: TokenRows): number {
  let count = 0;
  for (let t = 0; t < tokenCount(rows); t++) if (rows.mask[t]) count++;
  return count;
}

// What has no kernel (aggregation weights, the KL controller) is computed on the CPU alone.
for (const fixture of await readLossFixtures()) {
  const cases = lossCases(fixture).filter(({ kind }) => kind in run);
  if (cases.length === 0) continue;
  describe(`${fixture.data.name ?? fixture.file} on the GPU`, () => {
    test.each(cases.map((one) => [one.id, one] as const))('%s', async (_id, one) => {
      await (run[one.kind] as (of: LossCase) => Promise<void>)(one);
    });
  });
}
