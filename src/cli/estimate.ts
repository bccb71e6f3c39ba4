import type { Command } from 'commander';
import { estimate, type Estimate } from '../estimators/estimate.ts';
import { methodNames } from '../estimators/registry.ts';
import { reportSentences, type ImportResult } from '../rollouts/import.ts';
import { newCommand, type CommonOptions, type Terminal } from './command.ts';
import { UsageError } from './errors.ts';
import { nothingRemains, readRolloutFile } from './rollout-file.ts';
import { settingsOf, withEstimatorOptions, type EstimatorOptions } from './settings.ts';
import { cellText, printable } from './table.ts';

/** `hgpo estimate FILE --method M`: a line per row of the file, in its order. */
export function estimateCommand(terminal: Terminal): Command {
  return withEstimatorOptions(
    newCommand('estimate', 'Returns, advantages and levels of every row of a rollout file.')
      .argument('<FILE>', 'rollout file; - is standard input')
      .requiredOption('--method <name>', methodNames.join(', '))
      .option('--dialect <id>', 'how the file is written; `hgpo formats` lists them'),
  ).action(async (file: string, options: CommonOptions & EstimatorOptions & { dialect?: string }) => {
    settingsOf(options); // before a large file is read for nothing
    const imported = await readRolloutFile(file, options.dialect, terminal);
    const result = estimate(imported.batch, settingsOf(options, imported.batch));
    for (const line of options.json ? jsonLines(imported, result) : tableOf(imported, result)) {
      await terminal.out.write(line);
    }
    await terminal.out.flush();
    if (imported.batch.rowCount === 0) throw new UsageError(nothingRemains(file, imported.report));
    for (const sentence of [...reportSentences(imported.report), ...result.notices]) terminal.say(printable(sentence));
  });
}

/** JSON texts of interned strings, each made once. */
function quoted(values: readonly string[]): string[] {
  return values.map((value) => JSON.stringify(value));
}

/** NaN marks what is not there; JSON says null. */
function jsonNumber(value: number): string {
  return Number.isFinite(value) ? String(value) : 'null';
}

function* jsonLines(
  { batch, rows }: ImportResult,
  { returns, advantage, inLoss, levels }: Estimate,
): Generator<string> {
  const task = quoted(batch.tasks.values);
  const trajectory = quoted(batch.trajectories.values);
  for (let i = 0; i < rows.count; i++) {
    const row = rows.batchRow[i]!;
    if (row === -1) {
      const { task: uid, trajectory: traj_uid, step, reason } = rows.refused.get(i)!;
      const line = rows.line[i]!;
      yield `${JSON.stringify({ uid, traj_uid, step, advantage: null, refused: reason, line })}\n`;
      continue;
    }
    let levelText = '';
    for (const level of levels) {
      if (level.size[row] === 0) continue;
      if (levelText !== '') levelText += ',';
      levelText += `{"k":${level.k},"size":${level.size[row]},"advantage":${jsonNumber(level.advantage[row]!)},"weight":${jsonNumber(level.weight[row]!)}}`;
    }
    yield (
      `{"uid":${task[batch.task[row]!]},"traj_uid":${trajectory[batch.trajectory[row]!]},"step":${batch.step[row]},` +
      `"return":${jsonNumber(returns[row]!)},"advantage":${jsonNumber(advantage[row]!)},"levels":[${levelText}]` +
      `${inLoss[row] === 1 ? '' : ',"in_loss":false'}}\n`
    );
  }
}

/** Widest id column; longer ids are cut in the table, not in `--json`. */
const widestId = 28;

function* tableOf({ batch, rows }: ImportResult, { returns, advantage, inLoss, levels }: Estimate): Generator<string> {
  const shown = (text: string) => {
    const safe = printable(text);
    return safe.length > widestId ? `${safe.slice(0, widestId - 1)}…` : safe;
  };
  const width = (values: readonly string[], title: string) =>
    values.reduce((widest, value) => Math.max(widest, shown(value).length), title.length);
  const taskWidth = width(batch.tasks.values, 'uid');
  const trajectoryWidth = width(batch.trajectories.values, 'traj_uid');
  const number = (value: number) => (Number.isNaN(value) ? '–' : cellText(value)).padStart(10);
  yield (
    `${'uid'.padEnd(taskWidth)}  ${'traj_uid'.padEnd(trajectoryWidth)}  step      return   advantage` +
    `${levels.map(({ k }) => `  |G${k}|          A${k}`).join('')}\n`
  );
  for (let i = 0; i < rows.count; i++) {
    const row = rows.batchRow[i]!;
    if (row === -1) {
      const { task, trajectory, step, reason } = rows.refused.get(i)!;
      yield `${shown(task ?? '–').padEnd(taskWidth)}  ${shown(trajectory ?? '–').padEnd(trajectoryWidth)}  ${String(step ?? '–').padStart(4)}  refused (line ${rows.line[i]}): ${printable(reason)}\n`;
      continue;
    }
    yield (
      `${shown(batch.tasks.values[batch.task[row]!]!).padEnd(taskWidth)}  ` +
      `${shown(batch.trajectories.values[batch.trajectory[row]!]!).padEnd(trajectoryWidth)}  ${String(batch.step[row]).padStart(4)}  ` +
      `${number(returns[row]!)}  ${number(advantage[row]!)}` +
      `${levels.map((level) => `  ${String(level.size[row] || '–').padStart(4)}  ${number(level.advantage[row]!)}`).join('')}` +
      `${inLoss[row] === 1 ? '' : '  not in the loss'}\n`
    );
  }
}
