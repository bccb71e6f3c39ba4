import type { Expert, Observation } from '../environment.ts';
import type { ShopEnvironment } from './environment.ts';
import type { Goal } from './goal.ts';
import { type ListedProduct, RESULTS_PER_PAGE, type ShopEvent } from './page.ts';

/** Knows the target: searches with the query that ranks it best, leafs to its page, chooses the options, buys. */
export class ShopOracle implements Expert {
  constructor(private readonly environment: ShopEnvironment) {}

  observe(): void {
    // Everything is read from the hidden state.
  }

  next(): string {
    const { page, query, resultsPage, product, selected } = this.environment.hiddenState;
    const { goal, shop } = this.environment.hiddenGoal;
    const target = shop.productNumber(goal.productId);
    const place = (words: string) => {
      const found = shop.index.search(words).indexOf(target);
      return found < 0 ? Infinity : found;
    };
    if (page === 'search') {
      const best = this.environment.queries.reduce((a, b) => (place(b) < place(a) ? b : a));
      return `search[${best}]`;
    }
    if (page === 'results') {
      const targetPage = Math.floor(place(query) / RESULTS_PER_PAGE) + 1;
      if (targetPage === Infinity) return 'click[back to search]';
      if (targetPage !== resultsPage) return targetPage > resultsPage ? 'click[next >]' : 'click[< prev]';
      return click(goal.productId);
    }
    if (page !== 'item' || product !== target) return 'click[< prev]';
    const wanted = Object.entries(shop.products[target]!.options).find(
      ([name, values], group) => name in goal.options && values[selected[group]!] !== goal.options[name],
    );
    return wanted === undefined ? 'click[buy now]' : click(goal.options[wanted[0]]!);
  }
}

function click(target: string): string {
  return `click[${target.toLowerCase()}]`;
}

/** What the instruction says. */
type Instruction = Pick<Goal, 'query' | 'attributes' | 'options' | 'priceUpperCents'>;

/** A product as far as its pages have been seen. */
interface KnownProduct {
  readonly options: Readonly<Record<string, readonly string[]>>;
  features: readonly string[] | null;
}

/**
 * Knows the instruction and what the pages showed. Takes the most specific query; opens the products of the right kind
 * and price in the order of the ranking; looks at the features where the title leaves an attribute open; buys the first
 * product that has every attribute and option asked for. It keeps its bearings when other commands come between its own.
 */
export class ShopSearcher implements Expert {
  private page: ShopEvent = { kind: 'search' };
  private query = '';
  private product = '';
  private selected: Record<string, string> = {};
  private readonly known = new Map<string, KnownProduct>();
  private readonly rejected = new Set<string>();
  /** By query: how much it found, and its pages of results that have no candidate left. */
  private readonly searches = new Map<string, { total: number; readonly spent: Set<number> }>();

  constructor(
    private readonly wanted: Instruction,
    private readonly queries: readonly string[],
  ) {}

  observe(command: string | null, { event }: Observation): void {
    const page = event as ShopEvent;
    const argument = /^(?:search|click)\[(.+)\]$/s.exec(command?.trim() ?? '')?.[1]?.toLowerCase() ?? '';
    switch (page.kind) {
      case 'results':
        if (command?.trim().startsWith('search[')) this.query = argument;
        if (!this.searches.has(this.query)) this.searches.set(this.query, { total: page.total, spent: new Set() });
        break;
      case 'item':
        if (this.page.kind === 'results' || this.page.kind === 'search') this.selected = {};
        else this.noteSelection(page.options, argument);
        this.product = page.id;
        if (!this.known.has(page.id)) {
          this.known.set(page.id, { options: page.options, features: null });
        }
        break;
      case 'subpage':
        if (page.subPage === 'features' && this.known.has(this.product)) {
          this.known.get(this.product)!.features = page.lines;
        }
        break;
      case 'search':
      case 'done':
        break;
    }
    this.page = page;
  }

  private noteSelection(options: KnownProduct['options'], clicked: string): void {
    for (const [name, values] of Object.entries(options)) {
      const value = values.find((text) => text.toLowerCase() === clicked);
      if (value !== undefined) this.selected[name] = value;
    }
  }

  next(): string {
    const { page } = this;
    switch (page.kind) {
      case 'search':
        return `search[${this.nextQuery()}]`;
      case 'results':
        return this.onResults(page.page, page.products);
      case 'item':
        return this.onItem(page);
      case 'subpage':
      case 'done':
        return 'click[< prev]';
    }
  }

  /** The most specific query whose results are not all turned down; from the beginning when there is none. */
  private nextQuery(): string {
    const specificFirst = this.queries.toReversed();
    const open = specificFirst.find((query) => {
      const key = query.toLowerCase();
      return !this.searches.has(key) || this.openPage(key) !== null;
    });
    if (open !== undefined) return open;
    this.searches.clear();
    this.rejected.clear();
    return specificFirst[0]!;
  }

  /** The first page of a query's results that may have a candidate, or null. */
  private openPage(query: string): number | null {
    const { total, spent } = this.searches.get(query)!;
    for (let page = 1; page <= Math.ceil(total / RESULTS_PER_PAGE); page++) if (!spent.has(page)) return page;
    return null;
  }

  private onResults(page: number, products: readonly ListedProduct[]): string {
    const candidates = products.filter((product) => this.isCandidate(product));
    if (candidates.length > 0) {
      // A ranking by the kind alone says nothing of the attributes; the titles do.
      const open = candidates.map(({ title }) => this.openAttributes(title).length);
      const best = this.query === this.wanted.query ? open.indexOf(Math.min(...open)) : 0;
      return click(candidates[best]!.id);
    }
    this.searches.get(this.query)!.spent.add(page);
    const open = this.openPage(this.query);
    if (open === null) return 'click[back to search]';
    return open > page ? 'click[next >]' : 'click[< prev]';
  }

  private isCandidate({ id, title, priceCents }: ListedProduct): boolean {
    const { query, priceUpperCents } = this.wanted;
    return !this.rejected.has(id) && title.includes(query) && priceCents <= priceUpperCents;
  }

  /** The attributes asked for that the title does not name. */
  private openAttributes(title: string): string[] {
    return this.wanted.attributes.filter((attribute) => !title.includes(attribute));
  }

  private onItem(page: ListedProduct): string {
    const { options: offered, features } = this.known.get(page.id)!;
    const wanted = Object.entries(this.wanted.options);
    const open = this.openAttributes(page.title);
    const lacksOption = wanted.some(([name, value]) => !offered[name]?.includes(value));
    const lacksAttribute = features !== null && open.some((attribute) => !features.some((f) => f.includes(attribute)));
    if (!this.isCandidate(page) || lacksOption || lacksAttribute) {
      this.rejected.add(page.id);
      return 'click[< prev]';
    }
    if (open.length > 0 && features === null) return 'click[features]';
    const unselected = wanted.find(([name, value]) => this.selected[name] !== value);
    return unselected === undefined ? 'click[buy now]' : click(unselected[1]);
  }
}
