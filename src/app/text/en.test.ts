import { describe, expect, it } from 'vitest';
import { en } from './en.ts';

describe('the sentence about the groups of a step', () => {
  const say = en.group.sentence;

  it('counts from the state to the longest shared past', () => {
    expect(say([13, 5, 2], 7)).toBe('13 steps stand here, five came the same way, two share the last two steps.');
  });

  it('says once that nobody shares the past', () => {
    expect(say([6, 1, 1], 7)).toBe('Six steps stand here, none of the others came the same way.');
    expect(say([1, 1, 1], 7)).toBe('No other step stands here: there is nobody to compare it with.');
  });

  it('says of equal groups only the longest past that they share', () => {
    expect(say([12, 10, 2, 2, 2], 9)).toBe(
      'Twelve steps stand here, ten came the same way, two share the last four steps.',
    );
  });

  it('speaks of the whole past where the episode is no older', () => {
    expect(say([8, 8, 8], 0)).toBe('Eight steps stand here, all share the whole past.');
    expect(say([12, 10, 2], 2)).toBe('Twelve steps stand here, ten came the same way, two share the whole past.');
  });
});
