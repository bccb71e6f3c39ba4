import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defaultsOf, settingFields } from './fields.ts';
import { ownValue, repair } from './repair.ts';

const from = (source: unknown) => repair(settingFields, ownValue(source));

describe('the repair door', () => {
  it('fills what is missing with defaults and has nothing to say about it', () => {
    expect(from({})).toEqual({ values: defaultsOf(settingFields), changes: [] });
  });

  it('moves a number into its range and says so', () => {
    const { values, changes } = from({ alpha: 1e300, depth: -3 });
    expect(values.alpha).toBe(8);
    expect(values.depth).toBe(0);
    expect(changes).toEqual([
      { field: 'alpha', reason: 'out of range', taken: 8 },
      { field: 'depth', reason: 'out of range', taken: 0 },
    ]);
  });

  it('drops what is not of its kind', () => {
    const { values, changes } = from({ alpha: 'NaN', method: 'toString', gamma: {}, preset: 3 });
    expect(values).toEqual(defaultsOf(settingFields));
    expect(changes.map(({ reason }) => reason)).toEqual(Array(4).fill('not a value'));
  });

  it('puts numbers on their raster', () => {
    expect(from({ alpha: 0.333, depth: 2.4 }).values).toMatchObject({ alpha: 0.35, depth: 2 });
  });

  it('does not see inherited properties', () => {
    const inherited = JSON.parse('{"__proto__": {"alpha": 5}}') as object;
    expect(from(Object.create({ alpha: 5 })).values.alpha).toBe(1);
    expect(from(inherited).values.alpha).toBe(1);
  });

  it('gives valid values for any input, and is idempotent', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.anything(), fc.record({ alpha: fc.anything(), method: fc.anything(), members: fc.anything() })),
        (anything) => {
          const { values } = from(anything);
          for (const [name, field] of Object.entries(settingFields)) {
            const value = values[name as keyof typeof values];
            if (field.kind === 'choice') expect(field.options).toContain(value);
            else {
              expect(value).toBeGreaterThanOrEqual(field.min);
              expect(value).toBeLessThanOrEqual(field.max);
            }
          }
          expect(from(values)).toEqual({ values, changes: [] });
        },
      ),
    );
  });
});
