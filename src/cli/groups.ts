import type { Command } from 'commander';
import { levelDiagnostics } from '../analysis/groups.ts';
import { estimate } from '../estimators/estimate.ts';
import { reportSentences } from '../rollouts/import.ts';
import { newCommand, type CommonOptions, type Terminal } from './command.ts';
import { UsageError } from './errors.ts';
import { nothingRemains, readRolloutFile } from './rollout-file.ts';
import { settingsOf, withEstimatorOptions, type EstimatorOptions } from './settings.ts';
import { printable, tableLines } from './table.ts';

/** `hgpo groups FILE --history K`: how large the groups are at each depth of history, and how much they can say. */
export function groupsCommand(terminal: Terminal): Command {
  return withEstimatorOptions(
    newCommand('groups', 'Group sizes, utilisation and share of steps without signal, for each level of the hierarchy.')
      .argument('<FILE>', 'rollout file; - is standard input')
      .option('--dialect <id>', 'how the file is written; `hgpo formats` lists them'),
  ).action(async (file: string, given: CommonOptions & Omit<EstimatorOptions, 'method'> & { dialect?: string }) => {
    const options = { ...given, method: 'hgpo' };
    settingsOf(options); // before a large file is read for nothing
    const imported = await readRolloutFile(file, options.dialect, terminal);
    if (imported.batch.rowCount === 0) throw new UsageError(nothingRemains(file, imported.report));
    const levels = levelDiagnostics(estimate(imported.batch, settingsOf(options, imported.batch)).levels);
    if (options.json) for (const level of levels) await terminal.out.line(level);
    else {
      const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
      const lines = tableLines(
        ['level', 'rows in it', 'groups', 'utilisation', 'without signal'],
        levels.map(({ k, present, groups, utilisation, withoutSignal }) => [
          k,
          present,
          groups,
          percent(utilisation),
          percent(withoutSignal),
        ]),
      );
      const sizes = tableLines(
        ['level', 'group size', 'groups', 'rows', 'share of rows'],
        levels.flatMap(({ k, rows, histogram }) =>
          histogram.map((bin) => [k, bin.size, bin.groups, bin.rows, '█'.repeat(Math.ceil((40 * bin.rows) / rows))]),
        ),
      );
      for (const line of [...lines, '', ...sizes]) await terminal.out.write(`${line}\n`);
    }
    await terminal.out.flush();
    for (const sentence of reportSentences(imported.report)) terminal.say(printable(sentence));
  });
}
