import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { count, number, share, signed } from './number.ts';

describe('numbers on the page', () => {
  it('have three significant digits and a true minus', () => {
    expect([0.4234, 12.345, 1234.5, -0.0519, 0.99996, 10].map(number)).toEqual([
      '0.423',
      '12.3',
      '1,235',
      '−0.0519',
      '1.00',
      '10.0',
    ]);
  });

  it('show the sign of an advantage, and none for 0', () => {
    expect([0.5, -0.5, 0].map(signed)).toEqual(['+0.500', '−0.500', '0']);
  });

  it('say that there is no number instead of writing NaN', () => {
    expect([NaN, Infinity, -Infinity].map(number)).toEqual(['–', '–', '–']);
    expect(share(NaN)).toBe('–');
  });

  it('count with thousands separators', () => {
    expect(count(6400)).toBe('6,400');
  });

  it('stay within half a unit of the third digit', () => {
    fc.assert(
      fc.property(fc.double({ min: 0.01, max: 999, noNaN: true }), (value) => {
        const read = Number(number(value).replaceAll(',', ''));
        expect(Math.abs(read - value)).toBeLessThanOrEqual(0.0051 * value);
      }),
    );
  });
});
