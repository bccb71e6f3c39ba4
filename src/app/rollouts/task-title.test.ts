import { expect, it } from 'vitest';
import { rolloutBatch } from '../../rollouts/batch.ts';
import { taskTitle } from './task-title.ts';

const titled = (observation: string, taskType?: string) =>
  taskTitle(
    rolloutBatch([
      {
        task: 'group-7',
        trajectory: 't',
        step: 0,
        observation,
        action: '',
        reward: 0,
        valid: true,
        ...(taskType !== undefined && { taskType }),
      },
    ]),
    0,
  );

it('a task is called by the instruction that its first observation states', () => {
  expect(titled('A kitchen with fridge 1. Goal: cool egg then put in microwave.')).toBe(
    'cool egg then put in microwave',
  );
  expect(titled('Instruction: a red mug\nsearch')).toBe('a red mug');
});

it('otherwise by its group id, with its kind where the file names one', () => {
  expect(titled('s0')).toBe('group-7');
  expect(titled('s0', 'heat')).toBe('heat · group-7');
  expect(titled(`Goal: ${'very long '.repeat(40)}`)).toBe('group-7');
});
