import type { Command } from 'commander';
import {
  type Environment,
  type Observation,
  type PresetName,
  presetNames,
  type Snapshot,
} from '../environments/environment.ts';
import { openEnvironment } from '../environments/registry.ts';
import { RoomsEnvironment } from '../environments/rooms/environment.ts';
import { floorPlan, type FloorPlan } from '../environments/rooms/floor-plan.ts';
import { selectedOptions, ShopEnvironment } from '../environments/shop/environment.ts';
import { type CommonOptions, newCommand, type Terminal } from './command.ts';
import { environmentName, onRequest } from './environment.ts';
import { UsageError } from './errors.ts';
import { sortPresets } from './settings.ts';
import { printable } from './table.ts';

interface PlayOptions extends CommonOptions {
  readonly env: string;
  readonly preset?: string;
  readonly split?: string;
  readonly task?: string;
}

/** `hgpo play`: an episode by hand, from a terminal or from lines on standard input. */
export function playCommand(terminal: Terminal): Command {
  return newCommand('play', 'Play an episode by hand: type a command, its number in the list, or :help.')
    .option('--env <name>', 'rooms or shop', 'rooms')
    .option('--preset <name>', `size of the environment: ${presetNames.join(', ')}`)
    .option('--split <name>', 'set of episodes that the seed counts in (default: the first that takes it)')
    .option('--task <name>', 'kind of task (default: drawn from the seed)')
    .action((options: PlayOptions) => onRequest(() => play(options, terminal)));
}

const OVER = 'The episode is over: :undo, :restore, :restart or :quit.';

const help = `  <number> or <command>  carry it out
  :undo                  take the last step back
  :save NAME             remember this moment (a snapshot)
  :restore NAME          go back to it; without NAME, list what is remembered
  :hint                  what the searching expert would do next
  :state                 the hidden state, which no policy sees
  :list                  the observation and the admissible commands again
  :restart               from the beginning
  :quit                  or end of input: stop`;

async function play(options: PlayOptions, terminal: Terminal): Promise<void> {
  const environment = openEnvironment(environmentName(options.env));
  const preset = sortPresets(options.preset === undefined ? [] : [options.preset]);
  if (preset.option !== undefined) {
    throw new UsageError(`--preset takes a size here: ${presetNames.join(', ')}, not ${preset.option}.`);
  }
  environment.reset(options.seed, options.task, {
    ...(preset.size === undefined ? {} : { preset: preset.size as PresetName }),
    ...(options.split === undefined ? {} : { split: options.split }),
  });
  const session = new Session(environment);
  const show = async (answer: Answer) => {
    if (options.json) await terminal.out.line(asJson(answer, environment));
    else await terminal.out.write(asText(answer, environment));
    await terminal.out.flush();
  };
  await show({
    message: `${environment.goal}. (${environment.episodeId}; :help lists what can be typed.)`,
    page: true,
  });
  for await (const line of lines(terminal.input)) {
    const typed = line.trim();
    if (typed === ':quit') break;
    await show(session.answer(typed));
  }
  const { stepIndex, won } = environment;
  const steps = `${stepIndex} ${stepIndex === 1 ? 'step' : 'steps'}`;
  terminal.say(`Left after ${steps}: ${won ? 'the goal is reached' : 'the goal is not reached'}.`);
}

/** What a typed line led to. */
interface Answer {
  readonly message?: string;
  /** Whether the observation and the list are to be shown. */
  readonly page?: true;
  readonly reward?: number;
}

/** A moment of the episode: the command that led there, what was seen, and how to come back. */
interface Moment {
  readonly command: string | null;
  readonly observation: Observation;
  readonly snapshot: Snapshot;
}

/** An episode with its trail, so that steps can be taken back and moments returned to. */
class Session {
  private trail: readonly Moment[];
  private readonly saved = new Map<string, readonly Moment[]>();

  constructor(private readonly environment: Environment) {
    this.trail = [this.moment(null)];
  }

  private moment(command: string | null): Moment {
    const { environment } = this;
    return { command, observation: environment.observation(), snapshot: environment.snapshot() };
  }

  answer(typed: string): Answer {
    const [key, ...rest] = typed.split(/\s+/);
    const name = rest.join(' ');
    switch (key) {
      case '':
      case ':list':
        return { page: true };
      case ':help':
        return { message: help };
      case ':undo':
        if (this.trail.length === 1) return { message: 'This is the start.' };
        return this.goTo(this.trail.slice(0, -1));
      case ':restart':
        return this.goTo(this.trail.slice(0, 1));
      case ':save':
        if (name === '') return { message: 'Give the moment a name: :save NAME.' };
        this.saved.set(name, this.trail);
        return { message: `Remembered as ${printable(name)}.` };
      case ':restore':
        return this.restore(name);
      case ':hint':
        return { message: this.environment.done ? OVER : this.hint() };
      case ':state':
        return { message: hiddenState(this.environment) };
    }
    if (key!.startsWith(':')) return { message: `There is no ${printable(key!)}; :help lists what can be typed.` };
    return this.step(typed);
  }

  private goTo(trail: readonly Moment[]): Answer {
    this.environment.restore(trail.at(-1)!.snapshot);
    this.trail = trail;
    return { page: true };
  }

  private restore(name: string): Answer {
    const trail = this.saved.get(name);
    if (trail !== undefined) return this.goTo(trail);
    const names = [...this.saved.keys()].map(printable);
    return {
      message: names.length === 0 ? 'Nothing is remembered yet: :save NAME.' : `Remembered are ${names.join(', ')}.`,
    };
  }

  private hint(): string {
    const expert = this.environment.expert('searching');
    for (const { command, observation } of this.trail) expert.observe(command, observation);
    return expert.next();
  }

  private step(typed: string): Answer {
    const { environment } = this;
    if (environment.done) return { message: OVER };
    const listed = environment.admissible();
    const isNumber = /^\d+$/.test(typed);
    if (isNumber && listed[Number(typed) - 1] === undefined) {
      return { message: `The list has the numbers 1 to ${listed.length}.` };
    }
    const command = isNumber ? listed[Number(typed) - 1]! : typed;
    const { reward, info } = environment.step(command);
    this.trail = [...this.trail, this.moment(command)];
    return { page: true, reward, ...(info.effective ? {} : { message: `${printable(command)} has no effect.` }) };
  }
}

/** What no policy sees, in words. */
function hiddenState(environment: Environment): string {
  if (environment instanceof RoomsEnvironment) return hiddenRoom(floorPlan(environment.hidden));
  if (environment instanceof ShopEnvironment) return hiddenSession(environment);
  return environment.stateKey();
}

function hiddenRoom({ at, hand, receptacles, objects }: FloorPlan): string {
  const described = new Map(
    objects.map(({ name, properties, lit }) => [name, [name, ...properties, ...(lit ? ['lit'] : [])].join(' ')]),
  );
  const places = receptacles.map(({ name, door, objects: inside }) => {
    const list = inside.map((object) => described.get(object)!).join(', ');
    return `${name}${door === null ? '' : ` (${door})`}: ${list || 'nothing'}`;
  });
  return [
    ...places,
    `you are at: ${at ?? 'the middle of the room'}`,
    `in hand: ${hand === null ? 'nothing' : described.get(hand)!}`,
  ].join('\n');
}

function hiddenSession({ hiddenGoal, hiddenState }: ShopEnvironment): string {
  const { goal, shop } = hiddenGoal;
  const product = shop.products[hiddenState.product];
  const selected = product === undefined ? {} : selectedOptions(product, hiddenState.selected);
  return [
    `wanted product: ${goal.productId}`,
    `query: ${printable(hiddenState.query) || 'none'}`,
    `selected: ${
      Object.entries(selected)
        .map(([name, value]) => `${name} ${value}`)
        .join(', ') || 'nothing'
    }`,
  ].join('\n');
}

function asJson({ message, reward }: Answer, environment: Environment): unknown {
  const { goal, episodeId, stepIndex: step, stepLimit, done, won } = environment;
  return {
    ...(message === undefined ? {} : { message }),
    episode_id: episodeId,
    goal,
    step,
    step_limit: stepLimit,
    observation: environment.observation().text,
    admissible: environment.admissible(),
    reward: reward ?? 0,
    done,
    won,
  };
}

function asText({ message, page }: Answer, environment: Environment): string {
  const { stepIndex, stepLimit, done, won } = environment;
  const parts = message === undefined ? [] : [message];
  if (page) {
    parts.push(`[${stepIndex}/${stepLimit}] ${environment.observation().text}`);
    if (!done) parts.push(environment.admissible().map(numbered).join('\n'));
    else parts.push(won ? 'The goal is reached.' : OVER);
  }
  return `${parts.join('\n')}\n> `;
}

function numbered(command: string, i: number): string {
  return `${String(i + 1).padStart(4)}  ${command}`;
}

/** The lines of a stream as they come; the last one need not be ended. */
async function* lines(input: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const piece of input) {
    const complete = (rest + decoder.decode(piece, { stream: true })).split('\n');
    rest = complete.pop()!;
    yield* complete;
  }
  if (rest !== '') yield rest;
}
