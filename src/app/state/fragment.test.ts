import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defaultsOf, settingFields } from './fields.ts';
import { readFragment, writeFragment } from './fragment.ts';
import { onRaster, repair } from './repair.ts';

describe('the link', () => {
  it('leaves out what equals its default', () => {
    expect(writeFragment(defaultsOf(settingFields))).toBe('v=1');
    expect(writeFragment({ ...defaultsOf(settingFields), alpha: 2, method: 'rloo' })).toBe('v=1&method=rloo&alpha=2');
  });

  it('brings back every setting', () => {
    const values = fc.record({
      method: fc.constantFrom(...settingFields.method.options),
      against: fc.constantFrom(...settingFields.against.options),
      preset: fc.constantFrom(...settingFields.preset.options),
      normalisation: fc.constantFrom(...settingFields.normalisation.options),
      colour: fc.constantFrom(...settingFields.colour.options),
      alpha: fc.double({ min: 0, max: 8, noNaN: true }).map((x) => onRaster(settingFields.alpha, x)),
      gamma: fc.double({ min: 0, max: 1, noNaN: true }).map((x) => onRaster(settingFields.gamma, x)),
      depth: fc.integer({ min: 0, max: 8 }),
      members: fc.integer({ min: 0, max: 4096 }),
    });
    fc.assert(
      fc.property(values, (settings) => {
        const link = readFragment(`#${writeFragment(settings)}`)!;
        expect(repair(settingFields, (name) => link.given(settingFields[name]))).toEqual({
          values: settings,
          changes: [],
        });
      }),
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
