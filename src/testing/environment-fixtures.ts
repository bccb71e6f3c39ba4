import { readFixtures, type environmentKinds, type FixtureFile } from './fixtures.ts';

/**
 * The conformance files of one kind, known by the start of their name; none where the folder lacks the kind.
 * @throws when the folder has no file of any kind, so that a wrong path cannot pass.
 */
export function environmentFixtures(kind: (typeof environmentKinds)[number]): FixtureFile[] {
  return readFixtures('environments', (file) => file.startsWith(kind));
}
