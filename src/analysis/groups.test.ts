import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { estimate } from '../estimators/estimate.ts';
import { resolveSettings } from '../estimators/settings.ts';
import { rolloutBatch } from '../rollouts/batch.ts';
import { arbitraryRows, batchOf, trajectory } from '../testing/rollout-batches.ts';
import { biasAgainstOracle, levelDiagnostics, shareWithoutSignal } from './groups.ts';

const run = (batch: ReturnType<typeof rolloutBatch>, options = {}) =>
  estimate(batch, resolveSettings({ method: 'hgpo', options: { K: 1, shortContext: 'skip', ...options } }));

const batch = batchOf(
  trajectory('t', 'a', ['hall', 'kitchen'], 10),
  trajectory('t', 'b', ['hall', 'kitchen'], 10),
  trajectory('t', 'c', ['fridge', 'kitchen'], 0),
  trajectory('t', 'd', ['garage'], 0),
);

describe('level diagnostics', () => {
  test('count rows and groups by size, and what each level can use', () => {
    const [states, pairs] = levelDiagnostics(run(batch).levels);
    expect(states).toEqual({
      k: 0,
      rows: 7,
      present: 7,
      groups: 4,
      histogram: [
        { size: 1, rows: 2, groups: 2 },
        { size: 2, rows: 2, groups: 1 },
        { size: 3, rows: 3, groups: 1 },
      ],
      utilisation: 5 / 7,
      // The hall is constant, the fridge and the garage are alone.
      withoutSignal: 4 / 7,
    });
    expect(pairs).toMatchObject({ k: 1, present: 3, groups: 2, utilisation: 2 / 7, withoutSignal: 1 });
  });

  test('account for every row', () => {
    fc.assert(
      fc.property(arbitraryRows(), (rows) => {
        for (const level of levelDiagnostics(run(rolloutBatch(rows), { K: 3 }).levels)) {
          expect(level.histogram.reduce((sum, bin) => sum + bin.rows, 0)).toBe(level.present);
          expect(level.histogram.reduce((sum, bin) => sum + bin.groups, 0)).toBe(level.groups);
          expect(level.withoutSignal + level.utilisation).toBeGreaterThan(1 - 1e-9);
        }
      }),
    );
  });

  test('of an empty batch are zero', () => {
    expect(levelDiagnostics(run(batchOf()).levels)[0]).toMatchObject({ rows: 0, utilisation: 0, withoutSignal: 0 });
    expect(shareWithoutSignal(new Float64Array(0))).toBe(0);
  });
});

test('the deepest level has no bias against itself; others are measured on Oracle rows alone', () => {
  const { levels, advantage } = run(
    batchOf(
      trajectory('t', 'a', ['hall', 'kitchen'], 10),
      trajectory('t', 'b', ['hall', 'kitchen'], 4),
      trajectory('t', 'c', ['fridge', 'kitchen'], 1),
    ),
    { mode: 'mean_norm' },
  );
  expect(biasAgainstOracle(levels[1]!.advantage, levels[1]!)).toEqual({
    oracleRows: 2,
    meanAbsolute: 0,
    meanSigned: 0,
  });
  const bias = biasAgainstOracle(levels[0]!.advantage, levels[1]!);
  // In the kitchen the state level says 10 − 5 and 4 − 5, the Oracle 10 − 7 and 4 − 7.
  expect(bias).toEqual({ oracleRows: 2, meanAbsolute: 2, meanSigned: 2 });
  expect(biasAgainstOracle(advantage, levels[1]!).meanAbsolute).toBeLessThan(2);
});
