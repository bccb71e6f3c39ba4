import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { rolloutBatch, type RolloutRow } from '../rollouts/batch.ts';
import { arbitraryOrder, arbitraryRows, trajectory } from '../testing/rollout-batches.ts';
import { estimate } from './estimate.ts';
import { resolveSettings } from './settings.ts';

const near = (x: number) => expect.closeTo(x, 9) as number;
function progpo(rows: readonly RolloutRow[], options: Record<string, unknown> = {}) {
  const result = estimate(rolloutBatch(rows), resolveSettings({ method: 'progpo', options }));
  if (result.detail.kind !== 'progpo') throw new Error('ProGPO gives its own detail.');
  return { ...result, detail: result.detail };
}

describe('potentials', () => {
  test('with no repeated state and no expansion are the return itself, and no step has credit', () => {
    fc.assert(
      fc.property(arbitraryRows(), fc.nat(4), (rows, K) => {
        const unique = rows.map((row, i) => ({ ...row, observation: `state ${i}`, valid: true }));
        const { detail, returns } = progpo(unique, { K, theta: 2 });
        expect(detail.potential).toEqual(returns);
        expect(Array.from(detail.credit, (credit) => credit + 0)).toEqual(rows.map(() => 0));
      }),
    );
  });

  test('do not depend on the order of rows where nothing is borrowed', () => {
    const shuffled = arbitraryRows().chain((rows) => fc.tuple(fc.constant(rows), arbitraryOrder(rows)));
    fc.assert(
      fc.property(shuffled, fc.constantFrom('inverse-variance', 'uniform', 'deepest'), ([rows, order], fusion) => {
        const before = progpo(rows, { theta: 2, fusion });
        const after = progpo(
          order.map((i) => rows[i]!),
          { theta: 2, fusion },
        );
        order.forEach((i, j) => {
          expect(after.detail.potential[j]).toEqual(near(before.detail.potential[i]!));
          expect(after.advantage[j]).toEqual(near(before.advantage[i]!));
        });
      }),
    );
  });

  test('stay between the returns of the task', () => {
    fc.assert(
      fc.property(arbitraryRows(), fc.constantFrom(0.1, 0.8, 2), (rows, theta) => {
        const { detail, returns } = progpo(rows, { theta, invalidPenalty: 0 });
        const low = Math.min(...returns);
        const high = Math.max(...returns);
        detail.potential.forEach((potential) => {
          expect(potential).toBeGreaterThanOrEqual(low - 1e-9);
          expect(potential).toBeLessThanOrEqual(high + 1e-9);
        });
      }),
    );
  });

  test('with K = 0 depend on the current state alone', () => {
    const rows = [
      ...trajectory('t', 'a', ['hall', 'kitchen', 'end'], 8),
      ...trajectory('t', 'b', ['fridge', 'kitchen', 'end'], 0),
    ];
    const at = (K: number) => {
      const { potential } = progpo(rows, { K, theta: 2 }).detail;
      return [potential[1], potential[4]];
    };
    expect(at(0)[0]).toBe(at(0)[1]);
    expect(at(1)[0]).toBeGreaterThan(at(1)[1]!);
  });

  test('borrow from similar contexts only below the limit of trajectories', () => {
    const rows = [
      ...trajectory('t', 'a', ['room number one'], 8),
      ...trajectory('t', 'b', ['room number two'], 0),
      ...trajectory('t', 'c', ['elsewhere'], 3),
    ];
    const { detail } = progpo(rows, { K: 0, theta: 0.5 });
    expect(Array.from(detail.depths[0]!.lenders)).toEqual([1, 1, 0]);
    expect(detail.potential[0]).toBeLessThan(8);
    expect(detail.potential[2]).toBe(3);
    expect(progpo(rows, { K: 0, theta: 0.5, expandBelow: 1 }).detail.potential[0]).toBe(8);
  });
});

describe('the advantage', () => {
  const rows = [
    ...trajectory('t', 'a', ['hall', 'kitchen'], 8),
    ...trajectory('t', 'b', ['hall', 'kitchen'], 0),
    ...trajectory('t', 'c', ['hall', 'fridge'], 4),
  ];

  test('compares steps with the same history, and credits the others', () => {
    const { advantage, detail } = progpo(rows, { mode: 'mean_norm', gamma: 1, theta: 2 });
    expect(Array.from(detail.peers.group, (group) => detail.peers.size[group])).toEqual([3, 2, 3, 2, 3, 1]);
    expect(Array.from(advantage)).toEqual([4, 4, -4, -4, 0, near(detail.credit[5]!)]);
  });

  test('behind the soft gate mixes both by the number of peers', () => {
    const { advantage, detail } = progpo(rows, { mode: 'mean_norm', gamma: 1, theta: 2, gate: 'soft' });
    expect(advantage[1]).toEqual(near(0.5 * 4 + 0.5 * detail.credit[1]!));
    expect(advantage[5]).toEqual(near(detail.credit[5]!));
  });

  test('treats histories with other actions as other histories, unless told to compare states', () => {
    const opened = rows.map((row) => (row.trajectory === 'b' ? { ...row, action: 'open' } : row));
    const peers = (prefix: string) => {
      const { detail } = progpo(opened, { prefix });
      return Array.from(detail.peers.group, (group) => detail.peers.size[group]);
    };
    expect(peers('full-state-action')).toEqual([3, 1, 3, 1, 3, 1]);
    expect(peers('full-state')).toEqual([3, 2, 3, 2, 3, 1]);
  });

  test('charges an invalid action to its own row', () => {
    const lone = trajectory('t', 'a', ['hall', 'kitchen'], 8).map((row, i) => ({ ...row, valid: i !== 0 }));
    expect(Array.from(progpo(lone, { mode: 'mean_norm', theta: 2 }).advantage)).toEqual([near(-0.1), 0]);
  });
});
