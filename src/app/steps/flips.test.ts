import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { signFlips } from './flips.ts';

const advantages = fc.array(fc.tuple(fc.integer({ min: -3, max: 3 }), fc.integer({ min: -3, max: 3 })));

describe('sign flips', () => {
  it('are the steps with opposite signs, the widest disagreement first', () => {
    const flips = signFlips(Float64Array.of(1, 2, -1, 0), Float64Array.of(-1, 3, 5, -1));
    expect(flips.map(({ row }) => row)).toEqual([2, 0]);
  });

  it('do not count a step without signal as a disagreement', () => {
    expect(signFlips(Float64Array.of(0, 0), Float64Array.of(-2, 2))).toEqual([]);
  });

  it('do not depend on which method is named first', () => {
    fc.assert(
      fc.property(advantages, (pairs) => {
        const a = Float64Array.from(pairs, ([x]) => x);
        const b = Float64Array.from(pairs, ([, y]) => y);
        expect(signFlips(a, b).map(({ row }) => row)).toEqual(signFlips(b, a).map(({ row }) => row));
      }),
    );
  });
});
