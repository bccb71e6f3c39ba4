// `npm test`: install what is missing, then types, lint, unit tests, kernels on a software adapter, and the built page
// in a real browser. `npm run test:long` adds the other adapters and the long repeats. Ends with `N passed, N failed`.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ensureBrowser, ensurePackages, ensureSoftwareAdapter, projectRoot } from './setup.mjs';

const long = process.argv.includes('--long');

ensurePackages();
process.env.CHROMIUM_PATH = await ensureBrowser();
ensureSoftwareAdapter();

const bin = (name, file) => join(projectRoot, 'node_modules', name, file);
const vitest = (...projects) => [
  bin('vitest', 'vitest.mjs'),
  'run',
  '--passWithNoTests',
  ...projects.flatMap((project) => ['--project', project]),
];

const stages = [
  ['types', [bin('typescript', 'bin/tsc'), '--noEmit']],
  ['lint', [bin('eslint', 'bin/eslint.js'), '.', '--max-warnings', '0']],
  ['format', [bin('prettier', 'bin/prettier.cjs'), '--check', '--log-level', 'warn', '.']],
  ['unit', vitest('node')],
  ['kernels in Node', vitest('node-llvmpipe')],
  ['kernels and workers in Chromium', vitest('chromium-swiftshader')],
  ['page', [bin('@playwright/test', 'cli.js'), 'test']],
];
if (long) {
  stages.push(['kernels on the other adapters', vitest('node-swiftshader', 'chromium-llvmpipe')]);
}

const environment = { ...process.env, ...(long ? { HGPO_LONG: '1' } : {}) };
const failed = [];
for (const [name, command] of stages) {
  const start = Date.now();
  process.stdout.write(`\n── ${name}\n`);
  const { status } = spawnSync(process.execPath, command, { cwd: projectRoot, stdio: 'inherit', env: environment });
  if (status !== 0) failed.push(name);
  process.stdout.write(
    `── ${name}: ${status === 0 ? 'passed' : 'FAILED'} in ${((Date.now() - start) / 1000).toFixed(0)} s\n`,
  );
}
if (failed.length > 0) process.stdout.write(`\nfailed: ${failed.join(', ')}`);
process.stdout.write(`\nstages: ${stages.length - failed.length} passed, ${failed.length} failed\n`);
process.exit(failed.length > 0 ? 1 : 0);
