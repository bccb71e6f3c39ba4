import type { EnvironmentName, Observation } from '../environments/environment.ts';
import type { RoomsEvent } from '../environments/rooms/events.ts';
import { compareCanonically, receptacleTypes, typeOfName } from '../environments/rooms/types.ts';
import type { ShopEvent } from '../environments/shop/page.ts';
import { textKey } from '../environments/text-key.ts';
import type { Tokenizer } from './tokenizer.ts';
import { productAlias, type SpecialToken } from './vocabulary.ts';

/** What a prompt shows; a policy reads only the format that it was trained on. */
export interface PromptFormat {
  /** History length K, 0 to 8: the number of past (observation, command) pairs. */
  readonly historyLength: number;
  /** Rooms: list the receptacles of the room behind the task. The list is the same at every step of an episode. */
  readonly receptacles: boolean;
  /** List the admissible commands. */
  readonly admissible: boolean;
  /** Let the policy write its reasoning before the command. */
  readonly think: boolean;
}

export const LONGEST_HISTORY = 8;

export const defaultPromptFormat: PromptFormat = {
  historyLength: 2,
  receptacles: true,
  admissible: false,
  think: false,
};

/** The part of a policy's input that the prompt is made of. */
export interface PromptInput {
  readonly environment: EnvironmentName;
  readonly goal: string;
  readonly observation: Observation;
  /** Past pairs, oldest first; the prompt takes the last K. */
  readonly history: readonly { readonly observation: Observation; readonly action: string }[];
  readonly admissible: readonly string[];
}

/** What had to be left out because a prompt exceeded its budget. */
export interface PromptCuts {
  /** Past pairs dropped, from the oldest on. */
  readonly historyEntries: number;
  /** 1 where titles on a results page are shorter than the page shows them. */
  readonly shortenedTitles: number;
  /** 1 where the list of admissible commands was left out; it is never shown in part. */
  readonly admissibleLists: number;
}

export const noCuts: PromptCuts = { historyEntries: 0, shortenedTitles: 0, admissibleLists: 0 };

export function addCuts(a: PromptCuts, b: PromptCuts): PromptCuts {
  return {
    historyEntries: a.historyEntries + b.historyEntries,
    shortenedTitles: a.shortenedTitles + b.shortenedTitles,
    admissibleLists: a.admissibleLists + b.admissibleLists,
  };
}

export interface Prompt {
  readonly tokens: readonly number[];
  readonly cuts: PromptCuts;
}

/** A prompt that does not fit even without history, titles and admissible list. */
export class PromptTooLongError extends Error {
  override readonly name = 'PromptTooLongError';
}

/**
 * `prompt_key`: 64-bit hash of the exact token ids that a policy saw, 16 hexadecimal digits. Where its reply is limited to
 * some sequences, these are part of the input: two steps with one prompt and different lists are different situations.
 */
export function promptKey(tokens: readonly number[], sequences: readonly (readonly number[])[] | null = null): string {
  const prompt = tokens.join(',');
  return textKey(
    sequences === null ? prompt : `${prompt}|${sequences.map((sequence) => sequence.join(',')).join(';')}`,
  );
}

// Words of a title on a results page, from the whole title down to none, as the budget shrinks.
const TITLE_WORDS = [8, 4, 0];

/**
 * Writes the prompts of one policy:
 *
 *     <task> goal [<room> receptacles] { <h> past observation <a> command } <o> observation [<acts> command | command …] <a>
 *
 * ending in `<think>` instead where the policy reasons first. The reply is `command <end>`, or
 * `reasoning </think> <a> command <end>`. A past pair is a function of its observation and command alone and carries no
 * step number, so that equal contexts give equal prompts. On a results page of the shop, products go by their place on
 * the page (`#3` for the third), and prices are whole dollars, rounded up: the bounds of goals are whole dollars, so no
 * comparison changes.
 */
export class PromptWriter {
  private readonly budget: number;

  /**
   * @param contextLength most tokens of prompt and reply together
   * @param replyTokens tokens kept free for the reply
   */
  constructor(
    readonly tokenizer: Tokenizer,
    readonly format: PromptFormat,
    readonly contextLength: number,
    readonly replyTokens = 48,
  ) {
    const { historyLength } = format;
    if (!(Number.isInteger(historyLength) && historyLength >= 0 && historyLength <= LONGEST_HISTORY)) {
      throw new RangeError(`The history length is a whole number from 0 to ${LONGEST_HISTORY}, not ${historyLength}.`);
    }
    this.budget = contextLength - replyTokens;
  }

  /**
   * The prompt for a step. Over budget it drops past pairs from the oldest on, then shortens titles on a results page,
   * then leaves the admissible list out, and says so in `cuts`.
   * @throws PromptTooLongError when even that does not fit.
   */
  write(input: PromptInput): Prompt {
    const { format } = this;
    const head = this.part('<task>', input.goal);
    if (format.receptacles && input.environment === 'rooms') {
      head.push(...this.part('<room>', receptacles(input.admissible).join(' ')));
    }
    const shown = format.historyLength === 0 ? [] : input.history.slice(-format.historyLength);
    const pairs = shown.map(({ observation, action }) => [
      ...this.part('<h>', observation.brief),
      ...this.part('<a>', aliased(action, observation)),
    ]);
    const acts = format.admissible ? this.admissiblePart(input) : [];
    let observation = this.observationPart(input.observation, TITLE_WORDS[0]!);
    const last = this.special(format.think ? '<think>' : '<a>');

    const fixed = head.length + 1;
    const pairLengths = pairs.map((pair) => pair.length);
    let first = 0;
    let historyTokens = pairLengths.reduce((sum, length) => sum + length, 0);
    while (first < pairs.length && fixed + historyTokens + observation.length + acts.length > this.budget) {
      historyTokens -= pairLengths[first]!;
      first++;
    }
    let shortenedTitles = 0;
    for (const words of TITLE_WORDS.slice(1)) {
      if (fixed + observation.length + acts.length <= this.budget - historyTokens) break;
      const shorter = this.observationPart(input.observation, words);
      if (shorter.length === observation.length) continue;
      observation = shorter;
      shortenedTitles = 1;
    }
    const dropsList = acts.length > 0 && fixed + historyTokens + observation.length + acts.length > this.budget;
    const tokens = [...head, ...pairs.slice(first).flat(), ...observation, ...(dropsList ? [] : acts), last];
    if (tokens.length > this.budget) {
      throw new PromptTooLongError(
        `This prompt has ${tokens.length} tokens without history where ${this.budget} fit: use a policy with a longer context.`,
      );
    }
    return { tokens, cuts: { historyEntries: first, shortenedTitles, admissibleLists: dropsList ? 1 : 0 } };
  }

  /** The tokens of a command as a reply to the prompt of this observation, `<end>` included. */
  commandTokens(command: string, observation: Observation): number[] {
    return [...this.tokenizer.encode(aliased(command, observation)), this.special('<end>')];
  }

  /** The whole reply that a policy of this format should learn: reasoning where the format has it, command, `<end>`. */
  replyTokensFor(command: string, observation: Observation, thought = ''): number[] {
    const reply = this.commandTokens(command, observation);
    if (!this.format.think) return reply;
    return [...this.tokenizer.encode(thought), this.special('</think>'), this.special('<a>'), ...reply];
  }

  /**
   * A generated reply as text in the form that `projectReply` reads: `<think>…</think><action>…</action>`. Tags that a
   * policy of this format never writes are supplied; a tag that it should have written but did not is missing here too.
   */
  replyText(reply: readonly number[], observation: Observation): string {
    const { tokenizer } = this;
    const end = reply.indexOf(this.special('<end>'));
    const written = end < 0 ? reply : reply.slice(0, end);
    const close = end < 0 ? '' : '</action>';
    const command = (tokens: readonly number[]) => unaliased(tokenizer.decode(tokens), observation);
    if (!this.format.think) return `<think></think><action>${command(written)}${close}`;
    const thoughtEnd = written.indexOf(this.special('</think>'));
    if (thoughtEnd < 0) return `<think>${tokenizer.decode(written)}`;
    const thought = `<think>${tokenizer.decode(written.slice(0, thoughtEnd))}</think>`;
    const rest = written.slice(thoughtEnd + 1);
    if (rest[0] !== this.special('<a>')) return `${thought}${tokenizer.decode(rest)}`;
    return `${thought}<action>${command(rest.slice(1))}${close}`;
  }

  /** The prompt in words, for people and for files. */
  text(tokens: readonly number[]): string {
    return this.tokenizer.decode(tokens);
  }

  private special(token: SpecialToken): number {
    return this.tokenizer.special(token);
  }

  private part(opening: SpecialToken, text: string): number[] {
    return [this.special(opening), ...this.tokenizer.encode(text)];
  }

  private observationPart(observation: Observation, titleWords: number): number[] {
    return this.part('<o>', currentText(observation, titleWords, this.format.receptacles));
  }

  private admissiblePart({ admissible, observation }: PromptInput): number[] {
    return this.part('<acts>', admissible.map((command) => aliased(command, observation)).join(' | '));
  }
}

/** The current observation in full; where the prompt lists the receptacles already, not a second time. */
function currentText(observation: Observation, titleWords: number, receptaclesListed: boolean): string {
  const event = observation.event as RoomsEvent | ShopEvent;
  if (event.kind === 'results') {
    const products = event.products.map(({ title, priceCents }, i) =>
      [productAlias(i + 1), ...title.split(' ').slice(0, titleWords), wholeDollars(priceCents)].join(' '),
    );
    return `results ${event.page} total ${event.total} : ${products.join(' ; ')}`;
  }
  if (event.kind === 'item') {
    const options = Object.entries(event.options).map(([name, values]) => `${name} ${values.join(' , ')}`);
    const shown = `item ${event.title} price ${wholeDollars(event.priceCents)}`;
    return options.length === 0 ? shown : `${shown} options ${options.join(' ; ')}`;
  }
  const listsReceptacles = event.kind === 'start' || (event.kind === 'look' && event.facing === null);
  return listsReceptacles && receptaclesListed ? observation.brief : observation.compact;
}

function wholeDollars(cents: number): string {
  return String(Math.ceil(cents / 100));
}

/**
 * The receptacles of a room in canonical order, from the commands that are admissible anywhere in it: one can go to every
 * receptacle but the one where one is, and that one can be examined.
 */
function receptacles(admissible: readonly string[]): string[] {
  const names = new Set<string>();
  for (const command of admissible) {
    const name = /^(?:go to|examine) (.+)$/.exec(command)?.[1];
    if (name !== undefined && receptacleTypes.has(typeOfName(name))) names.add(name);
  }
  return [...names].sort(compareCanonically);
}

function productsOn(observation: Observation): readonly { readonly id: string }[] {
  const event = observation.event as ShopEvent;
  return event.kind === 'results' ? event.products : [];
}

/** A command with the id of a listed product replaced by its alias: `click[b0123]` becomes `click[#3]`. */
function aliased(command: string, observation: Observation): string {
  const id = /^click\[(b\d+)\]$/.exec(command)?.[1];
  if (id === undefined) return command;
  const place = productsOn(observation).findIndex((product) => product.id.toLowerCase() === id);
  return place < 0 ? command : `click[${productAlias(place + 1)}]`;
}

/** Undoes `aliased`. An alias that stands for no product of the page stays, and has no effect. */
function unaliased(command: string, observation: Observation): string {
  const place = /^click\[#(\d+)\]$/.exec(command)?.[1];
  const product = place === undefined ? undefined : productsOn(observation)[Number(place) - 1];
  return product === undefined ? command : `click[${product.id.toLowerCase()}]`;
}
