/** A cell of a table for people. */
export type Cell = string | number | null | undefined;

const digits = new Intl.NumberFormat('en-GB', { maximumSignificantDigits: 6, useGrouping: false });

/** How tables print a number: six significant digits; `--json` has them all. */
export function cellText(cell: Cell): string {
  if (cell === null || cell === undefined) return '–';
  if (typeof cell === 'string') return printable(cell);
  return Number.isFinite(cell) ? digits.format(cell) : String(cell);
}

/** Control characters could move the cursor or recolour the terminal: a file's text shows them as escapes instead. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]/gu, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Lines of a table: columns as wide as their widest cell, numbers flush right. */
export function tableLines(header: readonly string[], rows: readonly (readonly Cell[])[]): string[] {
  const texts = rows.map((row) => row.map(cellText));
  const widths = header.map((title, c) => texts.reduce((width, row) => Math.max(width, row[c]!.length), title.length));
  const right = header.map((_, c) => rows.some((row) => typeof row[c] === 'number'));
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, c) => (right[c] ? cell.padStart(widths[c]!) : cell.padEnd(widths[c]!)))
      .join('  ')
      .trimEnd();
  return [line(header), ...texts.map(line)];
}
