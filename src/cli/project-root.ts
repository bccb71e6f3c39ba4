import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The folder above this module that holds package.json: the sources and the bundled command line both lie under it. */
export function projectRoot(): string {
  let folder = import.meta.dirname;
  while (!existsSync(join(folder, 'package.json')) && dirname(folder) !== folder) folder = dirname(folder);
  return folder;
}
