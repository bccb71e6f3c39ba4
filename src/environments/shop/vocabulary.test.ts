import { expect, test } from 'vitest';
import { projectFixture } from '../../testing/fixtures.ts';
import { baseColours } from './base-colours.ts';
import { tokenSetRatio } from './token-set-ratio.ts';
import { brands, categories } from './vocabulary.ts';

test('the base colours are those of the reference list, in its order', () => {
  expect(baseColours).toEqual((projectFixture('environments', 'base-colours.json') as { words: string[] }).words);
});

test('no word of the catalogue but the colours contains a base colour by accident', () => {
  const phrases = [
    ...brands,
    ...categories.flatMap(({ name, groups, attributes, nouns, uses }) => [
      name,
      ...attributes,
      ...nouns,
      ...uses,
      ...groups.flatMap((group) => [
        group.name,
        ...group.kinds,
        ...Object.entries(group.options).flatMap(([option, values]) => [option, ...(option === 'color' ? [] : values)]),
      ]),
    ]),
  ];
  const collisions = phrases.flatMap((phrase) =>
    baseColours.filter((colour) => phrase.includes(colour)).map((colour) => `${phrase}: ${colour}`),
  );
  expect(collisions).toEqual([]);
});

test('no two attributes of a category count as the same', () => {
  const alike = categories.flatMap(({ attributes }) =>
    attributes.flatMap((a) => attributes.filter((b) => a < b && tokenSetRatio(a, b) > 85).map((b) => `${a} ~ ${b}`)),
  );
  expect(alike).toEqual([]);
});
