import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { rolloutBatch, type RolloutRow } from '../rollouts/batch.ts';
import { arbitraryOrder, arbitraryRows, batchOf, trajectory } from '../testing/rollout-batches.ts';
import { estimate, type Estimate } from './estimate.ts';
import { resolveSettings } from './settings.ts';

const run = (rows: readonly RolloutRow[], options: Record<string, unknown> = {}, method = 'hgpo'): Estimate =>
  estimate(rolloutBatch(rows), resolveSettings({ method, options }));

const near = (x: number) => expect.closeTo(x, 9) as number;
const anyOptions = fc.record({
  K: fc.nat(4),
  alpha: fc.constantFrom(0, 0.5, 1, 2, 30),
  mode: fc.constantFrom('mean_std_norm', 'mean_norm'),
  shortContext: fc.constantFrom('prefix', 'skip'),
  weightOffset: fc.constantFrom(1, 2),
  baseGroup: fc.boolean(),
  contextActions: fc.boolean(),
  weights: fc.constantFrom('power', 'inverse-variance'),
});

describe('groups', () => {
  test('are nested: who shares a longer history shares every shorter one', () => {
    fc.assert(
      fc.property(arbitraryRows(), anyOptions, (rows, options) => {
        const { levels } = run(rows, options);
        for (let k = 1; k < levels.length; k++) {
          const shorter = new Map<number, number>();
          levels[k]!.groups.group.forEach((group, row) => {
            if (group < 0) return;
            const outer = levels[k - 1]!.groups.group[row]!;
            expect(outer).toBeGreaterThanOrEqual(0);
            expect(shorter.get(group) ?? outer).toBe(outer);
            shorter.set(group, outer);
          });
        }
      }),
    );
  });

  test('share task and last k+1 observations, and nothing else decides', () => {
    fc.assert(
      fc.property(arbitraryRows(), fc.constantFrom('prefix', 'skip'), (rows, shortContext) => {
        const { levels } = run(rows, { K: 2, shortContext });
        const key = (row: RolloutRow, k: number) => {
          if (row.step < k && shortContext === 'skip') return null;
          const past = rows
            .filter((other) => other.trajectory === row.trajectory && other.step <= row.step)
            .sort((a, b) => a.step - b.step)
            .slice(-1 - k);
          return JSON.stringify([row.task, ...past.map((other) => other.observation)]);
        };
        levels.forEach(({ k, size }) => {
          const keys = rows.map((row) => key(row, k));
          const sizes = keys.map((own) => (own === null ? 0 : keys.filter((other) => other === own).length));
          expect(Array.from(size)).toEqual(sizes);
        });
      }),
    );
  });

  test('with contextActions, steps after different actions are apart from level 1 on', () => {
    const open = trajectory('t', 'b', ['hall', 'kitchen'], 0).map((row) => ({ ...row, action: 'open' }));
    const rows = [...trajectory('t', 'a', ['hall', 'kitchen'], 1), ...open];
    const sizes = (contextActions: boolean) =>
      run(rows, { K: 1, contextActions }).levels.map((l) => Array.from(l.size));
    expect(sizes(false)).toEqual([
      [2, 2, 2, 2],
      [2, 2, 2, 2],
    ]);
    expect(sizes(true)).toEqual([
      [2, 2, 2, 2],
      [2, 1, 2, 1],
    ]);
  });

  test('deviations in a group sum to 0', () => {
    fc.assert(
      fc.property(arbitraryRows(fc.integer({ min: -20, max: 20 })), anyOptions, (rows, options) => {
        for (const { groups, advantage } of run(rows, options).levels) {
          const sums = new Float64Array(groups.groupCount);
          groups.group.forEach((group, row) => {
            if (!Number.isNaN(advantage[row]!)) sums[group] = sums[group]! + advantage[row]!;
          });
          sums.forEach((sum) => expect(Math.abs(sum)).toBeLessThan(1e-4));
        }
      }),
    );
  });
});

describe('the advantage', () => {
  test('does not depend on the order of rows', () => {
    const shuffled = arbitraryRows().chain((rows) => fc.tuple(fc.constant(rows), arbitraryOrder(rows)));
    fc.assert(
      fc.property(shuffled, anyOptions, ([rows, order], options) => {
        const before = run(rows, options).advantage;
        const after = run(
          order.map((i) => rows[i]!),
          options,
        ).advantage;
        order.forEach((i, j) => expect(after[j]).toEqual(near(before[i]!)));
      }),
    );
  });

  test('does not depend on names', () => {
    fc.assert(
      fc.property(arbitraryRows(), anyOptions, (rows, options) => {
        const renamed = rows.map((row) => ({
          ...row,
          task: `${row.task}\u001f`,
          trajectory: `<${row.trajectory}>`,
          observation: JSON.stringify(row.observation),
          action: row.action.toUpperCase(),
        }));
        expect(run(renamed, options).advantage).toEqual(run(rows, options).advantage);
      }),
    );
  });

  test('of a task does not change when another task joins the batch', () => {
    fc.assert(
      fc.property(arbitraryRows(), arbitraryRows(), anyOptions, (rows, others, options) => {
        const guests = others.map((row) => ({ ...row, task: `new ${row.task}`, trajectory: `new ${row.trajectory}` }));
        const alone = run(rows, options).advantage;
        expect(run([...rows, ...guests], options).advantage.slice(0, rows.length)).toEqual(alone);
      }),
    );
  });

  test('scales with rewards in mean_norm and stays in mean_std_norm', () => {
    const rewards = fc.constantFrom(0, 0, 1, 2, 5, 10, -3);
    fc.assert(
      fc.property(
        arbitraryRows(rewards),
        fc.constantFrom(2, 0.5, 7),
        fc.constantFrom('power', 'inverse-variance'),
        (rows, c, weights) => {
          const scaled = rows.map((row) => ({ ...row, reward: c * row.reward }));
          for (const mode of ['mean_norm', 'mean_std_norm']) {
            const options = { mode, weights, invalidPenalty: 0, gamma: 0.5, K: 3 };
            const before = run(rows, options).advantage;
            const factor = mode === 'mean_norm' ? c : 1;
            run(scaled, options).advantage.forEach((a, i) =>
              expect(Math.abs(a - factor * before[i]!)).toBeLessThan(1e-3 * Math.max(1, Math.abs(factor * before[i]!))),
            );
          }
        },
      ),
    );
  });

  test('with a huge α is that of the deepest level that counts', () => {
    fc.assert(
      fc.property(arbitraryRows(), fc.constantFrom(1, 2), (rows, weightOffset) => {
        const { advantage, levels } = run(rows, { K: 4, alpha: 1000, weightOffset });
        advantage.forEach((a, row) => {
          const deepest = levels.findLast((level) => Math.abs(level.advantage[row]!) > 0)?.advantage[row] ?? 0;
          expect(Math.abs(a - deepest)).toBeLessThan(1e-5 * Math.max(1, Math.abs(deepest)));
        });
      }),
    );
  });

  test('with K = 0 is GiGPO’s step part up to the standard deviation', () => {
    fc.assert(
      fc.property(arbitraryRows(), (rows) => {
        const plain = run(rows, { K: 0, mode: 'mean_norm', alpha: 0, eps: 0 }).advantage;
        const step = run(rows, { mode: 'mean_norm', episodeWeight: 0 }, 'gigpo').advantage;
        expect(Array.from(plain)).toEqual(Array.from(step, near));

        const hgpo = run(rows, { K: 0, eps: 0 });
        const gigpo = run(rows, { episodeWeight: 0, eps: 0 }, 'gigpo').advantage;
        hgpo.advantage.forEach((a, row) => {
          const n = hgpo.levels[0]!.size[row]!;
          expect(a).toEqual(near(gigpo[row]! * Math.sqrt(n / Math.max(1, n - 1))));
        });
      }),
    );
  });

  test('is the weighted sum of its levels, with weights that sum to 1 where any counts', () => {
    fc.assert(
      fc.property(arbitraryRows(), anyOptions, (rows, options) => {
        const { advantage, levels, detail } = run(rows, options);
        const base = detail.kind === 'hgpo' ? detail.base : null;
        advantage.forEach((a, row) => {
          let weights = base ? base.weight[row]! : 0;
          let sum = base ? base.weight[row]! * base.advantage[row]! : 0;
          for (const level of levels) {
            if (level.weight[row] === 0) continue;
            weights += level.weight[row]!;
            sum += level.weight[row]! * level.advantage[row]!;
          }
          expect(a).toEqual(near(sum));
          if (a !== 0) expect(Math.abs(weights - 1)).toBeLessThan(1e-4);
        });
      }),
    );
  });
});

describe('special cases', () => {
  test('a lone step carries no signal', () => {
    expect(Array.from(run(trajectory('t', 'a', ['kitchen'], 10)).advantage)).toEqual([0]);
  });

  test('a lone row with the base group passes its score through, divided by 1 + ε twice', () => {
    const { advantage } = run(trajectory('t', 'a', ['kitchen'], 3.5), { baseGroup: true });
    expect(advantage[0]).toBeCloseTo(3.5 / (1 + 1e-6) ** 2, 12);
  });

  test('identical trajectories have advantage 0', () => {
    const twins = ['a', 'b', 'c'].flatMap((name) => trajectory('t', name, ['hall', 'kitchen'], 10));
    expect(Array.from(run(twins).advantage)).toEqual(new Array(6).fill(0));
  });

  test('one trajectory may still learn from its own revisits', () => {
    const { advantage } = run(trajectory('t', 'a', ['hall', 'kitchen', 'hall'], 10));
    expect(advantage[0]).toBeLessThan(0);
    expect(advantage[1]).toBe(0);
    expect(advantage[2]).toBeGreaterThan(0);
  });

  test('equal observations of two tasks are never compared', () => {
    const rows = [...trajectory('t', 'a', ['kitchen'], 10), ...trajectory('u', 'b', ['kitchen'], 0)];
    expect(Array.from(run(rows).levels[0]!.size)).toEqual([1, 1]);
  });

  test('K beyond every trajectory leaves the levels that exist', () => {
    const rows = [...trajectory('t', 'a', ['hall', 'kitchen'], 10), ...trajectory('t', 'b', ['hall', 'hall'], 0)];
    const { advantage, levels } = run(rows, { K: 50, shortContext: 'skip' });
    expect(levels).toHaveLength(51);
    expect(Array.from(levels[2]!.size)).toEqual([0, 0, 0, 0]);
    expect(Array.from(advantage).every(Number.isFinite)).toBe(true);
  });

  test('the first step has level 0 alone when short histories are skipped, and every level when they are not', () => {
    const rows = [...trajectory('t', 'a', ['hall'], 10), ...trajectory('t', 'b', ['hall'], 0)];
    const present = (shortContext: string) => run(rows, { shortContext }).levels.map((level) => level.size[0]);
    expect(present('skip')).toEqual([2, 0, 0]);
    expect(present('prefix')).toEqual([2, 2, 2]);
  });

  test('an empty batch has no advantages', () => {
    expect(run([]).advantage).toHaveLength(0);
  });

  test('W/o HoG-1 leaves steps without company in their deepest group out of the loss', () => {
    const batch = batchOf(
      trajectory('t', 'a', ['hall', 'kitchen'], 10),
      trajectory('t', 'b', ['hall', 'kitchen'], 0),
      trajectory('t', 'c', ['fridge', 'kitchen'], 5),
    );
    const settings = resolveSettings({ method: 'hgpo', options: { K: 1, variant: 'oracle_only' } });
    const { inLoss, advantage, levels } = estimate(batch, settings);
    expect(Array.from(inLoss)).toEqual([1, 1, 1, 1, 0, 0]);
    expect(Array.from(advantage).slice(0, 4)).toEqual(Array.from(levels[1]!.advantage).slice(0, 4));
    expect(Array.from(advantage).slice(4)).toEqual([0, 0]);
  });

  test('inverse-variance weights trust a large, quiet group more than a small, loud one', () => {
    const quiet = ['a', 'b', 'c', 'd'].flatMap((name, i) => trajectory('t', name, ['hall', 'kitchen'], 5 + 0.1 * i));
    const rows = [...quiet, ...trajectory('t', 'e', ['fridge', 'kitchen'], -40)];
    const { levels } = run(rows, { K: 1, weights: 'inverse-variance', mode: 'mean_norm', shortContext: 'skip' });
    expect(levels[1]!.weight[1]).toBeGreaterThan(3 * levels[0]!.weight[1]!);
  });
});
