import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson, checkJson, deepestNesting, jsonFields, NestingError } from './canonical-json.ts';

// The same JSON value written in another way: keys in another order, white space, escapes, other spellings of numbers.
function respell(value: unknown, salt: number): string {
  const space = [' ', '', '\t', '\r\n'][salt % 4]!;
  if (typeof value === 'string') {
    const escape = (c: string) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`;
    return salt % 2 ? `"${value.split('').map(escape).join('')}"` : JSON.stringify(value);
  }
  if (typeof value === 'number') {
    if (!Number.isInteger(value) || !Number.isSafeInteger(value)) return JSON.stringify(value);
    return salt % 3 === 0 ? `${value}.0` : salt % 3 === 1 ? `${value}e0` : `${value}`;
  }
  if (Array.isArray(value))
    return `[${space}${value.map((item, i) => respell(item, salt + i)).join(`${space},`)}${space}]`;
  if (value !== null && typeof value === 'object') {
    const entries = Object.entries(value);
    if (salt % 2) entries.reverse();
    return `{${entries.map(([key, item], i) => `${JSON.stringify(key)}${space}:${respell(item, salt + i)}`).join(',')}${space}}`;
  }
  return JSON.stringify(value);
}

describe('canonical JSON', () => {
  it('is the same for two spellings of one value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ depthSize: 'small' }), fc.nat(20), fc.nat(20), (value, a, b) => {
        expect(canonicalJson(respell(value, a))).toBe(canonicalJson(respell(value, b)));
      }),
    );
  });

  it('reads back as the value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(20), (value, salt) => {
        const same = JSON.parse(JSON.stringify(value)) as unknown; // −0 becomes 0
        expect(JSON.parse(canonicalJson(respell(same, salt)))).toEqual(same);
      }),
    );
  });

  it.each([
    ['{"b":1,"a":2}', '{"a":2,"b":1}'],
    ['[1.0, 1e0, 10E-1, -0, -0.0]', '[1,1,1,0,0]'],
    ['[9007199254740993, 9007199254740992]', '[9007199254740993,9007199254740992]'],
    ['1e21', '1000000000000000000000'],
    ['[NaN, -Infinity, 1e999]', '[NaN,-Infinity,1e999]'],
    ['{"a":1,"a":2}', '{"a":2}'],
    ['{"__proto__":{"x":1},"constructor":0}', '{"__proto__":{"x":1},"constructor":0}'],
    ['["\\u0061\\/", "\\ud800"]', '["a/","\\ud800"]'],
    ['[[],{},[[]]]', '[[],{},[[]]]'],
  ])('of %s is %s', (text, canonical) => {
    checkJson(text);
    expect(canonicalJson(text)).toBe(canonical);
  });

  it('refuses a value nested too deeply instead of exhausting the stack', () => {
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
    expect(canonicalJson(nested(deepestNesting))).toHaveLength(2 * deepestNesting);
    expect(() => canonicalJson(nested(1_000_000))).toThrow(NestingError);
  });
});

describe('JSON as Python writes it', () => {
  it.each(['{"a":NaN}', '[Infinity,-Infinity]', '{"a \\" NaN":"Infinity","b":NaN}'])('%s is accepted', (text) => {
    expect(() => checkJson(text)).not.toThrow();
  });

  it.each([
    '{"a":-NaN}',
    '{"a":NaNs}',
    '{"a":1NaN}',
    '{NaN:1}',
    '{"a":"\u0001","b":NaN}',
    '{"a":"\\q","b":NaN}',
    '{"a":NaN',
  ])('%j is not', (text) => {
    expect(() => checkJson(text)).toThrow(SyntaxError);
  });
});

describe('the fields of an object', () => {
  it('are those that JSON.parse finds, in order, with the text of their values', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue(), { noNullPrototype: true }),
        fc.nat(20),
        (object, salt) => {
          const text = ` ${respell(object, salt)} `;
          const found = jsonFields(text).map(({ key, start, end }) => [
            key,
            JSON.parse(text.slice(start, end)) as unknown,
          ]);
          expect(found).toHaveLength(Object.keys(object).length);
          for (const [key, value] of found) {
            expect(value).toEqual(JSON.parse(JSON.stringify(object[key as string])));
          }
        },
      ),
    );
  });

  it('include a key that is given twice, in whatever spelling', () => {
    expect(jsonFields('{"a":1,"\\u0061":[{"a":"}"}],"b\\\\":"\\""}').map(({ key }) => key)).toEqual(['a', 'a', 'b\\']);
    expect(jsonFields('{}')).toEqual([]);
  });
});
