import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const projectCopy = resolve(dirname(fileURLToPath(import.meta.url)), 'fixtures');

/** The folder with golden files of one kind: under FIXTURES_DIR where that is set, else the project's own copy. */
export function fixtureFolder(kind: 'advantages' | 'environments'): string {
  return join(process.env.FIXTURES_DIR ?? projectCopy, kind);
}

/** One data table of the project's own copy (receptacles, objects, …), whatever FIXTURES_DIR says. */
export function projectFixture(kind: 'advantages' | 'environments', file: string): unknown {
  return JSON.parse(readFileSync(join(projectCopy, kind, file), 'utf8'));
}

export interface FixtureFile {
  readonly file: string;
  // Golden files are read by tests alone, which name each field that they use.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly data: any;
}

/** What environment files are known by: the start of their name. */
export const environmentKinds = [
  'conformance-rooms',
  'conformance-aliasing',
  'conformance-shop',
  'conformance-text-policy',
  'shop-reward-cases',
  'episodes',
  'state-space',
] as const;

const isKnown = {
  advantages: (_file: string, data: FixtureFile['data']) =>
    data?.schema === 'hgpo-advantages/1' || data?.schema === 'hgpo-loss/1',
  environments: (file: string) => environmentKinds.some((kind) => file.startsWith(kind)),
};

/**
 * The golden files that a test reads, from the folder that `fixtureFolder` names; none where the folder has known files
 * of other kinds alone.
 * @throws when the folder does not exist or has no file of any known kind, so that a wrong path cannot pass.
 */
export function readFixtures(
  kind: 'advantages' | 'environments',
  isRead: (file: string, data: FixtureFile['data']) => boolean,
): FixtureFile[] {
  const folder = fixtureFolder(kind);
  if (!existsSync(folder)) throw new Error(`No fixtures: the folder ${folder} does not exist.`);
  const known = readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .sort()
    .map((file) => ({ file, data: JSON.parse(readFileSync(join(folder, file), 'utf8')) }))
    .filter(({ file, data }) => isKnown[kind](file, data));
  if (known.length === 0) throw new Error(`No fixtures: ${folder} has no file of a known kind.`);
  return known.filter(({ file, data }) => isRead(file, data));
}
