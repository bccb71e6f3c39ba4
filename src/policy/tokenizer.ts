import { z } from 'zod';
import type { EnvironmentName } from '../environments/environment.ts';
import { ModelFileError } from './model-file-error.ts';
import { CONTINUATION, environmentVocabulary, specialTokens, type SpecialToken } from './vocabulary.ts';

// Words seen are kept with their tokens; foreign text could hold any number of different ones.
const MOST_CACHED_WORDS = 20_000;
const LONGEST_WORD = 100;

/**
 * Text to token ids and back, over a closed vocabulary. Text is cut at white space and behind each `[`; a piece that is not
 * a token itself is cut into the longest tokens that fit, left to right, all but the first with the prefix `##`
 * (WordPiece: Schuster and Nakajima 2012); a piece for which that fails becomes one `<unk>`. With a vocabulary of whole
 * words, digits and punctuation this reads numbers digit by digit and is undone exactly by `decode`.
 */
export class Tokenizer {
  private readonly ids = new Map<string, number>();
  private readonly words = new Map<string, readonly number[]>();
  private readonly specialIds: ReadonlySet<number>;

  /** @param tokens position = id; holds all of `specialTokens`. */
  constructor(readonly tokens: readonly string[]) {
    tokens.forEach((token, id) => this.ids.set(token, id));
    this.specialIds = new Set(specialTokens.map((token) => this.special(token)));
  }

  static for(...environments: readonly EnvironmentName[]): Tokenizer {
    return new Tokenizer(environmentVocabulary(environments));
  }

  get size(): number {
    return this.tokens.length;
  }

  /** The id of a token with a role of its own. */
  special(token: SpecialToken): number {
    const id = this.ids.get(token);
    if (id === undefined) throw new TypeError(`Tokenizer: the vocabulary lacks the token ${token}.`);
    return id;
  }

  encode(text: string): number[] {
    const ids: number[] = [];
    for (const word of text.split(/\s+/)) {
      if (word === '') continue;
      for (const id of this.encodeWord(word)) ids.push(id);
    }
    return ids;
  }

  /** @param keepSpecial false leaves special tokens out, as `skip_special_tokens` does. */
  decode(ids: Iterable<number>, keepSpecial = true): string {
    let text = '';
    for (const id of ids) {
      if (!keepSpecial && this.specialIds.has(id)) continue;
      const token = this.tokens[id] ?? '<unk>';
      if (token.startsWith(CONTINUATION) && text !== '') text += token.slice(CONTINUATION.length);
      else text += text === '' || text.endsWith('[') ? token : ` ${token}`;
    }
    return text;
  }

  private encodeWord(word: string): readonly number[] {
    const known = this.words.get(word);
    if (known) return known;
    const ids = splitSpecial(word).flatMap((part) => {
      const special = this.ids.get(part);
      return special !== undefined && this.specialIds.has(special)
        ? [special]
        : part.split(/(?<=\[)/).flatMap((piece) => this.wordPieces(piece));
    });
    if (this.words.size >= MOST_CACHED_WORDS) this.words.clear();
    this.words.set(word, ids);
    return ids;
  }

  private wordPieces(piece: string): number[] {
    const unknown = [this.special('<unk>')];
    if ([...piece].length > LONGEST_WORD) return unknown;
    const ids: number[] = [];
    for (let from = 0; from < piece.length;) {
      let to = piece.length;
      let id: number | undefined;
      for (; to > from; to--) {
        id = this.ids.get((from > 0 ? CONTINUATION : '') + piece.slice(from, to));
        if (id !== undefined) break;
      }
      if (id === undefined) return unknown;
      ids.push(id);
      from = to;
    }
    return ids;
  }

  /** The text of `tokenizer.json`, the format of Hugging Face's tokenizers. */
  json(): string {
    const added = specialTokens.map((content) => ({
      id: this.special(content),
      content,
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
      special: true,
    }));
    return `${JSON.stringify({ version: '1.0', truncation: null, padding: null, added_tokens: added, ...pipeline(this.tokens) }, null, 2)}\n`;
  }

  /** The text of `tokenizer_config.json`, which Transformers.js and Transformers want beside it. */
  configJson(contextLength: number): string {
    const config = {
      tokenizer_class: 'PreTrainedTokenizerFast',
      model_max_length: contextLength,
      // The clean-up joins commas to words, which undoes our spacing.
      clean_up_tokenization_spaces: false,
      pad_token: '<pad>',
      eos_token: '<end>',
      unk_token: '<unk>',
      padding_side: 'left',
    };
    return `${JSON.stringify(config, null, 2)}\n`;
  }

  /**
   * Reads a `tokenizer.json` that this program wrote.
   * @param file the name that an error message carries.
   * @throws ModelFileError when the text is no JSON, or describes a tokenizer that works in another way.
   */
  static parse(text: string, file = 'tokenizer.json'): Tokenizer {
    let json: unknown;
    try {
      json = JSON.parse(text);
    } catch (cause) {
      throw new ModelFileError(file, 'it is not valid JSON', { cause });
    }
    const parsed = tokenizerFile.safeParse(json);
    if (!parsed.success) {
      const issue = parsed.error.issues[0]!;
      throw new ModelFileError(file, `its field ${issue.path.join('.') || '(root)'} does not fit (${issue.message})`);
    }
    const tokens: string[] = [];
    const { vocab } = parsed.data.model;
    for (const [token, id] of Object.entries(vocab)) {
      if (id >= Object.keys(vocab).length)
        throw new ModelFileError(file, `its token ids leave gaps (${id} is too large)`);
      if (tokens[id] !== undefined) throw new ModelFileError(file, `its token id ${id} occurs twice`);
      tokens[id] = token;
    }
    const missing = specialTokens.find((token) => !Object.hasOwn(vocab, token));
    if (missing) throw new ModelFileError(file, `its vocabulary lacks the token ${missing}`);
    const { model: ours, ...steps } = pipeline([]);
    const { model: theirs, ...given } = parsed.data;
    for (const step of Object.keys(steps) as (keyof typeof steps)[]) {
      if (JSON.stringify(given[step] ?? null) !== JSON.stringify(steps[step])) {
        throw new ModelFileError(file, `its ${step} is not the one that this program uses`);
      }
    }
    if (theirs.continuing_subword_prefix !== ours.continuing_subword_prefix || theirs.unk_token !== ours.unk_token) {
      throw new ModelFileError(file, 'its model marks continued or unknown words in another way');
    }
    return new Tokenizer(tokens);
  }
}

/** The steps of `encode` and `decode` in the vocabulary of `tokenizer.json`. */
function pipeline(tokens: readonly string[]) {
  return {
    normalizer: { type: 'Replace', pattern: { String: '[' }, content: '[ ' },
    pre_tokenizer: { type: 'WhitespaceSplit' },
    post_processor: null,
    decoder: {
      type: 'Sequence',
      decoders: [
        { type: 'WordPiece', prefix: CONTINUATION, cleanup: false },
        { type: 'Fuse' },
        { type: 'Replace', pattern: { String: '[ ' }, content: '[' },
      ],
    },
    model: {
      type: 'WordPiece',
      unk_token: '<unk>',
      continuing_subword_prefix: CONTINUATION,
      max_input_chars_per_word: LONGEST_WORD,
      vocab: Object.fromEntries(tokens.map((token, id) => [token, id])),
    },
  };
}

const tokenizerFile = z.looseObject({
  normalizer: z.unknown().optional(),
  pre_tokenizer: z.unknown().optional(),
  post_processor: z.unknown().optional(),
  decoder: z.unknown().optional(),
  model: z.looseObject({
    type: z.literal('WordPiece'),
    unk_token: z.string(),
    continuing_subword_prefix: z.string(),
    vocab: z.record(z.string(), z.int().min(0)),
  }),
});

const specialPattern = new RegExp(`(${specialTokens.join('|')})`);

/** Cuts special tokens out of a word; almost no word has any. */
function splitSpecial(word: string): string[] {
  return word.includes('<') ? word.split(specialPattern).filter((part) => part !== '') : [word];
}
