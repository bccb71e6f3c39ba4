#!/usr/bin/env node
// `npm run hgpo -- <command>`: the command line. The sources are TypeScript and import shaders as text, so they are
// bundled (about a second) into .cache/cli, once for each state of the sources.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensurePackages, projectRoot, stop } from './setup.mjs';

const bundles = join(projectRoot, '.cache', 'cli');
const keptFor = 7 * 24 * 3600 * 1000; // ms; a command that runs for days still loads parts of its own bundle

/** A name for the state of everything that a bundle is made from. */
function stateOfSources() {
  const hash = createHash('sha256');
  const add = (path) => {
    const stat = statSync(join(projectRoot, path), { throwIfNoEntry: false });
    if (stat?.isDirectory()) for (const name of readdirSync(join(projectRoot, path)).sort()) add(`${path}/${name}`);
    else if (stat && !/\.test\.tsx?$/.test(path)) hash.update(`${path}\n${stat.size}\n${stat.mtimeMs}\n`);
  };
  for (const path of ['src', 'shaders', 'package-lock.json', 'vite.config.ts', 'scripts/hgpo.mjs']) add(path);
  return hash.digest('hex').slice(0, 16);
}

async function bundle(target) {
  // Built beside the target and moved there in one step: two commands may start at the same time.
  const fresh = `${target}.${process.pid}`;
  try {
    const { build } = await import('vite');
    await build({
      root: projectRoot,
      configFile: join(projectRoot, 'vite.config.ts'),
      mode: 'cli',
      logLevel: 'error',
      build: {
        ssr: join(projectRoot, 'src/cli/main.ts'),
        outDir: fresh,
        emptyOutDir: true,
        copyPublicDir: false,
        target: 'node20',
        minify: false,
        rollupOptions: { output: { entryFileNames: '[name].js' } },
      },
    });
  } catch (error) {
    rmSync(fresh, { recursive: true, force: true });
    stop(`The command line could not be built: ${error.message}`, 70);
  }
  try {
    renameSync(fresh, target);
  } catch {
    rmSync(fresh, { recursive: true, force: true }); // another process was first, with the same sources
  }
  for (const name of readdirSync(bundles)) {
    const path = join(bundles, name);
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat && Date.now() - stat.mtimeMs > keptFor) rmSync(path, { recursive: true, force: true });
  }
}

ensurePackages();
mkdirSync(bundles, { recursive: true });
const target = join(bundles, stateOfSources());
const entry = join(target, 'main.js');
if (!existsSync(entry)) await bundle(target);
const { main } = await import(pathToFileURL(entry).href);
// npm runs a script in the project's folder; the files that a person names are relative to where the person is.
const { npm_lifecycle_event: script, INIT_CWD: startedIn } = process.env;
if (script === 'hgpo' && startedIn) process.chdir(startedIn);
await main(process.argv.slice(2));
