import { Tokenizer as HuggingFaceTokenizer } from '@huggingface/tokenizers';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ModelFileError } from './model-file-error.ts';
import { Tokenizer } from './tokenizer.ts';
import { specialTokens } from './vocabulary.ts';

const both = Tokenizer.for('rooms', 'shop');
const huggingFace = new HuggingFaceTokenizer(JSON.parse(both.json()), JSON.parse(both.configJson(256)));

const lines = [
  'heat apple then put in diningtable',
  'at cabinet 10 open has apple 1 , egg 12',
  'need non slip, quick dry running shoes with color: navy blue, size: 10, price below 40',
  'search[need non slip, quick dry running shoes with color: navy blue]',
  'click[< prev]',
  'click[next >]',
  'click[b0123]',
  'click[#10]',
  '<task> cool mug then put in shelf <h> room <a> go to fridge 1 <o> at fridge 1 shut <a>',
];

// Words, numbers, punctuation, white space and strangers, in any order.
const texts = fc
  .array(
    fc.oneof(
      fc.constantFrom(...both.tokens, ...lines),
      fc.constantFrom(' ', '  ', '\n', '\t', '[', ']', '##', '<', '>', ',', '<a', '|', '.'),
      fc.nat().map(String),
      fc.string(),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''));

describe('the tokenizer', () => {
  it.each(lines)('undoes its own work: %s', (line) => {
    const ids = both.encode(line);
    expect(ids).not.toContain(both.special('<unk>'));
    expect(both.decode(ids)).toBe(line);
  });

  it('reads numbers digit by digit', () => {
    expect(both.encode('cabinet 10').map((id) => both.tokens[id])).toEqual(['cabinet', '1', '##0']);
  });

  it('makes one unknown token of a strange word and goes on', () => {
    const ids = both.encode('open zebra 1');
    expect(ids.map((id) => both.tokens[id])).toEqual(['open', '<unk>', '1']);
  });

  it('leaves special tokens out on request', () => {
    expect(both.decode(both.encode('open fridge 1 <end>'), false)).toBe('open fridge 1');
  });

  it('has no token twice, and keeps the small vocabularies of one environment small', () => {
    for (const tokenizer of [Tokenizer.for('rooms'), Tokenizer.for('shop'), both]) {
      expect(new Set(tokenizer.tokens).size).toBe(tokenizer.size);
      expect(tokenizer.tokens.slice(0, specialTokens.length)).toEqual(specialTokens);
    }
    expect(Tokenizer.for('rooms').size).toBeLessThan(200);
    expect(Tokenizer.for('shop').size).toBeLessThan(700);
  });
});

describe('tokenizer.json', () => {
  it('comes back unchanged', () => {
    expect(Tokenizer.parse(both.json()).tokens).toEqual(both.tokens);
    expect(Tokenizer.parse(both.json()).json()).toBe(both.json());
  });

  it('gives Hugging Face’s tokenizer the same ids and the same text, on any input', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const ids = both.encode(text);
        expect(huggingFace.encode(text).ids).toEqual(ids);
        if (ids.length > 0) expect(huggingFace.decode(ids, { skip_special_tokens: false })).toBe(both.decode(ids));
      }),
      { numRuns: process.env.HGPO_LONG ? 20_000 : 1000, examples: lines.map((line) => [line] as [string]) },
    );
  });

  const changed = (change: (json: { model: { vocab: Record<string, number> }; decoder: unknown }) => void) => {
    const json = JSON.parse(both.json());
    change(json);
    return JSON.stringify(json);
  };
  it.each([
    ['no JSON', '{', 'not valid JSON'],
    ['an empty object', '{}', 'model'],
    ['another kind of model', JSON.stringify({ model: { type: 'BPE', vocab: {}, merges: [] } }), 'model.type'],
    ['a gap in the ids', changed((json) => (json.model.vocab['fridge'] = 100_000)), 'gaps'],
    ['an id twice', changed((json) => (json.model.vocab['fridge'] = 3)), 'twice'],
    ['another decoder', changed((json) => (json.decoder = { type: 'ByteLevel' })), 'decoder'],
    [
      'no end token',
      changed(({ model }) => {
        model.vocab['<stop>'] = model.vocab['<end>']!;
        delete model.vocab['<end>'];
      }),
      '<end>',
    ],
  ])('with %s is refused in one sentence', (_, text, reason) => {
    expect(() => Tokenizer.parse(text)).toThrow(ModelFileError);
    expect(() => Tokenizer.parse(text)).toThrow(/^tokenizer\.json: [^\n]*\.$/);
    expect(() => Tokenizer.parse(text)).toThrow(reason);
  });
});
