import { generateCatalogue, type Product } from './catalogue.ts';
import { generateGoals, type GoalSplits } from './goal.ts';
import { type Page, ProductPages, RESULTS_PER_PAGE, resultsPage } from './page.ts';
import { SearchIndex } from './search.ts';

/** Pages of results that are kept for coming back to; about 4 kB each. */
const KEPT_PAGES = 2048;

/** A catalogue with its search index and its goals: what all episodes of one shop share. Immutable but for caches. */
export class Shop {
  readonly index: SearchIndex;
  private readonly numberOfId = new Map<string, number>();
  private readonly pagesOf: (ProductPages | undefined)[] = [];
  private readonly resultsPages = new Map<string, Page>();

  constructor(
    readonly products: readonly Product[],
    readonly goals: GoalSplits,
  ) {
    this.index = new SearchIndex(products.map(searchableText));
    for (const [number, product] of products.entries()) this.numberOfId.set(product.id.toLowerCase(), number);
  }

  /** The number of the product with this id, whatever its case; −1 where there is none. */
  productNumber(id: string): number {
    return this.numberOfId.get(id.toLowerCase()) ?? -1;
  }

  pages(product: number): ProductPages {
    return (this.pagesOf[product] ??= new ProductPages(this.products[product]!));
  }

  /** A page of the results of a query, from 1; empty past the last result. */
  resultsPage(query: string, number: number): Page {
    const key = `${number} ${query}`;
    let page = this.resultsPages.get(key);
    if (page === undefined) {
      const ranking = this.index.search(query);
      const first = (number - 1) * RESULTS_PER_PAGE;
      const listed = [...ranking.subarray(first, first + RESULTS_PER_PAGE)].map((product) => this.pages(product));
      page = resultsPage(number, ranking.length, listed);
      if (this.resultsPages.size >= KEPT_PAGES) this.resultsPages.delete(this.resultsPages.keys().next().value!);
      this.resultsPages.set(key, page);
    }
    return page;
  }
}

/** What searches look through: title, description, first bullet, option names and values. */
function searchableText(product: Product): string {
  const options = Object.entries(product.options).map(([name, values]) => `${name} ${values.join(' ')}`);
  return [product.title, product.description, product.bullets[0] ?? '', ...options].join(' ');
}

/** Shops that were opened last; a worker serves one or two at a time. */
const opened = new Map<string, Shop>();
const KEPT_SHOPS = 4;

/**
 * The shop of a catalogue seed. Built once and then shared, since it depends on nothing else.
 * @throws OptionError for a product count outside its range.
 */
export function openShop(catalogueSeed: number, productCount: number): Shop {
  const key = `${catalogueSeed}/${productCount}`;
  let shop = opened.get(key);
  if (shop === undefined) {
    const products = generateCatalogue(catalogueSeed, productCount);
    shop = new Shop(products, generateGoals(catalogueSeed, products));
    if (opened.size >= KEPT_SHOPS) opened.delete(opened.keys().next().value!);
    opened.set(key, shop);
  }
  return shop;
}
