import { describe, expect, it } from 'vitest';
import { wordBatch } from '../../testing/word-batch.ts';
import { firstMembers, largestTask } from './members.ts';

describe('a smaller N', () => {
  const batch = wordBatch('AB', 'C', 'DEF');

  it('keeps the first trajectories of each task and all their steps', () => {
    const two = firstMembers(batch, 2);
    expect(two.trajectories.values).toEqual(['t0', 't1']);
    expect(Array.from(two.observation, (o) => two.observations.values[o])).toEqual(['A', 'B', 'C']);
    expect(Array.from(two.byStep)).toEqual([0, 1, 2]);
  });

  it('gives the batch itself where N is all there are', () => {
    expect(firstMembers(batch, 0)).toBe(batch);
    expect(firstMembers(batch, largestTask(batch))).toBe(batch);
  });

  it('gives the same object for the same N, so that what was derived from it is kept', () => {
    expect(firstMembers(batch, 2)).toBe(firstMembers(batch, 2));
  });
});
