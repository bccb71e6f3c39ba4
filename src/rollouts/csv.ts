import type { RolloutBatch } from './batch.ts';
import { observationText } from './observation.ts';

/** A column beside those of the batch, for example an advantage. */
export interface CsvColumn {
  readonly name: string;
  /** The cell of a batch row; null is an empty cell. */
  cell(row: number): string | number | null;
}

/**
 * Rows as CSV for spreadsheets (RFC 4180: comma, CRLF, quotes doubled), a line at a time, the header first. Text that a
 * spreadsheet would run as a formula gets an apostrophe in front, and so does text that begins with one, so that taking
 * one away gives the original back. Observations that are JSON values appear in canonical form.
 */
export function* writeCsv(batch: RolloutBatch, extra: readonly CsvColumn[] = []): Generator<string> {
  const text = (name: string, column: Int32Array | null, table: { readonly values: readonly string[] }): CsvColumn[] =>
    column ? [{ name, cell: (row) => (column[row] === -1 ? null : table.values[column[row]!]!) }] : [];
  const number = (name: string, column: Float64Array | Int32Array | null): CsvColumn[] =>
    column ? [{ name, cell: (row) => (Number.isNaN(column[row]!) ? null : column[row]!) }] : [];
  const { success } = batch;
  const columns = [
    ...text('uid', batch.task, batch.tasks),
    ...text('traj_uid', batch.trajectory, batch.trajectories),
    ...number('step', batch.step),
    { name: 'anchor_obs', cell: (row: number) => observationText(batch.observations.values[batch.observation[row]!]!) },
    ...text('action', batch.action, batch.actions),
    ...number('reward', batch.reward),
    { name: 'valid', cell: (row: number) => batch.valid[row]! },
    ...number('log_prob', batch.logProb),
    ...number('value', batch.value),
    ...(success ? [{ name: 'success', cell: (row: number) => (success[row] === 2 ? null : success[row]!) }] : []),
    ...text('task_type', batch.taskType, batch.taskTypes),
    ...extra,
  ];
  yield csvLine(columns.map(({ name }) => name));
  for (let row = 0; row < batch.rowCount; row++) yield csvLine(columns.map(({ cell }) => cell(row)));
}

/** One line of CSV, its line end included. */
export function csvLine(cells: readonly (string | number | null)[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

function csvCell(cell: string | number | null): string {
  if (cell === null) return '';
  if (typeof cell === 'number') return String(cell);
  // What spreadsheets take for the start of a formula, the full-width forms of some locales included.
  const safe = /^['=+\-@\t\r\n＝＋－＠]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
