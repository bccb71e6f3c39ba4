import type { Command } from 'commander';
import { dialects } from '../rollouts/dialects.ts';
import { newCommand, type CommonOptions, type Terminal } from './command.ts';
import { tableLines } from './table.ts';

/** `hgpo formats`: the ways in which rollouts can be written in files. */
export function formatsCommand(terminal: Terminal): Command {
  return newCommand('formats', 'The dialects of rollout files that can be read and written.').action(
    async (options: CommonOptions) => {
      if (options.json) {
        for (const { id, title, description, extensions, writes } of dialects) {
          await terminal.out.line({ id, title, description, extensions, reads: true, writes });
        }
        return;
      }
      const rows = dialects.map(({ id, title, extensions, writes }) => [
        id,
        title,
        extensions.join(' '),
        writes ? 'read, write' : 'read',
      ]);
      for (const line of tableLines(['id', 'title', 'files', 'can'], rows)) await terminal.out.write(`${line}\n`);
      for (const { id, description } of dialects) await terminal.out.write(`\n${id}: ${description}\n`);
    },
  );
}
