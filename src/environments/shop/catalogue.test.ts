import { describe, expect, test } from 'vitest';
import { OptionError } from '../environment.ts';
import { reduceToBaseColour } from './base-colours.ts';
import { generateCatalogue } from './catalogue.ts';
import { choiceQueries, generateGoals, instructionText, shopSplits } from './goal.ts';
import { clickTargets, ProductPages, RESULTS_PER_PAGE } from './page.ts';
import { scorePurchase } from './score.ts';
import { Shop } from './shop.ts';

const sizes = [200, 1000, 2000];
const shops = sizes.flatMap((size) =>
  [0, 1].map((seed) => {
    const products = generateCatalogue(seed, size);
    return { size, seed, products, shop: new Shop(products, generateGoals(seed, products)) };
  }),
);

describe.each(shops)('a catalogue of $size products, seed $seed', ({ size, seed, products, shop }) => {
  const goals = shopSplits.flatMap((split) => shop.goals[split]);
  const target = (id: string) => products[shop.productNumber(id)]!;

  test('is a function of its seed', () => {
    expect(generateCatalogue(seed, size)).toEqual(products);
    expect(generateGoals(seed, products)).toEqual(shop.goals);
    expect(generateCatalogue(seed + 100, size)).not.toEqual(products);
  });

  test('has products of the promised form', () => {
    expect(new Set(products.map(({ id }) => id)).size).toBe(size);
    for (const product of products) {
      expect(product.id).toMatch(/^B\d{4}$/);
      expect(Number.isInteger(product.priceCents)).toBe(true);
      expect(product.priceCents).toBeGreaterThanOrEqual(500);
      expect(product.priceCents).toBeLessThanOrEqual(15000);
      expect(product.nounTokens.length).toBeGreaterThanOrEqual(3);
      expect(product.nounTokens.length).toBeLessThanOrEqual(8);
      expect(product.attributes.length).toBeGreaterThanOrEqual(2);
      expect(product.attributes.length).toBeLessThanOrEqual(5);
      expect(product.bullets).toHaveLength(product.attributes.length);
      const groups = Object.values(product.options);
      expect(groups.length).toBeLessThanOrEqual(2);
      for (const values of groups) {
        expect(values.length).toBeGreaterThanOrEqual(2);
        expect(values.length).toBeLessThanOrEqual(6);
      }
      const targets = clickTargets(new ProductPages(product).item.observation.event);
      expect(new Set(targets).size, 'an option value is named like a button').toBe(targets.length);
      expect(shop.productNumber(groups.flat()[0] ?? '')).toBe(-1);
    }
    const withExtraNouns = products.filter(({ title }) => title.includes(' with ')).length;
    expect(withExtraNouns / size).toBeGreaterThan(0.2);
    expect(withExtraNouns / size).toBeLessThan(0.4);
    expect(new Set(products.map(({ categoryPath }) => categoryPath[0])).size).toBe(10);
  });

  test('a search for the kind alone lists the target among the first ten for 40 to 80 % of the goals, one with all attributes for at least 95 %', () => {
    const found = (query: (goal: (typeof goals)[number]) => string) =>
      goals.filter((goal) => {
        const firstPage = shop.index.rank(query(goal)).subarray(0, RESULTS_PER_PAGE);
        return firstPage.includes(shop.productNumber(goal.productId));
      }).length / goals.length;
    const byKind = found((goal) => goal.query);
    expect(byKind).toBeGreaterThan(0.4);
    expect(byKind).toBeLessThan(0.8);
    expect(found((goal) => `${goal.attributes.join(' ')} ${goal.query}`)).toBeGreaterThanOrEqual(0.95);
  });

  test('has one goal a product, in disjoint splits, with a tenth of the kinds kept out of all but one', () => {
    expect(new Set(goals.map(({ productId }) => productId)).size).toBe(size);
    expect(goals).toHaveLength(size);
    const kinds = (split: (typeof shopSplits)[number]) => new Set(shop.goals[split].map(({ query }) => query));
    const heldOut = kinds('out-of-distribution');
    for (const split of ['train', 'validation', 'test'] as const) {
      expect([...kinds(split)].filter((kind) => heldOut.has(kind))).toEqual([]);
    }
    const common = size - shop.goals['out-of-distribution'].length;
    expect(heldOut.size).toBe(Math.round(new Set(products.map(({ query }) => query)).size / 10));
    expect(shop.goals.test).toHaveLength(Math.round(common / 10));
    expect(shop.goals.validation).toHaveLength(Math.round(common / 10));
  });

  test('asks for what its target has, at a bound above its price', () => {
    for (const goal of goals) {
      const product = target(goal.productId);
      expect(scorePurchase(product, product.priceCents, goal.options, goal).score).toBe(1);
      expect(goal.priceUpperCents % 1000).toBe(0);
      expect(goal.priceUpperCents).toBeGreaterThan(product.priceCents);
      expect(goal.priceUpperCents).toBeLessThanOrEqual(product.priceCents + 4000);
      expect(choiceQueries(goal).length).toBeLessThanOrEqual(5);
      expect(new Set(choiceQueries(goal)).size).toBe(choiceQueries(goal).length);
    }
  });

  test('the only wrong option values that pass are shades of the base colour and the plain colour of a shade', () => {
    for (const goal of goals.slice(0, 300)) {
      const product = target(goal.productId);
      for (const [name, values] of Object.entries(product.options)) {
        for (const value of values) {
          const wanted = goal.options[name]!;
          const base = reduceToBaseColour(value);
          const passes = base === reduceToBaseColour(wanted) || (name === 'color' && wanted.split(' ').includes(base));
          const { optionMatches } = scorePurchase(
            product,
            product.priceCents,
            { ...goal.options, [name]: value },
            goal,
          );
          expect(optionMatches, `${value} for ${wanted}`).toBe(Object.keys(goal.options).length - (passes ? 0 : 1));
        }
      }
    }
  });

  test('purchases of other products give every type factor that eight nouns allow', () => {
    const factors = new Set<number>();
    for (const [i, goal] of goals.slice(0, 60).entries()) {
      for (let j = i; j < size; j += 11) factors.add(scorePurchase(products[j]!, 500, {}, goal).typeFactor);
    }
    expect([...factors].sort()).toEqual([0, 0.5, 1]);
  });
});

test('the instruction says what is wanted in one sentence', () => {
  const { goals } = shops[0]!.shop;
  const goal = {
    ...goals.train[0]!,
    query: 'running shoes',
    attributes: ['non slip', 'quick dry'],
    priceUpperCents: 4000,
  };
  expect(instructionText({ ...goal, options: { color: 'grey', size: '9' } })).toBe(
    'need non slip, quick dry running shoes with color: grey, size: 9, price below 40',
  );
  expect(instructionText({ ...goal, options: {} })).toBe('need non slip, quick dry running shoes, price below 40');
});

test.each([9, 2001, 10.5, NaN])('a catalogue of %s products is refused', (count) => {
  expect(() => generateCatalogue(0, count)).toThrow(OptionError);
});
