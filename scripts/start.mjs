// `npm start`: install what is missing, build, serve the built page and print its address.
import { ensurePackages, projectRoot, stop } from './setup.mjs';

ensurePackages();
const { build, preview } = await import('vite');
try {
  await build({ root: projectRoot, logLevel: 'warn' });
} catch (error) {
  stop(`The page could not be built: ${error.message}`);
}
const server = await preview({ root: projectRoot, logLevel: 'warn', preview: { host: 'localhost' } });
process.stdout.write(`HGPO Playground is open at ${server.resolvedUrls.local[0]} (Ctrl+C ends it)\n`);
