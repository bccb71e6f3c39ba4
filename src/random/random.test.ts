import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RandomStream, randomStream } from './stream.ts';
import { threefry2x32 } from './threefry.ts';

function block(key: [number, number], counter: [number, number]): number[] {
  const out = new Uint32Array(2);
  threefry2x32(key[0], key[1], counter[0], counter[1], out);
  return [...out];
}

test('Threefry-2x32-20 gives the known answers of its authors', () => {
  expect(block([0, 0], [0, 0])).toEqual([0x6b200159, 0x99ba4efe]);
  expect(block([-1, -1], [-1, -1])).toEqual([0x1cb996fc, 0xbb002be7]);
  expect(block([0x13198a2e, 0x03707344], [0x243f6a88, 0x85a308d3])).toEqual([0xc4923a9c, 0x483df7a0]);
});

test('a stream is a function of its seed and path alone', () => {
  const first = randomStream(1, 'layout', 3);
  const again = randomStream(1, 'layout', 3);
  const draws = Array.from({ length: 20 }, () => first.nextUint32());
  expect(Array.from({ length: 20 }, () => again.nextUint32())).toEqual(draws);
  expect(randomStream(1, 'layou', 't', 3).nextUint32()).not.toBe(draws[0]);
  expect(randomStream(2, 'layout', 3).nextUint32()).not.toBe(draws[0]);
  expect(randomStream(1, 'layout', '3').nextUint32()).not.toBe(draws[0]);
});

test('a split does not depend on what its parent has drawn', () => {
  const fresh = randomStream(5).split('a').nextUint32();
  const used = randomStream(5);
  for (let i = 0; i < 7; i++) used.nextUint32();
  expect(used.split('a').nextUint32()).toBe(fresh);
});

test('a saved stream goes on with the same numbers', () => {
  fc.assert(
    fc.property(fc.integer(), fc.nat(9), (seed, drawn) => {
      const stream = randomStream(seed);
      for (let i = 0; i < drawn; i++) stream.nextUint32();
      const restored = RandomStream.load(JSON.parse(JSON.stringify(stream.save())));
      for (let i = 0; i < 5; i++) expect(restored.nextUint32()).toBe(stream.nextUint32());
    }),
  );
});

test('below() stays in range, uniform within six standard errors', () => {
  const stream = randomStream(3);
  const counts = new Array<number>(7).fill(0);
  const draws = 70_000;
  for (let i = 0; i < draws; i++) counts[stream.below(7)]!++;
  const expected = draws / 7;
  const standardError = Math.sqrt(draws * (1 / 7) * (6 / 7));
  for (const count of counts) expect(Math.abs(count - expected)).toBeLessThan(6 * standardError);
  expect(() => stream.below(0)).toThrow(RangeError);
});

test('nextFloat() lies in [0, 1)', () => {
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      const value = randomStream(seed).nextFloat();
      return value >= 0 && value < 1;
    }),
  );
});
