import { Command } from 'commander';

/** The command that the bench starts for each software adapter, in a process of its own; not for people. */
export function benchAdapterCommand(): Command {
  return new Command('bench-adapter').action(async () => {
    const [{ serveAdapter }, { engineTasks }] = await Promise.all([
      import('./adapter-process.ts'),
      import('./engine-tasks.ts'),
    ]);
    await serveAdapter(engineTasks);
  });
}
