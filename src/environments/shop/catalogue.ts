import { randomStream, type RandomStream } from '../../random/stream.ts';
import { OptionError } from '../environment.ts';
import { brands, categories, type CategoryWords, colours, type GroupWords } from './vocabulary.ts';

/** Raised whenever the same seed would give another catalogue or other goals; part of every episode id. */
export const GENERATOR_VERSION = 1;

export interface Product {
  /** `B` and four digits. */
  readonly id: string;
  readonly title: string;
  /** Nouns of the title, lower case. */
  readonly nounTokens: readonly string[];
  /** The kind phrase, for example "running shoes". */
  readonly query: string;
  /** Category, group, kind. */
  readonly categoryPath: readonly [string, string, string];
  readonly attributes: readonly string[];
  /** Option groups in the order of the page, each with its values; values are unique across the groups of a product. */
  readonly options: Readonly<Record<string, readonly string[]>>;
  readonly priceCents: number;
  /** One per attribute. */
  readonly bullets: readonly string[];
  readonly description: string;
}

export const productCounts = { least: 10, most: 2000 } as const;

/** Prices run from 5.00 to 150.00. */
const LEAST_PRICE_CENTS = 500;
const PRICE_STEPS = 14501;

/**
 * How often the kinds are drawn, in turn over the shuffled kinds. With ten products a kind on average, a search for the
 * kind alone then lists the target among the first ten for 40 to 80 % of the products. Small catalogues have half as many
 * a kind, so that an expert who must open one after the other is done within the step limit.
 */
const popularity = [1, 2, 4];
const productsPerKind = (productCount: number) => (productCount < 200 ? 5 : 10);

interface Kind {
  readonly phrase: string;
  readonly group: GroupWords;
  readonly category: CategoryWords;
}

/**
 * The catalogue of a seed. Each product has a random stream of its own, so that products do not shift one another.
 * @throws OptionError when the count is no whole number from 10 to 2000.
 */
export function generateCatalogue(seed: number, productCount: number): Product[] {
  const { least, most } = productCounts;
  if (!(Number.isInteger(productCount) && productCount >= least && productCount <= most)) {
    throw new OptionError(`A catalogue has ${least} to ${most} products, not ${productCount}.`);
  }
  const stream = randomStream(seed, 'shop catalogue', GENERATOR_VERSION);
  const kinds = drawKinds(stream.split('kinds'), Math.round(productCount / productsPerKind(productCount)));
  const weights = kinds.map((_, i) => popularity[i % popularity.length]!);
  return Array.from({ length: productCount }, (_, i) => {
    const own = stream.split('product', i);
    return drawProduct(own, `B${String(i + 1).padStart(4, '0')}`, kinds[own.pickWeighted(weights)]!);
  });
}

/** At least `count` kinds (all 90 at most), spread over the categories; a group has two kinds or all three. */
function drawKinds(stream: RandomStream, count: number): Kind[] {
  const byCategory = categories.map((category) => {
    const groups = category.groups.map((group) => ({ category, group, kinds: [...group.kinds] }));
    stream.shuffle(groups);
    for (const { kinds } of groups) stream.shuffle(kinds);
    return groups;
  });
  stream.shuffle(byCategory);
  const rounds = [0, 1, 2].flatMap((round) => byCategory.map((groups) => groups[round]!));
  const kinds: Kind[] = [];
  const add = ({ category, group }: (typeof rounds)[number], phrases: string[]) => {
    if (kinds.length < count) kinds.push(...phrases.map((phrase) => ({ phrase, group, category })));
  };
  for (const entry of rounds) add(entry, entry.kinds.slice(0, 2));
  for (const entry of rounds) add(entry, entry.kinds.slice(2));
  stream.shuffle(kinds);
  return kinds;
}

function drawProduct(stream: RandomStream, id: string, { phrase, group, category }: Kind): Product {
  const brand = stream.pick(brands);
  const attributes = sample(stream, category.attributes, 2 + stream.below(4));
  const titleAttributes = attributes.slice(0, 1 + stream.below(2));
  const colour = stream.below(4) === 0 ? [stream.pick(colours)] : [];
  const extraNouns = stream.below(10) < 3 ? sample(stream, category.nouns, 3 + stream.below(2)) : [];
  const title = [
    brand,
    ...titleAttributes,
    phrase,
    ...colour,
    ...(extraNouns.length > 0 ? ['with', ...extraNouns] : []),
  ].join(' ');
  const rest = attributes.filter((attribute) => !titleAttributes.includes(attribute));
  const purpose = `${brand} ${phrase} for ${stream.pick(category.uses)}`;
  return {
    id,
    title,
    nounTokens: [...new Set([brand, ...phrase.split(' '), ...extraNouns])],
    query: phrase,
    categoryPath: [category.name, group.name, phrase],
    attributes,
    options: drawOptions(stream, group),
    priceCents: LEAST_PRICE_CENTS + stream.below(PRICE_STEPS),
    bullets: attributes.map((attribute) => `${attribute} ${stream.pick(category.nouns)}`),
    description: rest.length === 0 ? purpose : `${purpose}, ${rest.join(', ')}`,
  };
}

/** None, one or two of the group's option groups, each with two to six of its values in their natural order. */
function drawOptions(stream: RandomStream, group: GroupWords): Record<string, string[]> {
  const names = sample(stream, Object.keys(group.options), stream.below(3));
  const options: Record<string, string[]> = {};
  for (const name of Object.keys(group.options).filter((name) => names.includes(name))) {
    const values = group.options[name]!;
    const kept = new Set(sample(stream, values, 2 + stream.below(Math.min(5, values.length - 1))));
    options[name] = values.filter((value) => kept.has(value));
  }
  return options;
}

/** `count` different items in random order. */
function sample<T>(stream: RandomStream, items: readonly T[], count: number): T[] {
  const shuffled = [...items];
  stream.shuffle(shuffled);
  return shuffled.slice(0, count);
}
