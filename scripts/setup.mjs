// What `npm start`, `npm test` and `npm run hgpo` need before anything else can run, and how to get it.
// Plain Node without dependencies: this file runs when node_modules does not exist yet.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const projectRoot = resolve(dirname(fileURLToPath(import.meta.url)), '..');

/** Ends the process with one sentence that says what is missing and what to do. */
export function stop(sentence, code = 1) {
  process.stderr.write(`${sentence}\n`);
  process.exit(code);
}

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  stop(
    `This project needs Node 20.19 or newer and found ${process.versions.node}: install a newer Node and run the command again.`,
  );
}

function run(command, args, options = {}) {
  return spawnSync(command, args, { cwd: projectRoot, stdio: ['ignore', 2, 2], ...options });
}

/** Runs npm by the copy that started us where there is one, so that no second npm is picked up from the PATH. */
function npm(args) {
  const cli = process.env.npm_execpath;
  return cli?.endsWith('.js')
    ? run(process.execPath, [cli, ...args])
    : run('npm', args, { shell: process.platform === 'win32' });
}

/** Installs the packages of the lock file unless exactly these are there. */
export function ensurePackages() {
  if (installedAsLocked()) return;
  process.stderr.write('Installing packages…\n');
  // `--include=dev`: where NODE_ENV is production npm would leave out the very tools that build the page.
  if (npm(['ci', '--include=dev', '--loglevel=error', '--no-audit', '--no-fund']).status !== 0) {
    stop(
      'The packages could not be installed: `npm ci` failed (its message is above); check the network or the npm registry and run the command again.',
    );
  }
}

// Compares contents, not times: a fresh checkout gives the lock file a new time although nothing changed, and an
// installation without development packages is younger than the lock file although it lacks what builds the page.
function installedAsLocked() {
  const packages = (file) => JSON.parse(readFileSync(join(projectRoot, file), 'utf8')).packages;
  const installed = join('node_modules', '.package-lock.json');
  if (!existsSync(join(projectRoot, installed))) return false;
  const have = packages(installed);
  return Object.entries(packages('package-lock.json')).every(
    ([name, entry]) => name === '' || entry.optional || have[name]?.version === entry.version,
  );
}

/** Those of these commands and paths that exist, as absolute paths, in order. */
function existing(candidates) {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return candidates
    .flatMap((candidate) => (/[\\/]/.test(candidate) ? candidate : folders.map((folder) => join(folder, candidate))))
    .filter((path) => existsSync(path));
}

// Ubuntu's chromium-browser without its snap, or a browser of another architecture, is there and does not run. On macOS
// and Windows an installed application does; on Windows asking for the version would open a window.
function runs(path) {
  if (process.platform !== 'linux') return true;
  return spawnSync(path, ['--version'], { stdio: 'ignore', timeout: 20_000 }).status === 0;
}

function installedBrowser() {
  const mac = (app) => `/Applications/${app}.app/Contents/MacOS/${app}`;
  const windows = (path) =>
    [process.env.PROGRAMFILES, process.env['PROGRAMFILES(X86)'], process.env.LOCALAPPDATA]
      .filter(Boolean)
      .map((base) => join(base, path));
  return existing([
    'chromium',
    'chromium-browser',
    'google-chrome-stable',
    'google-chrome',
    'microsoft-edge-stable',
    'microsoft-edge',
    ...(process.platform === 'darwin' ? ['Google Chrome', 'Chromium', 'Microsoft Edge'].map(mac) : []),
    ...(process.platform === 'win32'
      ? [...windows('Google\\Chrome\\Application\\chrome.exe'), ...windows('Microsoft\\Edge\\Application\\msedge.exe')]
      : []),
  ]).find(runs);
}

const isRoot = process.getuid?.() === 0;
const isDebian = existsSync('/etc/debian_version') && existing(['apt-get']).length > 0;

let packageListsFresh = false;
function aptInstall(packages) {
  const environment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  if (!packageListsFresh) packageListsFresh = run('apt-get', ['update', '-qq'], { env: environment }).status === 0;
  return (
    run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...packages], { env: environment }).status === 0
  );
}

// Playwright's own Chromium, where it has been downloaded before or can be now.
async function playwrightBrowser() {
  const { chromium } = await import('playwright');
  if (existsSync(chromium.executablePath())) return chromium.executablePath();
  process.stderr.write("Installing Playwright's Chromium…\n");
  const cli = join(projectRoot, 'node_modules', 'playwright', 'cli.js');
  // With the system libraries where we may install them.
  run(process.execPath, [cli, 'install', ...(isDebian && isRoot ? ['--with-deps'] : []), 'chromium']);
  return existsSync(chromium.executablePath()) ? chromium.executablePath() : undefined;
}

/**
 * Finds a Chromium with WebGPU (an installed Chrome, Chromium or Edge; on Debian as root from the package manager;
 * otherwise Playwright's own) and returns its path. Ends the process with one sentence where none can be had.
 */
export async function ensureBrowser() {
  const named = process.env.CHROMIUM_PATH;
  if (named) {
    if (existsSync(named) && runs(named)) return named;
    stop(`CHROMIUM_PATH names ${named}, which does not run: correct it, or unset it to let a browser be found.`);
  }
  let path = installedBrowser();
  if (!path && isDebian && isRoot) {
    process.stderr.write('Installing Chromium from the package manager…\n');
    if (aptInstall(['chromium'])) path = installedBrowser();
  }
  path ??= await playwrightBrowser();
  if (!path) {
    stop(
      'The browser tests need a Chromium with WebGPU and none was found or could be installed: install Chrome, Chromium or Edge, or set CHROMIUM_PATH to one, and run the command again.',
    );
  }
  return path;
}

/**
 * The libraries behind llvmpipe, the software adapter that Dawn reaches through OpenGL ES. Installed on Debian as root;
 * elsewhere Node's WebGPU takes whatever adapter the machine has.
 */
export function ensureSoftwareAdapter() {
  if (process.platform !== 'linux') return;
  const libraries = ['/usr/lib/x86_64-linux-gnu', '/usr/lib/aarch64-linux-gnu', '/usr/lib64', '/usr/lib'];
  const missing = ['libEGL.so', 'libEGL_mesa.so.0', 'libGLESv2.so.2'].filter(
    (file) => !libraries.some((folder) => existsSync(join(folder, file))),
  );
  if (missing.length === 0) return;
  if (isDebian && isRoot) {
    process.stderr.write('Installing the software graphics libraries…\n');
    if (aptInstall(['libegl1', 'libegl-dev', 'libegl-mesa0', 'libgles2', 'libgl1-mesa-dri'])) return;
  }
  process.stderr.write(
    `Without ${missing.join(', ')} (Debian: libegl1 libegl-dev libegl-mesa0 libgles2 libgl1-mesa-dri) Node's WebGPU uses whatever other adapter it finds.\n`,
  );
}
