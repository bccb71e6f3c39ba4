import type { Command } from 'commander';
import { reportSentences } from '../rollouts/import.ts';
import { newCommand, type CommonOptions, type Terminal } from './command.ts';
import { readRolloutFile } from './rollout-file.ts';
import { printable } from './table.ts';

/** `hgpo report FILE`: what an import found and what it left out. */
export function reportCommand(terminal: Terminal): Command {
  return newCommand('report', 'What an import of a rollout file finds, and what it leaves out and why.')
    .argument('<FILE>', 'rollout file; - is standard input')
    .option('--dialect <id>', 'how the file is written; `hgpo formats` lists them')
    .action(async (file: string, options: CommonOptions & { dialect?: string }) => {
      const { report } = await readRolloutFile(file, options.dialect, terminal);
      if (options.json) await terminal.out.line(report);
      else for (const sentence of reportSentences(report)) await terminal.out.write(`${printable(sentence)}\n`);
    });
}
