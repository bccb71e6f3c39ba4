import { useId, useState, type ReactNode } from 'react';
import { useTexts } from '../text/language.ts';
import './Figure.css';

interface FigureProps {
  readonly title: string;
  /** What the figure shows right now, as one sentence. */
  readonly sentence?: string;
  /** Small marks and switches beside the title. */
  readonly aside?: ReactNode;
  readonly table: { readonly head: readonly string[]; readonly rows: readonly (readonly (string | number)[])[] };
  readonly children: ReactNode;
}

/** A figure: its name, a sentence, the picture, and the same numbers as a table one click away. */
export function Figure({ title, sentence, aside, table, children }: FigureProps) {
  const texts = useTexts().table;
  const [asTable, showTable] = useState(false);
  const id = useId();
  return (
    <figure className="figure" aria-labelledby={id}>
      <div className="figure-head">
        <h3 id={id}>{title}</h3>
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
      </div>
      {sentence !== undefined && <p className="small figure-sentence">{sentence}</p>}
      {asTable ? (
        <div className="figure-table" tabIndex={0} role="region" aria-label={title}>
          <table>
            <thead>
              <tr>
                {table.head.map((name) => (
                  <th key={name} scope="col">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {table.rows.map((row, index) => (
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
        </div>
      ) : (
        children
      )}
    </figure>
  );
}
