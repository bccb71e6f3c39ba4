import type { FixtureFile } from './fixtures.ts';
import type * as folderFixtures from './fixtures.ts';
import { isLossFile } from './loss-cases.ts';

/**
 * The golden loss files where the test runs: in Node from the folder that FIXTURES_DIR names, in a browser, which has no
 * files, from the project's own copy.
 */
export async function readLossFixtures(): Promise<FixtureFile[]> {
  if (typeof window === 'undefined') {
    // Kept out of the browser's module graph: it reads files.
    const nodeModule = './fixtures.ts';
    const { readFixtures } = (await import(/* @vite-ignore */ nodeModule)) as typeof folderFixtures;
    return readFixtures('advantages', isLossFile);
  }
  const files = import.meta.glob<FixtureFile['data']>('./fixtures/advantages/*.json', { import: 'default' });
  const read = await Promise.all(Object.entries(files).map(async ([file, load]) => ({ file, data: await load() })));
  return read.filter(({ file, data }) => isLossFile(file, data));
}
