import { memo, useMemo } from 'react';
import { inkPaint } from '../chart/colour.ts';
import { Figure } from '../chart/Figure.tsx';
import { Origin } from '../chart/Origin.tsx';
import { useWidth } from '../chart/use-width.ts';
import { number } from '../number.ts';
import { useLabChoices, useSettings } from '../state/controls.ts';
import { labFields, settingFields, type LabChoices } from '../state/fields.ts';
import { onRaster } from '../state/repair.ts';
import { useLabTexts } from './use-lab-texts.ts';
import type { LabView } from './view.ts';

const largest = 4;
/** α of the columns. */
const columns = Array.from({ length: 17 }, (_, i) => (i * largest) / 16);

const left = 46;
const bottom = 36;
const cellHeight = 34;

const top = (cells: readonly unknown[], K: number) => (cells.length - 1 - K) * cellHeight;

/** The cells with their numbers; drawn again for other numbers, not for another α. */
const Cells = memo(function Cells({
  cells,
  low,
  high,
  across,
}: {
  /** [K][columns] */
  readonly cells: readonly (readonly number[])[];
  /** Least and largest of all cells. */
  readonly low: number;
  readonly high: number;
  /** Width of a cell. */
  readonly across: number;
}) {
  return (
    <>
      {cells.map((values, K) => (
        <g key={K}>
          <text x={left - 8} y={top(cells, K) + cellHeight / 2} textAnchor="end" dominantBaseline="central">
            K = {K}
          </text>
          {values.map((value, column) => {
            const { fill, text } = inkPaint(high > low ? (value - low) / (high - low) : 0);
            return (
              <g
                key={column}
                onClick={() => {
                  useSettings.setState({ alpha: columns[column]! });
                  useLabChoices.setState({ labDepth: K });
                }}
              >
                <rect
                  x={left + column * across}
                  y={top(cells, K)}
                  width={across - 1}
                  height={cellHeight - 1}
                  style={{ fill }}
                />
                {across >= 30 && (
                  <text
                    x={left + (column + 0.5) * across}
                    y={top(cells, K) + cellHeight / 2}
                    textAnchor="middle"
                    dominantBaseline="central"
                    className="alpha-map-value"
                    style={{ fill: text }}
                  >
                    {number(value)}
                  </text>
                )}
                <title>{`K = ${K}, α = ${columns[column]}: ${number(value)}`}</title>
              </g>
            );
          })}
        </g>
      ))}
    </>
  );
});

/** Bias, variance or error of HGPO over α and K: dragging α reads kept moments, no row is looked at again. */
export function AlphaMap({ view, depth }: { readonly view: LabView; readonly depth: number }) {
  const texts = useLabTexts();
  const measure = useLabChoices((state) => state.labMeasure);
  const alpha = useSettings((state) => state.alpha);
  const [box, width] = useWidth<HTMLDivElement>(560);
  const rows = Array.from({ length: view.deepest + 1 }, (_, K) => K);
  const cells = useMemo(
    () =>
      Array.from({ length: view.deepest + 1 }, (_, K) => columns.map((at) => view.cell(K, at, true)[measure].value)),
    [view, measure],
  );
  const all = cells.flat().filter(Number.isFinite);
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const best = measure === 'correlation' ? high : low;
  const bestK = cells.findIndex((row) => row.includes(best));
  const bestAlpha = columns[cells[bestK]?.indexOf(best) ?? 0] ?? 0;
  const shown = view.nearestAlpha(alpha);
  const here = { skip: view.cell(depth, alpha, true), count: view.cell(depth, alpha, false) };
  const name = texts.measures[measure];
  const across = (width - left - 8) / columns.length;
  const x = (at: number) => left + (Math.min(largest, at) / largest) * (columns.length - 1) * across + across / 2;
  const y = (K: number) => top(cells, K);
  const isWithinError = best >= here.skip[measure].low && best <= here.skip[measure].high;
  const sentence = texts.mapSentence(name, depth, shown, here.skip[measure], bestK, bestAlpha, best, isWithinError);
  return (
    <Figure
      name="lab-map"
      title={`${texts.mapTitle}: ${name}`}
      sentence={sentence}
      table={() => ({
        head: ['K', ...columns.map((at) => `α = ${at}`)],
        rows: rows.map((K) => [K, ...cells[K]!.map(number)]),
      })}
      aside={
        <>
          <Origin of={view.origin} />
          <label className="small lab-inline">
            {texts.measure}{' '}
            <select
              value={measure}
              onChange={(event) => {
                useLabChoices.setState({ labMeasure: event.currentTarget.value as LabChoices['labMeasure'] });
              }}
            >
              {labFields.labMeasure.options.map((option) => (
                <option key={option} value={option}>
                  {texts.measures[option]}
                </option>
              ))}
            </select>
          </label>
        </>
      }
    >
      <div ref={box}>
        <svg
          width={width}
          height={rows.length * cellHeight + bottom}
          role="img"
          aria-label={sentence}
          className="alpha-map"
        >
          <Cells cells={cells} low={low} high={high} across={across} />
          {bestK >= 0 && (
            <text x={x(bestAlpha)} y={y(bestK) + 11} textAnchor="middle" className="alpha-map-best">
              ★
            </text>
          )}
          <line x1={x(alpha)} x2={x(alpha)} y1={0} y2={rows.length * cellHeight} className="alpha-map-here" />
          {depth <= view.deepest && (
            <rect
              x={x(alpha) - across / 2}
              y={y(depth)}
              width={across - 1}
              height={cellHeight - 1}
              className="alpha-map-ring"
            />
          )}
          {columns.map((at, column) =>
            column % 4 === 0 ? (
              <text key={at} x={x(at)} y={rows.length * cellHeight + 14} textAnchor="middle" className="alpha-map-tick">
                {at}
              </text>
            ) : null,
          )}
          <text x={left} y={rows.length * cellHeight + 30} className="alpha-map-tick">
            α
          </text>
        </svg>
        <label className="lab-alpha">
          {texts.alpha}
          <input
            type="range"
            min={0}
            max={largest}
            step={settingFields.alpha.step}
            value={Math.min(largest, alpha)}
            aria-valuetext={sentence}
            aria-label={`${texts.alpha}, ${texts.mapTitle}`}
            onChange={(event) => {
              useSettings.setState({ alpha: onRaster(settingFields.alpha, event.currentTarget.valueAsNumber) });
            }}
          />
          <output>{alpha.toFixed(2)}</output>
        </label>
        <p className="soft small">
          {texts.mapKey} {shown !== alpha && texts.nearest(shown)}
        </p>
        <div className="lab-scroll" tabIndex={0} role="group" aria-label={texts.here}>
          <table className="lab-table small">
            <caption className="visually-hidden">{texts.here}</caption>
            <thead>
              <tr>
                <th scope="col">{`K = ${depth}, α = ${number(shown)}`}</th>
                {labFields.labMeasure.options.map((option) => (
                  <th key={option} scope="col">
                    {texts.measures[option]}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {(['skip', 'count'] as const).map((zeros) => (
                <tr key={zeros}>
                  <th scope="row">{texts.zeros[zeros]}</th>
                  {labFields.labMeasure.options.map((option) => (
                    <td key={option}>{texts.interval(here[zeros][option])}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </div>
    </Figure>
  );
}
