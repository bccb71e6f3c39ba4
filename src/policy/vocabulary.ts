import type { EnvironmentName } from '../environments/environment.ts';
import { objectTypes, receptacleTypes, roomKinds } from '../environments/rooms/types.ts';
import { RESULTS_PER_PAGE } from '../environments/shop/page.ts';
import { brands, categories } from '../environments/shop/vocabulary.ts';

/**
 * Tokens with a role of their own; everything else is a word. `<task>`, `<room>` (receptacles), `<h>` (observation of a
 * past step), `<a>` (command), `<o>` (current observation) and `<acts>` (admissible commands) open the parts of a prompt,
 * `<think>` and `</think>` enclose the reasoning of a reply, `<end>` ends a reply.
 */
export const specialTokens = [
  '<pad>',
  '<end>',
  '<unk>',
  '<task>',
  '<room>',
  '<h>',
  '<a>',
  '<o>',
  '<acts>',
  '<think>',
  '</think>',
] as const;
export type SpecialToken = (typeof specialTokens)[number];

/** Marks a token that continues a word, as in WordPiece: `10` is the tokens `1` and `##0`. */
export const CONTINUATION = '##';

/** The short name that a prompt gives to the n-th product (from 1) of a results page. */
export function productAlias(place: number): string {
  return `#${place}`;
}

// Words of the fixed phrases in compact texts, goals and commands; the types come from the tables of the environments.
const roomsPhrases = [
  'go to open close take from move heat cool clean with use examine look inventory help',
  'put in then at two',
  'room goal at see has open shut nothing no effect opened took put heated cooled cleaned lit hot empty plain facing hold',
];
const shopPhrases = [
  'need with price below',
  'search results total item price options text description features reviews no done',
  'back to search prev next buy now for',
];
// What reasoning may be made of beside the words of the environment.
const thoughtPhrases = ['find seen not yet have next first done so'];

const punctuation: Record<EnvironmentName, readonly string[]> = {
  rooms: [',', '|'],
  shop: [',', '|', ':', ';', '<', '>', ']', `${CONTINUATION},`, `${CONTINUATION}:`, `${CONTINUATION}]`],
};

function phrases(environment: EnvironmentName): string[] {
  switch (environment) {
    case 'rooms':
      return [...roomsPhrases, ...roomKinds, ...receptacleTypes.keys(), ...objectTypes.keys()];
    case 'shop':
      return [
        ...shopPhrases,
        ...brands,
        ...categories.flatMap(({ groups, attributes, nouns, uses }) => [
          ...attributes,
          ...nouns,
          ...uses,
          ...groups.flatMap((group) => [
            ...group.kinds,
            ...Object.entries(group.options).flatMap(([name, values]) => [name, ...values]),
          ]),
        ]),
      ];
  }
}

/**
 * The tokens of an environment, position = token id: special tokens, digits, punctuation, words in alphabetical order.
 * Numbers are written digit by digit, so that no number is ever unknown. The parts of a shop command (`search[`, `click[`)
 * and the aliases of products on a page are tokens of their own.
 */
export function environmentVocabulary(environments: readonly EnvironmentName[]): string[] {
  const digits = Array.from({ length: 10 }, (_, digit) => String(digit));
  const shop = environments.includes('shop');
  const words = new Set(
    [...thoughtPhrases, ...environments.flatMap(phrases)]
      .flatMap((phrase) => phrase.split(' '))
      .filter((word) => !/[0-9]/.test(word)),
  );
  return [
    ...specialTokens,
    ...digits,
    ...digits.map((digit) => CONTINUATION + digit),
    ...new Set(environments.flatMap((environment) => punctuation[environment])),
    // The letter of product ids.
    ...(shop ? ['b', 'search[', 'click['] : []),
    ...(shop ? Array.from({ length: RESULTS_PER_PAGE }, (_, i) => productAlias(i + 1)) : []),
    ...[...words].sort(),
  ];
}
