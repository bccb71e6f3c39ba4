import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Observation } from '../environments/environment.ts';
import { observationOf } from '../environments/rooms/wording.ts';
import { PrefixTree } from '../gpu/prefix-tree.ts';
import { environmentsAndPresets, randomInputs } from '../testing/random-play.ts';
import { defaultPromptFormat, promptKey, PromptTooLongError, PromptWriter, type PromptInput } from './prompt.ts';
import { Tokenizer } from './tokenizer.ts';

const tokenizer = { rooms: Tokenizer.for('rooms'), shop: Tokenizer.for('shop') };
const everything = { historyLength: 8, receptacles: true, admissible: true, think: false };
const wide = 4096;

const room: PromptInput = {
  environment: 'rooms',
  goal: 'heat apple then put in diningtable',
  history: [
    {
      observation: observationOf({
        kind: 'start',
        room: 'kitchen',
        receptacles: ['fridge 1', 'microwave 1'],
        goal: 'x',
      }),
      action: 'go to fridge 1',
    },
    {
      observation: observationOf({ kind: 'arrive', receptacle: 'fridge 1', view: { status: 'closed' } }),
      action: 'open fridge 1',
    },
  ],
  observation: observationOf({
    kind: 'open',
    receptacle: 'fridge 1',
    view: { status: 'open', objects: ['apple 1', 'egg 2'] },
  }),
  admissible: ['close fridge 1', 'examine fridge 1', 'go to microwave 1', 'go to microwave 12', 'inventory'],
};

const product = (id: string, title: string, priceCents: number) => ({ id, title, priceCents });
const results: Observation = {
  text: 'Results',
  compact: 'results 2 total 12 : b0007 bolt soft grip pen 12.01 ; b0031 wren pen 9',
  brief: 'results 2',
  event: {
    kind: 'results',
    page: 2,
    total: 12,
    products: [product('B0007', 'bolt soft grip pen', 1201), product('B0031', 'wren pen', 900)],
  } as Observation['event'],
};
const shop: PromptInput = {
  environment: 'shop',
  goal: 'need soft grip gel pen with color: navy blue, price below 20',
  history: [{ observation: results, action: 'click[b0031]' }],
  observation: results,
  admissible: ['click[< prev]', 'click[b0007]', 'click[b0031]', 'click[back to search]', 'click[next >]'],
};

const text = (input: PromptInput, format: Partial<typeof everything>, context = wide) => {
  const writer = new PromptWriter(tokenizer[input.environment], { ...defaultPromptFormat, ...format }, context);
  return writer.text(writer.write(input).tokens);
};

describe('a prompt', () => {
  it('shows task, past pairs, observation and admissible commands', () => {
    expect(text(room, { receptacles: false, admissible: true })).toBe(
      '<task> heat apple then put in diningtable <h> room <a> go to fridge 1 <h> at fridge 1 shut ' +
        '<a> open fridge 1 <o> opened fridge 1 has apple 1 , egg 2 ' +
        '<acts> close fridge 1 | examine fridge 1 | go to microwave 1 | go to microwave 12 | inventory <a>',
    );
  });

  it('lists the receptacles of the room in canonical order on request', () => {
    expect(text(room, { historyLength: 0 })).toBe(
      '<task> heat apple then put in diningtable <room> fridge 1 microwave 1 microwave 12 ' +
        '<o> opened fridge 1 has apple 1 , egg 2 <a>',
    );
  });

  it('shows the list of receptacles once at the first step, wherever it stands', () => {
    const first = { ...room, history: [], observation: room.history[0]!.observation };
    expect(text(first, { receptacles: false })).toContain('<o> room fridge 1 , microwave 1 goal');
    expect(text(first, {})).toContain('<room> fridge 1 microwave 1 microwave 12 <o> room <a>');
  });

  it('shows the last K pairs', () => {
    expect(text(room, { historyLength: 1, receptacles: false })).toBe(
      '<task> heat apple then put in diningtable <h> at fridge 1 shut <a> open fridge 1 <o> opened fridge 1 has apple 1 , egg 2 <a>',
    );
  });

  it('asks for reasoning first where the format has it', () => {
    expect(text(room, { think: true }).endsWith(' egg 2 <think>')).toBe(true);
  });

  it('names products by their place on the page and rounds prices up to dollars', () => {
    expect(text(shop, { admissible: true })).toBe(
      '<task> need soft grip gel pen with color: navy blue, price below 20 <h> results 2 <a> click[#2] ' +
        '<o> results 2 total 12 : #1 bolt soft grip pen 13 ; #2 wren pen 9 ' +
        '<acts> click[< prev] | click[#1] | click[#2] | click[back to search] | click[next >] <a>',
    );
  });

  it('is refused for a history length outside 0 … 8', () => {
    for (const historyLength of [-1, 9, 1.5, NaN]) {
      const make = () => new PromptWriter(tokenizer.rooms, { ...everything, historyLength }, wide);
      expect(make).toThrow('from 0 to 8');
    }
  });
});

describe.each(environmentsAndPresets)('prompts of %s %s', (environment, preset) => {
  const count = process.env.HGPO_LONG ? 100_000 : 300;
  const unknown = tokenizer[environment].special('<unk>');
  const writers = Array.from(
    { length: 9 },
    (_, historyLength) => new PromptWriter(tokenizer[environment], { ...everything, historyLength }, wide),
  );

  it('hold no unknown token, are undone exactly, and so are their commands', { timeout: 1_200_000 }, () => {
    let made = 0;
    for (const input of randomInputs(environment, preset, count)) {
      const writer = writers[made++ % writers.length]!;
      const { tokens } = writer.write(input);
      if (tokens.includes(unknown)) throw new Error(`unknown token in: ${writer.text(tokens)}`);
      const words = writer.text(tokens);
      if (writer.tokenizer.encode(words).join() !== tokens.join()) throw new Error(`not undone: ${words}`);
      for (const command of input.admissible) {
        const reply = writer.replyText(writer.commandTokens(command, input.observation), input.observation);
        if (reply !== `<think></think><action>${command}</action>`) throw new Error(`${command} became ${reply}`);
      }
    }
    expect(made).toBe(count);
  });

  it('are functions of goal, last K pairs, observation and list: equal ones mean equal inputs', () => {
    const writer = writers[2]!;
    const seen = new Map<string, string>();
    for (const input of randomInputs(environment, preset, 300, 1)) {
      const key = promptKey(writer.write(input).tokens);
      const pairs = input.history.slice(-2).map(({ observation, action }) => [observation.brief, action]);
      const context = JSON.stringify([input.goal, pairs, input.observation.compact, input.admissible]);
      expect(promptKey(writer.write({ ...input, history: input.history.slice(-2) }).tokens)).toBe(key);
      expect(seen.get(key) ?? context).toBe(context);
      seen.set(key, context);
    }
  });

  it('have commands that can be told apart by their tokens, none the beginning of another', () => {
    for (const input of randomInputs(environment, preset, 20, 2)) {
      const sequences = input.admissible.map((command) => writers[2]!.commandTokens(command, input.observation));
      const tree = new PrefixTree(sequences);
      const ends = sequences.map((sequence) => sequence.reduce((node, token) => tree.next(node, token), 0));
      expect(new Set(ends).size).toBe(input.admissible.length);
    }
  });
});

describe('a prompt over its budget', () => {
  const long: PromptInput = { ...room, history: Array.from({ length: 8 }, (_, i) => room.history[i % 2]!) };
  const whole = new PromptWriter(tokenizer.rooms, everything, wide).write(long).tokens.length;

  it('loses past pairs from the oldest on, and says how many', () => {
    for (const short of [1, 20, 40]) {
      const writer = new PromptWriter(tokenizer.rooms, everything, whole - short, 0);
      const { tokens, cuts } = writer.write(long);
      expect(tokens.length).toBeLessThanOrEqual(whole - short);
      expect(cuts.historyEntries).toBeGreaterThan(0);
      expect(cuts).toMatchObject({ shortenedTitles: 0, admissibleLists: 0 });
      const kept = { ...everything, historyLength: 8 - cuts.historyEntries };
      expect(tokens).toEqual(new PromptWriter(tokenizer.rooms, kept, wide).write(long).tokens);
    }
  });

  it('then loses titles, then the whole admissible list, then is refused', () => {
    const lengthWith = (format: Partial<typeof everything>, input = shop) =>
      new PromptWriter(tokenizer.shop, { ...everything, ...format }, wide).write(input).tokens.length;
    const noHistory = lengthWith({ historyLength: 0 });
    const listLength = noHistory - lengthWith({ historyLength: 0, admissible: false });
    const at = (budget: number) => new PromptWriter(tokenizer.shop, everything, budget, 0).write(shop);
    expect(at(noHistory).cuts).toEqual({ historyEntries: 1, shortenedTitles: 0, admissibleLists: 0 });
    // The titles have four and two words.
    expect(at(noHistory - 1).cuts).toEqual({ historyEntries: 1, shortenedTitles: 1, admissibleLists: 0 });
    expect(at(noHistory - 6).cuts.admissibleLists).toBe(0);
    const bare = at(noHistory - 7);
    expect(bare.cuts).toEqual({ historyEntries: 1, shortenedTitles: 1, admissibleLists: 1 });
    expect(tokenizer.shop.decode(bare.tokens)).toContain('#1 13 ; #2 9 <a>');
    expect(at(noHistory - 6 - listLength).tokens.length).toBe(noHistory - 6 - listLength);
    expect(() => at(noHistory - 7 - listLength)).toThrow(PromptTooLongError);
  });

  it('keeps room for the reply', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 60 }), (reply) => {
        const writer = new PromptWriter(tokenizer.rooms, everything, 200, reply);
        expect(writer.write(long).tokens.length + reply).toBeLessThanOrEqual(200);
      }),
    );
  });
});

describe('a reply', () => {
  const plain = new PromptWriter(tokenizer.rooms, defaultPromptFormat, wide);
  const thinking = new PromptWriter(tokenizer.rooms, { ...defaultPromptFormat, think: true }, wide);
  const encode = (reply: string) => tokenizer.rooms.encode(reply);

  it('becomes the text that the projection reads, tags supplied', () => {
    expect(plain.replyText(encode('go to fridge 1 <end>'), room.observation)).toBe(
      '<think></think><action>go to fridge 1</action>',
    );
  });

  it('without its end is not closed', () => {
    expect(plain.replyText(encode('go to fridge'), room.observation)).toBe('<think></think><action>go to fridge');
  });

  it('with reasoning shows it', () => {
    const reply = thinking.replyTokensFor('take apple 1 from fridge 1', room.observation, 'apple 1 seen');
    expect(thinking.text(reply)).toBe('apple 1 seen </think> <a> take apple 1 from fridge 1 <end>');
    expect(thinking.replyText(reply, room.observation)).toBe(
      '<think>apple 1 seen</think><action>take apple 1 from fridge 1</action>',
    );
  });

  it.each([
    ['apple 1 seen', '<think>apple 1 seen'],
    ['apple 1 </think> take apple 1 <end>', '<think>apple 1</think>take apple 1'],
    ['apple 1 </think> <a> take apple 1', '<think>apple 1</think><action>take apple 1'],
  ])('that misses a tag lacks it in the text too: %s', (reply, expected) => {
    expect(thinking.replyText(encode(reply), room.observation)).toBe(expected);
  });

  it('turns an alias back into the product, and leaves one that stands for none', () => {
    const writer = new PromptWriter(tokenizer.shop, defaultPromptFormat, wide);
    const read = (reply: string) => writer.replyText(tokenizer.shop.encode(reply), results);
    expect(read('click[#2] <end>')).toContain('<action>click[b0031]</action>');
    expect(read('click[#3] <end>')).toContain('<action>click[#3]</action>');
  });
});
