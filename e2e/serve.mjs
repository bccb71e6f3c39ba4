// Builds the page and serves it under a sub-path with plain static files, the way a project page of a static host does.
import { build, preview } from 'vite';

const root = new URL('..', import.meta.url).pathname;
await build({ root, logLevel: 'warn' });
await preview({
  root,
  base: '/hgpo-playground/',
  logLevel: 'warn',
  preview: { port: Number(process.argv[2]), strictPort: true },
});
