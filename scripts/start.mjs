// `npm start`: install what is missing, build, serve the built page and print its address.
// `npm start -- --port N` serves at that port; otherwise the first free one from 4173 on is taken.
import { parseArgs } from 'node:util';
import { ensurePackages, projectRoot, stop } from './setup.mjs';

let port;
try {
  const { values } = parseArgs({ options: { port: { type: 'string' } } });
  port = values.port === undefined ? undefined : Number(values.port);
} catch (error) {
  stop(`${error.message.split('. ')[0]}; \`npm start\` takes \`-- --port N\` alone.`, 2);
}
if (port !== undefined && !(Number.isInteger(port) && port > 0 && port < 65536)) {
  stop('The port must be a whole number from 1 to 65535.', 2);
}

ensurePackages();
const { build, preview } = await import('vite');
try {
  await build({ root: projectRoot, logLevel: 'warn' });
} catch (error) {
  stop(`The page could not be built: ${error.message}`);
}
try {
  const server = await preview({
    root: projectRoot,
    logLevel: 'warn',
    preview: { host: 'localhost', ...(port === undefined ? {} : { port, strictPort: true }) },
  });
  process.stdout.write(`HGPO Playground is open at ${server.resolvedUrls.local[0]} (Ctrl+C ends it)\n`);
} catch (error) {
  stop(`The page could not be served: ${error.message}; \`npm start -- --port N\` takes another port.`);
}
