import type { Observation } from '../environment.ts';
import type { Product } from './catalogue.ts';
import { dollars } from './price.ts';

/** Products on one page of results. */
export const RESULTS_PER_PAGE = 10;

/** Longest title in the compact results, and longest compact sub-page, in words. */
const COMPACT_TITLE_WORDS = 8;
const COMPACT_TEXT_WORDS = 40;

export const subPages = ['description', 'features', 'reviews'] as const;
export type SubPage = (typeof subPages)[number];

export interface ListedProduct {
  readonly id: string;
  readonly title: string;
  readonly priceCents: number;
}

/**
 * A page as it is shown: neither the instruction nor the query nor the selected options are on it, so that a click on an
 * option leaves the observation as it was.
 */
export type ShopEvent =
  | { readonly kind: 'search' }
  | {
      readonly kind: 'results';
      /** From 1; pages past the last result are empty. */
      readonly page: number;
      /** Products found, at most 50. */
      readonly total: number;
      readonly products: readonly ListedProduct[];
    }
  | ({ readonly kind: 'item'; readonly options: Product['options'] } & ListedProduct)
  | { readonly kind: 'subpage'; readonly subPage: SubPage; readonly lines: readonly string[] }
  | { readonly kind: 'done' };

/** A page as it is shown, with what can be clicked on it. Built once and shared by all sessions that come there. */
export interface Page {
  readonly observation: Observation<ShopEvent>;
  /** In lower case. */
  readonly targets: ReadonlySet<string>;
  /** `click[<target>]` for each target, sorted by character code. */
  readonly commands: readonly string[];
}

function page(observation: Observation<ShopEvent>): Page {
  const targets = clickTargets(observation.event);
  return { observation, targets: new Set(targets), commands: targets.map((target) => `click[${target}]`).sort() };
}

export const searchPage = page({
  text: 'Search page. Any words can be searched for.',
  compact: 'search',
  brief: 'search',
  event: { kind: 'search' },
});

export const donePage = page({
  text: 'The purchase is made.',
  compact: 'done',
  brief: 'done',
  event: { kind: 'done' },
});

/** A product with its texts, written once: pages are put together from them. */
export class ProductPages {
  readonly item: Page;
  readonly subPages: Readonly<Record<SubPage, Page>>;
  readonly listed: ListedProduct;
  readonly listedText: string;
  readonly listedCompact: string;

  constructor(product: Product) {
    const { id, title, priceCents } = product;
    const compactId = id.toLowerCase();
    const price = dollars(priceCents);
    this.listed = { id, title, priceCents };
    this.listedText = `${id} ${title} $${price}`;
    this.listedCompact = `${compactId} ${firstWords(title, COMPACT_TITLE_WORDS)} ${price}`;
    const options = Object.entries(product.options).map(([name, values]) => `${name}: ${values.join(', ')}`);
    const compactOptions = Object.entries(product.options).map(([name, values]) => `${name} ${values.join(' , ')}`);
    this.item = page({
      text: `${id}: ${title}. Price $${price}. ${options.length > 0 ? `Options: ${options.join('; ')}. ` : ''}Rating n/a.`,
      compact: `item ${title} price ${price}${options.length > 0 ? ` options ${compactOptions.join(' ; ')}` : ''}`,
      brief: `item ${compactId}`,
      event: { kind: 'item', ...this.listed, options: product.options },
    });
    this.subPages = {
      description: subPage('description', [product.description]),
      features: subPage('features', product.bullets),
      reviews: subPage('reviews', []),
    };
  }
}

function subPage(name: SubPage, lines: readonly string[]): Page {
  const text = lines.join('; ');
  return page({
    text: `${name[0]!.toUpperCase()}${name.slice(1)}: ${text || 'none'}.`,
    compact: `text ${firstWords(lines.join(' ; ') || `no ${name}`, COMPACT_TEXT_WORDS)}`,
    brief: `text ${name}`,
    event: { kind: 'subpage', subPage: name, lines },
  });
}

/** One page of a ranking of `total` products, with the products that are on it. */
export function resultsPage(number: number, total: number, products: readonly ProductPages[]): Page {
  const texts = products.map((product) => product.listedText);
  const compacts = products.map((product) => product.listedCompact);
  return page({
    text: `Results, page ${number}, ${total} found: ${texts.join('; ') || 'nothing here'}.`,
    compact: `results ${number} total ${total} :${compacts.length > 0 ? ` ${compacts.join(' ; ')}` : ''}`,
    brief: `results ${number}`,
    event: { kind: 'results', page: number, total, products: products.map((product) => product.listed) },
  });
}

function firstWords(text: string, count: number): string {
  return text.split(' ').slice(0, count).join(' ');
}

/** What a page lets one click, in the order in which the page shows it, in lower case. `search` lists no clicks. */
export function clickTargets(event: ShopEvent): string[] {
  switch (event.kind) {
    case 'search':
    case 'done':
      return [];
    case 'results':
      return [
        'back to search',
        ...(event.page > 1 ? ['< prev'] : []),
        'next >',
        ...event.products.map((product) => product.id.toLowerCase()),
      ];
    case 'item':
      return [
        'back to search',
        '< prev',
        ...subPages,
        'buy now',
        ...Object.values(event.options).flatMap((values) => values.map((value) => value.toLowerCase())),
      ];
    case 'subpage':
      return ['back to search', '< prev'];
  }
}
