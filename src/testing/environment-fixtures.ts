import { readFixtures, type FixtureFile } from './fixtures.ts';

const kinds = [
  'conformance-rooms',
  'conformance-aliasing',
  'conformance-shop',
  'conformance-text-policy',
  'shop-reward-cases',
  'episodes',
  'state-space',
] as const;

/**
 * The conformance files of one kind, known by the start of their name; none where the folder lacks the kind.
 * @throws when the folder has no file of any kind, so that a wrong path cannot pass.
 */
export function environmentFixtures(kind: (typeof kinds)[number]): FixtureFile[] {
  return readFixtures('environments', (file) => kinds.some((known) => file.startsWith(known))).filter(({ file }) =>
    file.startsWith(kind),
  );
}
