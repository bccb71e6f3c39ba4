import { randomStream, type RandomStream } from '../../random/stream.ts';
import { checkName } from '../environment.ts';
import { GENERATOR_VERSION, type Product } from './catalogue.ts';
import { dollars } from './price.ts';
import type { ScoredGoal } from './score.ts';

/** What to buy. Everything but `productId`, `nounTokens` and `categoryPath` stands in the instruction. */
export interface Goal extends ScoredGoal {
  readonly productId: string;
  readonly options: Readonly<Record<string, string>>;
}

/**
 * Sets of goals. `train`, `validation` and `test` cut the goals of the common kinds 80 : 10 : 10; `out-of-distribution`
 * holds all goals of the tenth of the kinds that no other set has.
 */
export const shopSplits = ['train', 'validation', 'test', 'out-of-distribution'] as const;
export type ShopSplit = (typeof shopSplits)[number];

/** The names that rooms use for the same notions: `seen` is held-out goals of known kinds, `unseen` is unknown kinds. */
const splitAliases: Readonly<Record<string, ShopSplit>> = { seen: 'test', unseen: 'out-of-distribution' };

/** @throws UnknownNameError with the names that are accepted. */
export function shopSplit(name: string): ShopSplit {
  if (Object.hasOwn(splitAliases, name)) return splitAliases[name]!;
  checkName('shop split', name, [...shopSplits, ...Object.keys(splitAliases)]);
  return name as ShopSplit;
}

export type GoalSplits = Readonly<Record<ShopSplit, readonly Goal[]>>;

/**
 * One goal for each product, cut into splits. The cut depends on the catalogue seed alone: goals in catalogue order,
 * shuffled once; the first tenth of the common kinds' goals is `test`, the next `validation`, the rest `train`.
 */
export function generateGoals(seed: number, products: readonly Product[]): GoalSplits {
  const stream = randomStream(seed, 'shop goals', GENERATOR_VERSION);
  const goals = products.map((product, i) => drawGoal(stream.split('goal', i), product));
  stream.split('order').shuffle(goals);
  const kinds = [...new Set(products.map((product) => product.query))];
  stream.split('held out').shuffle(kinds);
  const heldOut = new Set(kinds.slice(0, Math.max(1, Math.round(kinds.length / 10))));
  const common = goals.filter((goal) => !heldOut.has(goal.query));
  const tenth = Math.max(1, Math.round(common.length / 10));
  return {
    train: common.slice(2 * tenth),
    validation: common.slice(tenth, 2 * tenth),
    test: common.slice(0, tenth),
    'out-of-distribution': goals.filter((goal) => heldOut.has(goal.query)),
  };
}

/** One to three of the product's attributes, a value for each option group, a price bound. */
function drawGoal(stream: RandomStream, product: Product): Goal {
  const attributes = [...product.attributes];
  stream.shuffle(attributes);
  const options = Object.entries(product.options).map(([name, values]) => [name, stream.pick(values)] as const);
  return {
    productId: product.id,
    nounTokens: product.nounTokens,
    query: product.query,
    categoryPath: product.categoryPath,
    attributes: attributes.slice(0, 1 + stream.below(Math.min(3, attributes.length))),
    options: Object.fromEntries(options),
    priceUpperCents: drawPriceBound(stream, product.priceCents),
  };
}

/** The larger of two different draws from the first four multiples of 10 dollars above the price. */
function drawPriceBound(stream: RandomStream, priceCents: number): number {
  const bounds = [1, 2, 3, 4].map((n) => (Math.floor(priceCents / 1000) + n) * 1000);
  stream.shuffle(bounds);
  return Math.max(bounds[0]!, bounds[1]!);
}

/** `need <attributes> <kind> with <option>: <value>, …, price below <bound>` */
export function instructionText(goal: Goal): string {
  const options = Object.entries(goal.options).map(([name, value]) => `${name}: ${value}`);
  const wanted = `need ${goal.attributes.join(', ')} ${goal.query}`;
  const withOptions = options.length === 0 ? wanted : `${wanted} with ${options.join(', ')}`;
  return `${withOptions}, price below ${dollars(goal.priceUpperCents)}`;
}

/** The most queries that choice mode offers. */
export const MAX_CHOICE_QUERIES = 5;

/**
 * The queries that choice mode offers, from the least to the most specific, all from words of the instruction: the kind;
 * the first attribute and the kind; all attributes and the kind; these and the option values; the whole instruction.
 * Equal ones are offered once.
 */
export function choiceQueries(goal: Goal, count = MAX_CHOICE_QUERIES): string[] {
  const attributes = goal.attributes.join(' ');
  const queries = [
    goal.query,
    `${goal.attributes[0] ?? ''} ${goal.query}`,
    `${attributes} ${goal.query}`,
    [attributes, goal.query, ...Object.values(goal.options)].join(' '),
    instructionText(goal),
  ];
  return [...new Set(queries.slice(0, count).map((query) => query.trim()))];
}
