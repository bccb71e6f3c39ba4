import { describe, expect, it } from 'vitest';
import { rolloutBatch } from '../../rollouts/batch.ts';
import { letterOf, rowAt, taskOf } from './task.ts';

const rows = [
  ['one', 'a', 'start', true],
  ['one', 'a', 'door', true],
  ['two', 'z', 'door', undefined],
  ['one', 'b', 'start', false],
  ['one', 'b', 'garden', false],
] as const;
const steps = new Map<string, number>();
const batch = rolloutBatch(
  rows.map(([task, trajectory, observation, success]) => {
    const step = steps.get(trajectory) ?? 0;
    steps.set(trajectory, step + 1);
    return {
      task,
      trajectory,
      step,
      observation,
      action: '',
      reward: step,
      valid: true,
      ...(success !== undefined && { success }),
    };
  }),
);

describe('a task of the grid', () => {
  const task = taskOf(batch, 0);

  it('holds its own trajectories alone, with their outcome', () => {
    expect(task.trajectories.map(({ success, episodeReward }) => [success, episodeReward])).toEqual([
      [true, 1],
      [false, 1],
    ]);
    expect(taskOf(batch, 1).trajectories.map(({ success }) => success)).toEqual([null]);
  });

  it('gives a letter to a state that two steps share, and none to a state met once', () => {
    const letter = (text: string) => task.places.get(batch.observations.find(text))?.letter;
    expect(letter('start')).toBe('A');
    // The other task's visit does not count: groups never cross tasks.
    expect(letter('door')).toBe('');
    expect(letter('garden')).toBe('');
  });

  it('finds rows by trajectory and step, and −1 beyond them', () => {
    expect(rowAt(task, 1, 0)).toBe(3);
    expect(rowAt(task, 1, 9)).toBe(-1);
    expect(rowAt(task, -1, 0)).toBe(-1);
  });
});

it('letters never run out and never repeat', () => {
  const letters = Array.from({ length: 2000 }, (_, index) => letterOf(index));
  expect(letters.slice(0, 3)).toEqual(['A', 'B', 'C']);
  expect(new Set(letters).size).toBe(letters.length);
});
