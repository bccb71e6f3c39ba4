import * as z from 'zod';
import {
  checkName,
  checkSeed,
  checkSnapshot,
  type Environment,
  EnvironmentNotResetError,
  type EpisodeOptions,
  type Expert,
  type ExpertKind,
  ForeignSnapshotError,
  type Observation,
  OptionError,
  type PresetName,
  presetNames,
  type Snapshot,
  type StepInfo,
  type StepResult,
  WIN_REWARD,
} from '../environment.ts';
import { textKey } from '../text-key.ts';
import { GENERATOR_VERSION, type Product, productCounts } from './catalogue.ts';
import { ShopOracle, ShopSearcher } from './experts.ts';
import { choiceQueries, type Goal, instructionText, MAX_CHOICE_QUERIES, shopSplit, shopSplits } from './goal.ts';
import { donePage, type Page, searchPage, type ShopEvent, type SubPage, subPages } from './page.ts';
import { type PurchaseScore, scorePurchase } from './score.ts';
import { openShop, type Shop } from './shop.ts';
import { categories } from './vocabulary.ts';

/** `choice`: the search page offers queries made from the instruction. `generation`: the policy writes its own. */
export const queryModes = ['choice', 'generation'] as const;
export type QueryMode = (typeof queryModes)[number];

/** What stands in the admissible list for "any search" in generation mode. */
export const ANY_SEARCH = 'search[...]';

export interface ShopOptions extends EpisodeOptions {
  /** Products in the catalogue, 10 to 2000. */
  readonly products?: number;
  /** Whole number from 0 to 2³¹−1: which catalogue. The cut of its goals into splits depends on it alone. */
  readonly catalogueSeed?: number;
  readonly queryMode?: QueryMode;
  /** How many of the five queries of choice mode are offered, from the least specific on. */
  readonly queries?: number;
}

/** XS is small enough to enumerate: a few hundred to a few thousand states a goal. */
export const shopPresets: Readonly<Record<PresetName, { products: number; queries: number }>> = {
  XS: { products: 30, queries: 1 },
  S: { products: 100, queries: 3 },
  M: { products: 300, queries: 5 },
  L: { products: 1000, queries: 5 },
  XL: { products: 2000, queries: 5 },
};

/** Steps to a purchase in the paper's first version; later settings use 15. */
export const SHOP_STEP_LIMIT = 30;

const SNAPSHOT_VERSION = 1;

/** Where a session stands. Fields that the page has no use for are at their neutral value. */
export interface ShopState {
  readonly page: 'search' | 'results' | 'item' | SubPage | 'done';
  /** '' before a search. */
  readonly query: string;
  /** Page of results, from 1. */
  readonly resultsPage: number;
  /** Number in the catalogue; −1 on the search and results pages. */
  readonly product: number;
  /** For each option group of the product, in order, the number of the selected value or −1. */
  readonly selected: readonly number[];
}

const startState: ShopState = { page: 'search', query: '', resultsPage: 1, product: -1, selected: [] };

interface Episode {
  readonly id: string;
  readonly shop: Shop;
  readonly goal: Goal;
  readonly stepLimit: number;
  /** Queries made from the instruction, from the least to the most specific. */
  readonly queries: readonly string[];
  /** What the search page lists. */
  readonly searches: readonly string[];
}

export interface ShopStepInfo extends StepInfo<ShopEvent> {
  /** The parts of the score, on the step of a purchase. */
  readonly purchase?: PurchaseScore;
}

export interface ShopStepResult extends StepResult<ShopEvent> {
  readonly info: ShopStepInfo;
}

/** A toy of WebShop: search, compare, choose options, buy. The rules are WebShop's, the catalogue is ours. */
export class ShopEnvironment implements Environment<ShopOptions, ShopEvent> {
  readonly name = 'shop';
  readonly splits = shopSplits;
  /** The categories: what kind of product the goal asks for. */
  readonly tasks: readonly string[];

  private episode: Episode | null = null;
  private state = startState;
  private steps = 0;
  private purchase: PurchaseScore | null = null;
  private shown: Page = searchPage;

  /** @param shop a catalogue of one's own in place of the generated ones; options that choose a catalogue are then refused. */
  constructor(private readonly shop: Shop | null = null) {
    this.tasks = shop === null ? categories.map(({ name }) => name) : categoryNames(shop.products);
  }

  /**
   * Starts the episode of a seed: the (seed mod n)-th of the n goals of its split and, where given, its category.
   * @param task a category; goals of all categories when left out.
   */
  reset(seed: number, task?: string, options: ShopOptions = {}): Observation<ShopEvent> {
    checkSeed(seed);
    const preset = checkName('preset', options.preset ?? 'L', presetNames);
    const split = shopSplit(options.split ?? 'train');
    const queryMode = checkName('query mode', options.queryMode ?? 'choice', queryModes);
    const stepLimit = checkCount('step limit', options.stepLimit ?? SHOP_STEP_LIMIT, 1, 1000);
    const queries = checkCount(
      'number of queries',
      options.queries ?? shopPresets[preset].queries,
      1,
      MAX_CHOICE_QUERIES,
    );
    if (task !== undefined) checkName('category', task, this.tasks);
    const [shop, catalogueName] = this.openCatalogue(preset, options);
    const ofSplit = shop.goals[split];
    const goals = task === undefined ? ofSplit : ofSplit.filter((goal) => goal.categoryPath[0] === task);
    if (goals.length === 0) {
      const present = [...new Set(ofSplit.map((goal) => goal.categoryPath[0]!))].sort();
      throw new OptionError(
        `Split ${split} of this catalogue has no goal of category ${task ?? 'any'}: accepted are ${present.join(', ') || 'none'}.`,
      );
    }
    const goal = goals[seed % goals.length]!;
    const id = [`shop-${GENERATOR_VERSION}`, ...catalogueName, split, seed];
    if (task !== undefined) id.push(`task=${task}`);
    if (queries !== shopPresets[preset].queries) id.push(`queries=${queries}`);
    if (queryMode !== 'choice') id.push(`queryMode=${queryMode}`);
    if (stepLimit !== SHOP_STEP_LIMIT) id.push(`stepLimit=${stepLimit}`);
    const offered = choiceQueries(goal, queries);
    this.episode = {
      id: id.join('/'),
      shop,
      goal,
      stepLimit,
      queries: offered,
      searches: queryMode === 'choice' ? offered.map((query) => `search[${query}]`).sort() : [ANY_SEARCH],
    };
    this.steps = 0;
    this.goTo(startState);
    return this.shown.observation;
  }

  private openCatalogue(preset: PresetName, options: ShopOptions): [Shop, string[]] {
    if (this.shop !== null) {
      for (const name of ['preset', 'products', 'catalogueSeed'] as const) {
        if (options[name] !== undefined)
          throw new OptionError(`This shop has a catalogue of its own: leave out ${name}.`);
      }
      return [this.shop, ['own']];
    }
    const { least, most } = productCounts;
    const products = checkCount('number of products', options.products ?? shopPresets[preset].products, least, most);
    const catalogueSeed = options.catalogueSeed ?? 0;
    checkSeed(catalogueSeed);
    const name = [
      preset,
      ...(products === shopPresets[preset].products ? [] : [`products=${products}`]),
      ...(catalogueSeed === 0 ? [] : [`catalogue=${catalogueSeed}`]),
    ];
    return [openShop(catalogueSeed, products), name];
  }

  /** Every split takes every seed; episodes 0, 1, 2, … walk through the goals of the split, then begin again. */
  seedForEpisode(split: string, index: number): number {
    shopSplit(split);
    checkSeed(index);
    return index;
  }

  step(action: string | number): ShopStepResult {
    const episode = this.current();
    if (this.done) return this.result(false, false, 0);
    const command = typeof action === 'number' ? (this.admissible()[action] ?? '') : action;
    const next = this.follow(command, episode);
    this.steps++;
    if (next !== null) this.goTo(next);
    return this.result(true, next !== null, this.won ? WIN_REWARD : 0);
  }

  /** The state that a command leads to, or null where it has no effect. */
  private follow(command: string, { shop }: Episode): ShopState | null {
    const parsed = /^(search|click)\[(.+)\]$/s.exec(command.trim());
    if (parsed === null) return null;
    const argument = parsed[2]!.toLowerCase();
    if (parsed[1] === 'search') return { ...startState, page: 'results', query: argument };
    const { state } = this;
    if (!this.shown.targets.has(argument)) return null;
    if (argument === 'back to search') return startState;
    if (state.page === 'results') {
      if (argument === 'next >') return { ...state, resultsPage: state.resultsPage + 1 };
      if (argument === '< prev') return { ...state, resultsPage: state.resultsPage - 1 };
      const product = shop.productNumber(argument);
      const groups = Object.keys(shop.products[product]!.options).length;
      return { ...state, page: 'item', product, selected: new Array<number>(groups).fill(-1) };
    }
    if (state.page !== 'item') return { ...state, page: 'item' }; // '< prev' on a sub-page
    if (argument === '< prev') return { ...state, page: 'results', product: -1, selected: [] };
    if (argument === 'buy now') return { ...state, page: 'done' };
    if ((subPages as readonly string[]).includes(argument)) return { ...state, page: argument as SubPage };
    const values = Object.values(shop.products[state.product]!.options);
    const group = values.findIndex((list) => list.some((value) => value.toLowerCase() === argument));
    const value = values[group]!.findIndex((text) => text.toLowerCase() === argument);
    return { ...state, selected: state.selected.with(group, value) };
  }

  private goTo(state: ShopState): void {
    const { shop, goal } = this.current();
    this.state = state;
    this.shown = pageOf(state, shop);
    this.purchase = null;
    if (state.page === 'done') {
      const product = shop.products[state.product]!;
      this.purchase = scorePurchase(product, product.priceCents, selectedOptions(product, state.selected), goal);
    }
  }

  private result(active: boolean, effective: boolean, reward: number): ShopStepResult {
    const { purchase } = this;
    const info: ShopStepInfo = {
      active,
      effective,
      won: this.won,
      truncated: this.truncated,
      score: purchase?.score ?? 0,
      event: this.shown.observation.event,
      stepIndex: this.steps,
      episodeId: this.episodeId,
      ...(purchase === null ? {} : { purchase }),
    };
    return { observation: this.shown.observation, reward, done: this.done, info };
  }

  /** A search of one's own words is carried out on every page but listed on none; see `queryMode` for the search page. */
  admissible(): readonly string[] {
    const { searches } = this.current();
    return this.state.page === 'search' ? searches : this.shown.commands;
  }

  /** All but the sub-pages of an item, which only inform. */
  acting(): readonly string[] {
    return this.admissible().filter((command) => !informing.has(command));
  }

  observation(): Observation<ShopEvent> {
    this.current();
    return this.shown.observation;
  }

  snapshot(): Snapshot {
    const { page, query, resultsPage, product, selected } = this.state;
    const text = JSON.stringify([this.steps, page, query, resultsPage, product, selected]);
    return {
      environment: 'shop',
      version: SNAPSHOT_VERSION,
      episodeId: this.episodeId,
      state: new TextEncoder().encode(text),
    };
  }

  restore(snapshot: Snapshot): void {
    checkSnapshot(snapshot, 'shop', SNAPSHOT_VERSION, this.episodeId);
    const [steps, state] = readState(snapshot.state, this.current());
    this.steps = steps;
    this.goTo(state);
  }

  anchorKey(): string {
    return textKey(this.observation().text);
  }

  stateKey(): string {
    this.current();
    const { page, query, resultsPage, product, selected } = this.state;
    return JSON.stringify([page, query, resultsPage, product, selected]);
  }

  get goal(): string {
    return instructionText(this.current().goal);
  }

  get task(): string {
    return this.current().goal.categoryPath[0]!;
  }

  get episodeId(): string {
    return this.current().id;
  }

  get stepIndex(): number {
    return this.steps;
  }

  get stepLimit(): number {
    return this.current().stepLimit;
  }

  get done(): boolean {
    return this.state.page === 'done' || this.steps >= this.current().stepLimit;
  }

  get won(): boolean {
    return this.purchase?.score === 1;
  }

  get truncated(): boolean {
    return this.done && this.purchase === null;
  }

  /** The hidden state, for tests, experts and viewers who ask for it. */
  get hiddenState(): ShopState {
    this.current();
    return this.state;
  }

  /** The queries made from the instruction, from the least to the most specific: what choice mode offers. */
  get queries(): readonly string[] {
    return this.current().queries;
  }

  /** The whole goal, target product included, and the shop that it belongs to. */
  get hiddenGoal(): { readonly goal: Goal; readonly shop: Shop } {
    const { goal, shop } = this.current();
    return { goal, shop };
  }

  expert(kind: ExpertKind): Expert {
    switch (kind) {
      case 'oracle':
        return new ShopOracle(this);
      case 'searching':
        return new ShopSearcher(this.current().goal, this.queries);
    }
  }

  private current(): Episode {
    if (this.episode === null) throw new EnvironmentNotResetError('shop');
    return this.episode;
  }
}

const informing: ReadonlySet<string> = new Set(subPages.map((name) => `click[${name}]`));

function categoryNames(products: readonly Product[]): string[] {
  return [...new Set(products.map((product) => product.categoryPath[0]))];
}

function checkCount(what: string, value: number, least: number, most: number): number {
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw new OptionError(`The ${what} must be a whole number from ${least} to ${most}, not ${value}.`);
}

/** The selected values of a product by the name of their group; groups without a choice are left out. */
export function selectedOptions(product: Product, selected: readonly number[]): Record<string, string> {
  const chosen: Record<string, string> = {};
  for (const [group, [name, values]] of Object.entries(product.options).entries()) {
    if (selected[group]! >= 0) chosen[name] = values[selected[group]!]!;
  }
  return chosen;
}

function pageOf(state: ShopState, shop: Shop): Page {
  switch (state.page) {
    case 'search':
      return searchPage;
    case 'done':
      return donePage;
    case 'item':
      return shop.pages(state.product).item;
    case 'results':
      return shop.resultsPage(state.query, state.resultsPage);
    case 'description':
    case 'features':
    case 'reviews':
      return shop.pages(state.product).subPages[state.page];
  }
}

const snapshotState = z.tuple([
  z.int().min(0),
  z.enum(['search', 'results', 'item', ...subPages, 'done']),
  z.string(),
  z.int().min(1),
  z.int().min(-1),
  z.array(z.int().min(-1)),
]);

/** @throws ForeignSnapshotError where the bytes are no state of this episode. */
function readState(bytes: Uint8Array, { id, shop, stepLimit }: Episode): [number, ShopState] {
  const parsed = snapshotState.safeParse(parseJson(new TextDecoder().decode(bytes)));
  if (parsed.success) {
    const [steps, page, query, resultsPage, product, selected] = parsed.data;
    const isOnProduct = page !== 'search' && page !== 'results';
    const groups = isOnProduct ? Object.values(shop.products[product]?.options ?? {}) : [];
    const fits =
      steps <= stepLimit &&
      isOnProduct === product >= 0 &&
      product < shop.products.length &&
      selected.length === groups.length &&
      selected.every((value, group) => value < groups[group]!.length);
    if (fits) return [steps, { page, query, resultsPage, product, selected }];
  }
  throw new ForeignSnapshotError(
    `This snapshot holds no state of the shop episode ${id}: take a new one with snapshot().`,
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
