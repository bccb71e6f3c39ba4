#!/usr/bin/env node
// `npm run hgpo -- <command>`: the command line. The sources are TypeScript and import shaders as text, so they are
// bundled once (about a second) into .cache/cli and again only when a source file is newer than the bundle.
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensurePackages, projectRoot, stop } from './setup.mjs';

const target = join(projectRoot, '.cache', 'cli');
const entry = join(target, 'main.js');

function newest(path) {
  if (!statSync(path).isDirectory()) return statSync(path).mtimeMs;
  // A folder's own time changes when a file is deleted from it.
  return readdirSync(path).reduce((latest, name) => Math.max(latest, newest(join(path, name))), statSync(path).mtimeMs);
}

function isCurrent() {
  if (!existsSync(entry)) return false;
  const sources = ['src', 'shaders', 'package-lock.json', 'vite.config.ts'].map((name) => join(projectRoot, name));
  return sources.every((path) => !existsSync(path) || newest(path) <= statSync(entry).mtimeMs);
}

if (!isCurrent()) {
  ensurePackages();
  const { build } = await import('vite');
  // Built beside the target and moved there in one step: two commands may start at the same time.
  const fresh = `${target}.${process.pid}`;
  try {
    await build({
      root: projectRoot,
      configFile: join(projectRoot, 'vite.config.ts'),
      mode: 'cli',
      logLevel: 'error',
      publicDir: false,
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
    stop(`The command line could not be built: ${error.message}`);
  }
  mkdirSync(join(projectRoot, '.cache'), { recursive: true });
  rmSync(target, { recursive: true, force: true });
  try {
    renameSync(fresh, target);
  } catch {
    rmSync(fresh, { recursive: true, force: true }); // another process was first, with the same sources
  }
}

const { main } = await import(pathToFileURL(entry).href);
await main(process.argv.slice(2));
