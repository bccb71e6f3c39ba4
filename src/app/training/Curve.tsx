import { memo } from 'react';
import { CartesianGrid, Line, LineChart, XAxis, YAxis } from 'recharts';
import { depthPaint, tickPaint } from '../chart/colour.ts';
import { Figure, type FigureTable } from '../chart/Figure.tsx';
import { useWidth } from '../chart/use-width.ts';
import { number } from '../number.ts';
import type { FigureName } from '../state/fields.ts';
import type { CurvePoint } from './thin.ts';
import { useTrainingTexts } from './use-training-texts.ts';

/** What a curve is told apart by. */
export type CurveLook =
  | { readonly kind: 'run'; readonly run: number }
  /** Levels of history keep the colour that depth has on the whole page. */
  | { readonly kind: 'depth'; readonly level: number; readonly deepest: number }
  | { readonly kind: 'part'; readonly place: number };

export interface CurveSeries {
  readonly name: string;
  readonly look: CurveLook;
  /** As `curveOf` gives them, or as few. */
  readonly points: readonly CurvePoint[];
  /** Few measurements, drawn as marks. */
  readonly marks?: boolean;
  /** One of many behind a curve that has their name in the key. */
  readonly isFaint?: boolean;
}

const height = 150;
const hues = 5;
const dashes = ['none', '7 3', '2 3', '9 3 2 3', '4 2'];

/** Hue and dash: either alone tells the first five curves apart, both together the first 25. */
export function strokeOf(look: CurveLook): { readonly stroke: string; readonly strokeDasharray: string } {
  if (look.kind === 'depth') return { stroke: depthPaint(look.level, look.deepest).fill, strokeDasharray: 'none' };
  const place = look.kind === 'run' ? look.run - 1 : look.place;
  const turn = Math.floor(place / hues);
  return { stroke: `var(--run-${place % hues})`, strokeDasharray: dashes[(place + turn) % dashes.length]! };
}

/** A piece of a curve as it is drawn, for keys. */
export function StrokeSample({ look }: { readonly look: CurveLook }) {
  return (
    <svg width="22" height="8" aria-hidden="true" className="stroke-sample">
      <line x1="0" x2="22" y1="4" y2="4" strokeWidth="2" style={strokeOf(look)} />
    </svg>
  );
}

/** Curves over iterations, drawn by recharts. */
export function Curve({
  figure,
  title,
  sentence,
  unit,
  series,
  named = false,
  table,
}: {
  readonly figure: FigureName;
  readonly title: string;
  readonly sentence: string;
  /** As in the table of metrics; shares are drawn from 0 to 1. */
  readonly unit: string;
  /** Null as long as it is not this figure's turn to be drawn. */
  readonly series: readonly CurveSeries[] | null;
  /** Whether a key names the curves. */
  readonly named?: boolean;
  readonly table: () => FigureTable;
}) {
  const texts = useTrainingTexts();
  const [box, width] = useWidth<HTMLDivElement>(300);
  return (
    <Figure
      name={figure}
      title={title}
      sentence={sentence}
      table={table}
      aside={unit === '' ? undefined : <span className="soft small">{texts.unit(unit)}</span>}
    >
      <div data-picture>
        {named && (
          <p className="small curve-key">
            {(series ?? [])
              .filter(({ isFaint }) => !isFaint)
              .map(({ name, look }) => (
                <span key={name}>
                  <StrokeSample look={look} /> {name}
                </span>
              ))}
          </p>
        )}
        <div ref={box} role="img" aria-label={`${title}. ${sentence}`} className="curve">
          {series && <Lines series={series} isShare={unit === 'share'} width={width} />}
        </div>
      </div>
    </Figure>
  );
}

/** The drawing alone, which is the dear part of a figure: it changes with its points, not with the words around it. */
const Lines = memo(function Lines({
  series,
  isShare,
  width,
}: {
  readonly series: readonly CurveSeries[];
  readonly isShare: boolean;
  readonly width: number;
}) {
  return (
    <LineChart
      width={width}
      height={height}
      margin={{ top: 6, right: 12, bottom: 0, left: 0 }}
      accessibilityLayer={false}
    >
      <CartesianGrid stroke="var(--hairline)" vertical={false} />
      <XAxis
        type="number"
        dataKey="x"
        domain={[0, 'dataMax']}
        allowDecimals={false}
        tickLine={false}
        tick={tickPaint}
        height={20}
      />
      <YAxis
        width={44}
        domain={isShare ? [0, 1] : ['auto', 'auto']}
        tickFormatter={number}
        tickLine={false}
        axisLine={false}
        tick={tickPaint}
        tickCount={isShare ? 3 : 4}
      />
      {series.map(({ name, look, points, marks, isFaint }) => (
        <Line
          key={name}
          name={name}
          data={points as CurvePoint[]}
          dataKey="y"
          type="linear"
          dot={marks === true || points.length === 1 ? { r: 3 } : false}
          activeDot={false}
          isAnimationActive={false}
          strokeWidth={isFaint ? 0.75 : 1.5}
          strokeOpacity={isFaint ? 0.5 : 1}
          {...strokeOf(look)}
        />
      ))}
    </LineChart>
  );
});
