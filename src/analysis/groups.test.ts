import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { estimate } from '../estimators/estimate.ts';
import { resolveSettings } from '../estimators/settings.ts';
import { rolloutBatch } from '../rollouts/batch.ts';
import { arbitraryRows, batchOf, trajectory } from '../testing/rollout-batches.ts';
import { biasesAgainstOracle, levelDiagnostics, shareWithoutSignal } from './groups.ts';

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

describe('bias against Oracle groups', () => {
  const rooms = batchOf(
    trajectory('t', 'a', ['hall', 'kitchen'], 10),
    trajectory('t', 'b', ['hall', 'kitchen'], 4),
    trajectory('t', 'c', ['fridge', 'kitchen'], 1),
  );
  const settings = (options = {}) =>
    resolveSettings({ method: 'hgpo', options: { K: 1, shortContext: 'skip', mode: 'mean_norm', ...options } });

  test('is measured on Oracle rows alone, and the deepest level has none', () => {
    // In the kitchen the Oracle says 10 − 7 and 4 − 7, the state level 10 − 5 and 4 − 5, and so do whole trajectories.
    expect(biasesAgainstOracle(rooms, settings({ alpha: 0, eps: 0 }))).toEqual([
      { of: 'trajectory', oracleRows: 2, meanAbsolute: 2, meanSigned: 2 },
      { of: 'level', k: 0, oracleRows: 2, meanAbsolute: 2, meanSigned: 2 },
      { of: 'level', k: 1, oracleRows: 2, meanAbsolute: 0, meanSigned: 0 },
      { of: 'hgpo', oracleRows: 2, meanAbsolute: 1, meanSigned: 1 },
    ]);
  });

  test('shrinks as α grows', () => {
    const ofHgpo = (alpha: number) => biasesAgainstOracle(rooms, settings({ alpha })).at(-1)!.meanAbsolute;
    expect(ofHgpo(2)).toBeLessThan(ofHgpo(1));
    expect(ofHgpo(100)).toBeLessThan(1e-5);
  });

  test('without Oracle rows is not a number', () => {
    const lone = batchOf(trajectory('t', 'a', ['hall'], 1));
    expect(biasesAgainstOracle(lone, settings())[0]).toEqual({
      of: 'trajectory',
      oracleRows: 0,
      meanAbsolute: NaN,
      meanSigned: NaN,
    });
  });
});
