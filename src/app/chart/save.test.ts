import { expect, it } from 'vitest';
import { csvOf } from './save.ts';

it('a table becomes CSV that spreadsheets read as it was', () => {
  expect(
    csvOf(
      ['k', 'what'],
      [
        [0, 'a, "b"'],
        [1, 'line\nbreak'],
      ],
    ),
  ).toBe('\uFEFFk,what\r\n0,"a, ""b"""\r\n1,"line\nbreak"\r\n');
});
