import { useId, useState, type ReactNode } from 'react';
import { useTexts } from '../text/language.ts';
import { csvOf, pngOf, saveFile, svgOf } from './save.ts';
import { SaveMenu } from './SaveMenu.tsx';
import './Figure.css';

interface FigureProps {
  readonly title: string;
  /** What the figure shows right now, as one sentence. */
  readonly sentence?: string;
  /** Small marks and switches beside the title. */
  readonly aside?: ReactNode;
  readonly table: { readonly head: readonly string[]; readonly rows: readonly (readonly (string | number)[])[] };
  /** Whether the picture is an SVG that can be saved; a list is not. */
  readonly isDrawn?: boolean;
  readonly children: ReactNode;
}

/** A figure: its name, a sentence, the picture, and the same numbers as a table one click away. */
export function Figure({ title, sentence, aside, table, isDrawn = true, children }: FigureProps) {
  const texts = useTexts().table;
  const [asTable, showTable] = useState(false);
  const id = useId();
  const file = title.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '-');
  const csv = {
    name: 'CSV',
    save: () => {
      saveFile(`${file}.csv`, new Blob([csvOf(table.head, table.rows)], { type: 'text/csv' }));
    },
  };
  const drawings = [
    {
      name: 'SVG',
      save: (menu: Element) => {
        saveFile(`${file}.svg`, new Blob([svgOf(pictureBeside(menu))], { type: 'image/svg+xml' }));
      },
    },
    {
      name: 'PNG',
      save: (menu: Element) => {
        void pngOf(pictureBeside(menu)).then((image) => {
          saveFile(`${file}.png`, image);
        });
      },
    },
  ];
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
        <SaveMenu of={title} forms={isDrawn && !asTable ? [...drawings, csv] : [csv]} />
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
        <div className="figure-picture">{children}</div>
      )}
    </figure>
  );
}

const pictureBeside = (menu: Element) => menu.closest('figure')!.querySelector<SVGSVGElement>('.figure-picture svg')!;
