import { describe, expect, test } from 'vitest';
import { environmentFixtures } from '../testing/environment-fixtures.ts';
import { historyWindow } from './text-history.ts';
import { isValidStep, projectReply } from './text-projection.ts';

const files = environmentFixtures('conformance-text-policy');

interface ProjectionCase {
  id: string;
  title: string;
  response: string;
  environment?: 'rooms' | 'shop';
  admissible?: string[];
  expected: { command: string; formatValid: boolean; admissible?: boolean };
}

interface HistoryCase {
  id: string;
  title: string;
  stepsTaken: number;
  historyLength: number;
  observations: string[];
  actions: string[];
  expected: {
    entries: { step: number; observation: string; action: string }[];
    historyShown: number;
    stepCount: number;
    currentStep: number;
    currentObservation: string;
  };
}

describe.each(files.filter(({ data }) => data.projection?.length > 0))('$file: projection', ({ data }) => {
  test.each(data.projection as ProjectionCase[])('$id $title', ({ response, environment, admissible, expected }) => {
    const { command, formatValid } = projectReply(response, environment ?? 'rooms');
    expect({ command, formatValid }).toEqual({ command: expected.command, formatValid: expected.formatValid });
    if (admissible === undefined) return;
    const isAdmissible = admissible.includes(command);
    if (expected.admissible !== undefined) expect(isAdmissible).toBe(expected.admissible);
    expect(isValidStep(formatValid, isAdmissible, 'format')).toBe(expected.formatValid);
    expect(isValidStep(formatValid, isAdmissible, 'format+admissible')).toBe(expected.formatValid && isAdmissible);
  });
});

describe.each(files.filter(({ data }) => data.history?.length > 0))('$file: history', ({ data }) => {
  test.each(data.history as HistoryCase[])(
    '$id $title',
    ({ stepsTaken, historyLength, observations, actions, expected }) => {
      for (const length of stepsTaken === 0 ? [historyLength, 0] : [historyLength]) {
        const window = historyWindow(observations, actions, length);
        expect({
          entries: window.entries,
          historyShown: window.entries.length,
          stepCount: window.stepsTaken,
          currentStep: window.currentStep,
          currentObservation: window.currentObservation,
        }).toEqual(expected);
      }
    },
  );
});

test('history length zero shows nothing, however many steps were taken', () => {
  expect(historyWindow(['a', 'b', 'c'], ['x', 'y'], 0).entries).toEqual([]);
  expect(() => historyWindow(['a'], ['x'], 1)).toThrow('1 actions go with 2 observations, not 1');
});

test('the tail is counted in characters, 30 for rooms and 20 for the shop', () => {
  const reply = `${'x'.repeat(40)}😀 click[buy now]`;
  expect(projectReply(reply, 'shop').command).toBe('xxxx😀 click[buy now]');
  expect(projectReply(reply, 'rooms').command).toBe(`${'x'.repeat(14)}😀 click[buy now]`);
});

test('a closing tag before the opening one leaves an empty command, and an ideograph makes the format invalid', () => {
  expect(projectReply('<think></think></action>look<action>', 'rooms')).toEqual({ command: '', formatValid: true });
  expect(projectReply('<think>好</think><action>look</action>', 'rooms').formatValid).toBe(false);
});
