import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hashText, textKey } from './text-key.ts';

test('a key is 16 hexadecimal digits and depends on the text alone', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      expect(textKey(text)).toMatch(/^[0-9a-f]{16}$/);
      expect(textKey(text.slice(0, 3) + text.slice(3))).toBe(textKey(text));
    }),
  );
});

test('100,000 texts that differ in one digit have keys, and halves of keys, as distinct as chance allows', () => {
  const halves = new Uint32Array(2);
  const keys = new Set<string>();
  const high = new Set<number>();
  const low = new Set<number>();
  for (let i = 0; i < 100_000; i++) {
    hashText(`On cabinet ${i}: nothing.`, halves);
    keys.add(textKey(`On cabinet ${i}: nothing.`));
    high.add(halves[0]!);
    low.add(halves[1]!);
  }
  expect(keys.size).toBe(100_000);
  // 10⁵ draws of 32 bits give 1.2 equal pairs on average; more than 12 has a probability below 10⁻⁷.
  expect(high.size).toBeGreaterThan(100_000 - 12);
  expect(low.size).toBeGreaterThan(100_000 - 12);
});
