import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { environmentFixtures } from '../../testing/environment-fixtures.ts';
import { reduceToBaseColour } from './base-colours.ts';
import { scorePurchase } from './score.ts';
import { tokenSetRatio } from './token-set-ratio.ts';

describe.each(environmentFixtures('shop-reward-cases'))('$file', ({ data }) => {
  test.each(data.cases as { id: string; title: string }[])('$id $title', (testCase) => {
    // eslint-disable-next-line @typescript-eslint/no-explicit-any
    const { product, price, selected, goal, expected } = testCase as any;
    const priceUpperCents = Math.round(goal.priceUpper * 100);
    const score = scorePurchase(product, Math.round(price * 100), selected, { ...goal, priceUpperCents });
    const { reward, ...parts } = expected;
    expect(score.score).toBeCloseTo(reward, 9);
    for (const [name, value] of Object.entries(parts)) {
      const ours = score[name as keyof typeof score];
      if (typeof value === 'number') expect(ours, name).toBeCloseTo(value, 9);
      else expect(ours, name).toBe(value);
    }
  });
});

test('the ratio is symmetric, within 0 and 100, and 100 for a text inside the other', () => {
  const words = fc.array(fc.constantFrom('navy', 'blue', 'non', 'slip', '8', 'Pack', 'pack!'), { maxLength: 4 });
  fc.assert(
    fc.property(words, words, (a, b) => {
      const ratio = tokenSetRatio(a.join(' '), b.join(' '));
      expect(ratio).toBe(tokenSetRatio(b.join(' '), a.join(' ')));
      expect(ratio).toBeGreaterThanOrEqual(0);
      expect(ratio).toBeLessThanOrEqual(100);
      if (a.length > 0) expect(tokenSetRatio(a.join(' '), [...b, ...a].join('-'))).toBe(100);
    }),
  );
  expect(tokenSetRatio('', '')).toBe(0);
  expect(tokenSetRatio('?!', 'blue')).toBe(0);
});

test('the first colour in list order decides, wherever it stands in the text', () => {
  expect(reduceToBaseColour('navy blue')).toBe('blue');
  expect(reduceToBaseColour('standard')).toBe('tan');
  expect(reduceToBaseColour('size 9')).toBe('size 9');
});
