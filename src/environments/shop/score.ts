import { baseColours, reduceToBaseColour } from './base-colours.ts';
import { tokenSetRatio } from './token-set-ratio.ts';

/** What the score reads of a product. */
export interface ScoredProduct {
  readonly title: string;
  readonly nounTokens: readonly string[];
  /** The kind phrase. */
  readonly query: string;
  /** Three levels: category, group, kind. */
  readonly categoryPath: readonly string[];
  readonly attributes: readonly string[];
  readonly bullets: readonly string[];
  readonly description: string;
}

/** What the score reads of a goal. */
export interface ScoredGoal {
  readonly nounTokens: readonly string[];
  readonly query: string;
  readonly categoryPath: readonly string[];
  readonly attributes: readonly string[];
  /** Option name → value, or values alone. */
  readonly options: Readonly<Record<string, string>> | readonly string[];
  readonly priceUpperCents: number;
}

export interface PurchaseScore {
  /** In [0, 1]; exactly 1 is a success. */
  readonly score: number;
  readonly typeFactor: 0 | 0.1 | 0.5 | 1;
  /** Share of the goal's nouns that the product has; 0.2 for a goal without nouns. */
  readonly titleScore: number;
  readonly queryMatch: boolean;
  readonly categoryMatch: boolean;
  readonly attributeMatches: number;
  readonly optionMatches: number;
  readonly priceOk: boolean;
}

/** Texts above this tokenSetRatio count as the same. */
const SAME_TEXT = 85;

/**
 * The score of buying `product` at `priceCents` with the option values `selected`, as in WebShop (Yao et al., "WebShop:
 * towards scalable real-world web interaction with grounded language agents", 2022):
 *
 *     score = typeFactor · (attribute matches + option matches + [price within bound]) / (attributes + options + 1)
 */
export function scorePurchase(
  product: ScoredProduct,
  priceCents: number,
  selected: Readonly<Record<string, string>>,
  goal: ScoredGoal,
): PurchaseScore {
  const attributeMatches = countAttributeMatches(product, goal.attributes);
  const wanted = wantedOptions(goal.options);
  const chosen = Object.values(selected).map(reduceToBaseColour);
  const optionMatches = wanted.filter((option) => chosen.some((s) => tokenSetRatio(s, option) > SAME_TEXT)).length;
  const priceOk = priceCents <= goal.priceUpperCents;
  const type = typeOf(product, goal);
  const matches = attributeMatches + optionMatches + (priceOk ? 1 : 0);
  return {
    score: (type.typeFactor * matches) / (goal.attributes.length + wanted.length + 1),
    ...type,
    attributeMatches,
    optionMatches,
    priceOk,
  };
}

function countAttributeMatches(product: ScoredProduct, attributes: readonly string[]): number {
  const title = product.title.toLowerCase();
  const bullets = product.bullets.join(' ').toLowerCase();
  const description = product.description.toLowerCase();
  return attributes.filter(
    (wanted) =>
      product.attributes.some((has) => tokenSetRatio(has, wanted) > SAME_TEXT) ||
      title.includes(wanted) ||
      bullets.includes(wanted) ||
      description.includes(wanted),
  ).length;
}

/**
 * The texts that selected values are compared with. WebShop's reduction of a name → value pair tests the pair for
 * *membership* of a colour and a plain value for the colour as a *part*; both are kept, because rewards depend on it.
 */
function wantedOptions(options: ScoredGoal['options']): string[] {
  if (isList(options)) return options.map(reduceToBaseColour);
  return Object.entries(options).map(([name, value]) => {
    const colour = baseColours.find((word) => word === name || word === value);
    return colour ?? `${name} ${value}`;
  });
}

function isList(options: ScoredGoal['options']): options is readonly string[] {
  return Array.isArray(options);
}

function typeOf(
  product: ScoredProduct,
  goal: ScoredGoal,
): Pick<PurchaseScore, 'typeFactor' | 'titleScore' | 'queryMatch' | 'categoryMatch'> {
  const goalNouns = new Set(goal.nounTokens);
  const titleScore = goalNouns.size === 0 ? 0.2 : countShared(goalNouns, product.nounTokens) / goalNouns.size;
  const queryMatch = product.query === goal.query;
  const categoryMatch = countShared(new Set(goal.categoryPath), product.categoryPath) >= 2;
  let typeFactor: PurchaseScore['typeFactor'] = queryMatch || categoryMatch || titleScore > 0.2 ? 1 : 0.5;
  if (titleScore < 0.1) typeFactor = 0.1;
  if (titleScore === 0) typeFactor = 0;
  return { typeFactor, titleScore, queryMatch, categoryMatch };
}

function countShared(set: ReadonlySet<string>, items: readonly string[]): number {
  return new Set(items.filter((item) => set.has(item))).size;
}
