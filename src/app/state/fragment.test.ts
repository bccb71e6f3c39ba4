import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { allFields, defaultsOf, settingFields, type Field } from './fields.ts';
import { readFragment, writeFragment } from './fragment.ts';
import { onRaster, repair } from './repair.ts';

/** Any value that a field can take. */
const valueOf = (field: Field): fc.Arbitrary<string | number> =>
  field.kind === 'choice'
    ? fc.constantFrom(...field.options)
    : field.kind === 'form'
      ? fc.stringMatching(field.form)
      : field.kind === 'set'
        ? fc.subarray([...field.options]).map((names) => names.join('.'))
        : fc.double({ min: field.min, max: field.max, noNaN: true }).map((x) => onRaster(field, x));
const values = Object.fromEntries(Object.entries<Field>(allFields).map(([name, field]) => [name, valueOf(field)]));

describe('the link', () => {
  it('leaves out what equals its default', () => {
    expect(writeFragment(defaultsOf(settingFields))).toBe('v=1');
    expect(writeFragment({ ...defaultsOf(settingFields), alpha: 2, method: 'rloo' })).toBe('v=1&method=rloo&alpha=2');
  });

  it('brings back every field, whatever it is', () => {
    fc.assert(
      fc.property(fc.record(values), (given) => {
        const link = readFragment(`#${writeFragment(given)}`)!;
        expect(repair(allFields, (name) => link.given(allFields[name]))).toEqual({ values: given, changes: [] });
      }),
    );
  });

  it('has a name of its own for every field', () => {
    const names = Object.values(allFields).map(({ link }) => link);
    expect(names.toSorted()).toEqual([...new Set(names)].toSorted());
    expect(names).not.toContain('v');
  });

  it('is harmless whatever it says: fields keep to their ranges, and what was changed is named', () => {
    const names = Object.values(allFields).map(({ link }) => link);
    const name = fc.oneof(
      fc.constantFrom(...names),
      fc.constantFrom('__proto__', 'constructor', 'hasOwnProperty', 'toString', 'v'),
      fc.string(),
    );
    const value = fc.oneof(
      fc.string(),
      fc.constantFrom(
        'NaN',
        'Infinity',
        '-1e999',
        '1e308',
        '0x10',
        '-0',
        '',
        ' ',
        '<img src=x onerror=1>',
        '9'.repeat(400),
      ),
      fc.double().map(String),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(name, value)), (parameters) => {
        const link = readFragment(`#v=1&${new URLSearchParams(parameters)}`)!;
        const { values: taken, changes } = repair(allFields, (one) => link.given(allFields[one]));
        expect(Object.keys(taken)).toEqual(Object.keys(allFields));
        for (const [one, field] of Object.entries<Field>(allFields)) {
          const got = taken[one as keyof typeof taken];
          if (field.kind === 'choice') expect(field.options).toContain(got);
          else if (field.kind === 'form') expect(got).toMatch(field.form);
          else if (field.kind === 'set') {
            const named = String(got).split('.');
            expect(field.options.filter((option) => named.includes(option)).join('.')).toBe(got);
          } else expect(got === Math.min(field.max, Math.max(field.min, Number(got)))).toBe(true);
          if (got === field.default) continue;
          expect(link.given(field)).toBeDefined();
        }
        for (const change of changes) expect(Object.hasOwn(allFields, change.field)).toBe(true);
        // What was mended needs no mending again.
        const again = readFragment(`#${writeFragment(taken)}`)!;
        expect(repair(allFields, (one) => again.given(allFields[one])).changes).toEqual([]);
      }),
      { numRuns: 150 },
    );
  });

  it('is recognised by its version', () => {
    expect(readFragment('')).toBeNull();
    expect(readFragment('#section')).toBeNull();
    expect(readFragment('#v=1')?.newer).toBe(false);
    expect(readFragment('#v=2')?.newer).toBe(true);
    expect(readFragment('#v=x')?.newer).toBe(true);
  });

  it('does not fall for names that every object has', () => {
    expect(readFragment('#v=1&__proto__=1&constructor=2')!.given({ link: 'method' })).toBeUndefined();
  });
});
