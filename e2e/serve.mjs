// Builds the page and serves it under a sub-path with plain static files, the way a project page of a static host does.
import { fileURLToPath } from 'node:url';
import { build, preview } from 'vite';

const root = fileURLToPath(new URL('..', import.meta.url));
await build({ root, logLevel: 'warn' });
await preview({
  root,
  base: '/hgpo-playground/',
  logLevel: 'warn',
  preview: { port: Number(process.argv[2]), strictPort: true },
});
