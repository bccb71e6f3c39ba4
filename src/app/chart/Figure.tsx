import { useId, type ReactNode } from 'react';
import { Termed } from '../glossary/Termed.tsx';
import type { GlossaryTerm } from '../glossary/words.ts';
import type { FigureName } from '../state/fields.ts';
import { useNumbers } from '../state/unfolded.ts';
import { useTexts } from '../text/language.ts';
import { FigureSave, tableOf, type FigureTable } from './FigureSave.tsx';
import './Figure.css';

export type { FigureTable };

interface FigureProps {
  /** What links call it. */
  readonly name: FigureName;
  readonly title: string;
  /** What the figure shows right now, as one sentence. */
  readonly sentence?: string;
  /** Terms that are used for the first time in the title or the sentence. */
  readonly terms?: readonly GlossaryTerm[];
  /** Small marks and switches beside the title. */
  readonly aside?: ReactNode;
  /** The numbers; a function where there may be so many that they are put together only when asked for. */
  readonly table: FigureTable | (() => FigureTable);
  /** Whether the picture is an SVG that can be saved; a list is not. */
  readonly isDrawn?: boolean;
  readonly children: ReactNode;
}

/** Rows of a table on the page; a file has all of them. */
const MOST_ROWS = 500;

/** A figure: its name, a sentence, the picture, and the same numbers as a table one click away. */
export function Figure({ name, title, sentence, terms = [], aside, table, isDrawn = true, children }: FigureProps) {
  const texts = useTexts().table;
  const [asTable, showTable] = useNumbers(name);
  const id = useId();
  return (
    <figure className="figure" aria-labelledby={id}>
      <div className="figure-head">
        <h3 id={id}>
          <Termed text={title} terms={terms} />
        </h3>
        {aside}
        <button
          type="button"
          className="plain-button small figure-switch"
          aria-pressed={asTable}
          aria-label={`${texts.show}: ${title}`}
          onClick={() => {
            showTable(!asTable);
          }}
        >
          {asTable ? texts.hide : texts.show}
        </button>
        <FigureSave of={title} table={table} {...(isDrawn && !asTable && { picture: pictureBeside })} />
      </div>
      {sentence !== undefined && (
        <p className="small figure-sentence">
          <Termed text={sentence} terms={terms} />
        </p>
      )}
      {asTable ? (
        <NumbersTable name={title} table={tableOf(table)} />
      ) : (
        <div className="figure-picture">{children}</div>
      )}
    </figure>
  );
}

function NumbersTable({ name, table: { head, rows } }: { readonly name: string; readonly table: FigureTable }) {
  const texts = useTexts().table;
  return (
    <div className="figure-table" tabIndex={0} role="region" aria-label={name}>
      <table>
        <thead>
          <tr>
            {head.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(-MOST_ROWS).map((row, index) => (
            <tr key={index}>
              {row.map((value, column) =>
                column === 0 ? (
                  <th key={column} scope="row">
                    {value}
                  </th>
                ) : (
                  <td key={column}>{value}</td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > MOST_ROWS && <p className="small soft">{texts.lastRows(MOST_ROWS, rows.length)}</p>}
    </div>
  );
}

/** What says that it is the picture, a drawing with its key; else what calls itself an image: one drawing, or several with their names. */
const pictureBeside = (menu: Element) =>
  menu.closest('figure')!.querySelector('.figure-picture :is([data-picture], [role="img"])');
