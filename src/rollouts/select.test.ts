import { expect, test } from 'vitest';
import { rolloutBatch, type RolloutRow } from './batch.ts';
import { concatenateTasks, rowAt } from './select.ts';

const plain = (task: string, trajectory: string, step: number): RolloutRow => ({
  task,
  trajectory,
  step,
  observation: `o${step}`,
  action: 'go',
  reward: step,
  valid: step % 2 === 0,
});

test('a row reads back as it was added, absent fields absent', () => {
  const rows: RolloutRow[] = [
    plain('a', 't', 0),
    { ...plain('a', 't', 1), logProb: -1, success: true, taskType: 'heat' },
  ];
  const batch = rolloutBatch(rows);
  expect(rows.map((_, i) => rowAt(batch, i))).toEqual(rows);
  expect('logProb' in rowAt(batch, 0)).toBe(false);
});

test('task groups of several batches become one batch, and each row says where it came from', () => {
  const first = rolloutBatch([plain('a', 'a0', 0), plain('b', 'b0', 0), plain('b', 'b0', 1)]);
  const second = rolloutBatch([plain('c', 'c0', 0)]);
  const { batch, rows } = concatenateTasks([
    { batch: first, task: first.tasks.find('b') },
    { batch: second, task: second.tasks.find('c') },
  ]);
  expect(batch.tasks.values).toEqual(['b', 'c']);
  expect(rows).toEqual([
    { part: 0, row: 1 },
    { part: 0, row: 2 },
    { part: 1, row: 0 },
  ]);
});
