import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rolloutBatch } from './batch.ts';
import { writeCsv } from './csv.ts';
import { jsonObservation } from './observation.ts';

const batchOf = (...actions: string[]) =>
  rolloutBatch(
    actions.map((action, step) => ({
      task: 'u',
      trajectory: 't',
      step,
      observation: jsonObservation('[1,"a"]'),
      action,
      reward: -1,
      valid: true,
    })),
  );

/** RFC 4180, read back by the letter. */
function parse(csv: string): string[][] {
  const rows: string[][] = [];
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/y;
  let row: string[] = [];
  while (cell.lastIndex < csv.length) {
    const [, quoted, plain, end] = cell.exec(csv)!;
    row.push(quoted?.replaceAll('""', '"') ?? plain!);
    if (end === ',') continue;
    rows.push(row);
    row = [];
  }
  return rows;
}

describe('CSV', () => {
  it('has a header, a line per row, numbers at full precision and an empty cell for what is not said', () => {
    const csv = [
      ...writeCsv(batchOf('look'), [
        { name: 'advantage', cell: () => 1 / 3 },
        { name: 'why', cell: () => null },
      ]),
    ].join('');
    expect(csv).toBe(
      'uid,traj_uid,step,anchor_obs,action,reward,valid,advantage,why\r\nu,t,0,"[1,""a""]",look,-1,1,0.3333333333333333,\r\n',
    );
  });

  it('never begins a text cell the way a formula begins, and gives every text back', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom('', '=', '+', '-', '@', '\t', '\r', '＝', "'", '"', ','), fc.string()), {
          minLength: 1,
        }),
        (parts) => {
          const actions = parts.map(([start, rest]) => start + rest);
          const [header, ...rows] = parse([...writeCsv(batchOf(...actions))].join(''));
          const cells = rows.map((row) => row[header!.indexOf('action')]!);
          for (const cell of cells) expect(cell).not.toMatch(/^[=+\-@\t\r＝＋－＠]/);
          expect(cells.map((cell) => cell.replace(/^'/, ''))).toEqual(actions);
        },
      ),
    );
  });
});
