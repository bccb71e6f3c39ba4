import { describe, expect, it } from 'vitest';
import { contextGroups } from '../../estimators/groups.ts';
import { resolveSettings } from '../../estimators/settings.ts';
import type { RolloutBatch } from '../../rollouts/batch.ts';
import { previousRows } from '../../workers/estimation/derive.ts';
import { wordBatch } from '../../testing/word-batch.ts';
import { chosenChain, hierarchyOf, rowBefore, sharedPasts } from './hierarchy.ts';

const groupsOf = (batch: RolloutBatch, K: number) =>
  contextGroups(batch, resolveSettings({ method: 'hgpo', options: { K } }));

describe('the hierarchy of a step', () => {
  // Rows: ABX 0–2, ABX 3–5, CBX 6–8, X 9.
  const batch = wordBatch('ABX', 'ABX', 'CBX', 'X');
  const previous = previousRows(batch);
  const root = hierarchyOf(batch, previous, groupsOf(batch, 2), 2);

  it('starts with the steps in the same state and splits them by what came before', () => {
    expect([...root.members].sort()).toEqual([2, 5, 8, 9]);
    expect(root.children.map(({ members }) => members.length)).toEqual([3, 1]);
    expect(root.children[0]!.children.map(({ members }) => [...members].sort())).toEqual([[2, 5], [8]]);
  });

  it('names each part by the state that splits it, and −1 where the episode had not begun', () => {
    const name = (observation: number) => batch.observations.values[observation] ?? null;
    expect(root.children.map(({ splitBy }) => name(splitBy))).toEqual(['B', null]);
    expect(root.children[0]!.children.map(({ splitBy }) => name(splitBy))).toEqual(['A', 'C']);
  });

  it('puts the chosen past first, so that it is one straight edge', () => {
    const chain = chosenChain(root);
    expect(chain.map(({ level }) => level)).toEqual([0, 1, 2]);
    for (const node of chain) expect([...node.members].slice(0, 2).sort()).toEqual([2, 5]);
  });

  it('tells for each member how much of the past it shares', () => {
    const depth = Object.fromEntries(sharedPasts(chosenChain(root)).map(({ row, depth: k }) => [row, k]));
    expect(depth).toEqual({ 2: 2, 5: 2, 8: 1, 9: 0 });
  });

  it('walks back along a trajectory and stops at its start', () => {
    expect(rowBefore(previous, 5, 2)).toBe(3);
    expect(rowBefore(previous, 5, 3)).toBe(-1);
  });
});
