import fc from 'fast-check';
import { expect, test } from 'vitest';
import { batchOf, trajectory } from '../testing/rollout-batches.ts';
import { clusteredObservations, sequenceRatio, trigramSimilarity } from './similarity.ts';

// Printed by Python 3.11: difflib.SequenceMatcher(None, a, b).ratio()
const ratios: [string, string, number][] = [
  ['', '', 1],
  ['', 'a', 0],
  ['abcd', 'bcde', 0.75],
  ['qabxcd', 'abycdf', 0.6666666666666666],
  ['private Thread currentThread;', 'private volatile Thread currentThread;', 0.8656716417910447],
  ['On the countertop 1, you see a mug 1.', 'On the countertop 2, you see a mug 1.', 0.972972972972973],
  ['mug looking see it nothing fridge', 'see you nothing fridge mug looking', 0.5671641791044776],
  [
    '2 room cabinet countertop the apple room you a 1 looking of cabinet of',
    'apple of mug the of room room a countertop looking 2 cabinet in you',
    0.5401459854014599,
  ],
  ['naïve 😀 x', 'naive 😀 x', 0.8888888888888888],
  // 200 characters or more: common characters start no run.
  [
    'of it a cabinet quickly you see 1 of middle looking in around quickly mug apple you mug on it around in quickly see quickly 2 it around of 2 2 it of are looking you see cabinet you countertop 1 see cabinet apple you drawer are it of mug a the room drawer see fridge see fridge looking drawer',
    'of it quickly cabinet quickly 1 see 1 of middle looking in around quickly mug apple you mug on it around middle quickly see quickly 2 it around of 2 2 it of are it you see the you fridge 1 see cabinet apple you drawer are it of mug a the room drawer see see see fridge see looking',
    0.4938704028021016,
  ],
];

test.each(ratios)('the sequence ratio is Python’s, case %#', (a, b, ratio) => {
  expect(sequenceRatio(a, b)).toBeCloseTo(ratio, 14);
});

test('the trigram cosine is symmetric, between 0 and 1, and 1 for equal texts', () => {
  const similarity = trigramSimilarity();
  fc.assert(
    fc.property(fc.string(), fc.string(), (a, b) => {
      const alike = similarity(a, b);
      expect(alike).toBeGreaterThanOrEqual(0);
      expect(alike).toBeLessThanOrEqual(1);
      expect(similarity(b, a)).toBeCloseTo(alike, 12);
      expect(similarity(a, a)).toBe(1);
    }),
  );
});

test('the trigram cosine counts shared runs of three characters', () => {
  const similarity = trigramSimilarity();
  // abc, bcd against bcd, cde
  expect(similarity('abcd', 'bcde')).toBeCloseTo(1 / 2, 12);
  // xyx, yxy twice each against xyx, yxy once each: the same direction
  expect(similarity('xyxyxy', 'xyxy')).toBeCloseTo(1, 12);
  expect(similarity('kitchen', 'hall')).toBe(0);
  expect(similarity('', 'hall')).toBe(0);
});

test('an observation joins the first cluster of its task that it resembles, in order of steps', () => {
  const batch = batchOf(
    trajectory('t', 'a', ['aaaaaaaa', 'bbbbbbbb'], 1),
    trajectory('t', 'b', ['bbbbbbbc', 'aaaaaaab'], 1),
    trajectory('u', 'c', ['aaaaaaab'], 1),
  );
  const texts = Array.from(
    clusteredObservations(batch, 0.7, 'sequence-ratio'),
    (observation) => batch.observations.values[observation],
  );
  // 'bbbbbbbc' comes at step 0, before 'bbbbbbbb'; another task has clusters of its own.
  expect(texts).toEqual(['aaaaaaaa', 'bbbbbbbc', 'bbbbbbbc', 'aaaaaaaa', 'aaaaaaab']);
});
