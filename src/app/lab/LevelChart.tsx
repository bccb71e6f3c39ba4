import { memo, useMemo } from 'react';
import { CartesianGrid, ErrorBar, Line, LineChart, XAxis, YAxis } from 'recharts';
import type { Figure as Measured } from '../../analysis/lab/measures.ts';
import { tickPaint } from '../chart/colour.ts';
import { useInTurn } from '../chart/use-in-turn.ts';
import { useWidth } from '../chart/use-width.ts';
import { number } from '../number.ts';

export interface LevelSeries {
  readonly name: string;
  /** One for each place on the axis; NaN where nothing is known. */
  readonly values: readonly Measured[];
}

const height = 170;

// Shape and dash tell series apart as well as lightness.
const strokes = [
  { stroke: 'var(--ink)', strokeDasharray: 'none' },
  { stroke: 'var(--run-1)', strokeDasharray: '7 3' },
  { stroke: 'var(--run-2)', strokeDasharray: '2 3' },
  { stroke: 'var(--run-3)', strokeDasharray: '9 3 2 3' },
  { stroke: 'var(--run-4)', strokeDasharray: '4 2' },
];

/** Measured numbers with their intervals along a few places, drawn by recharts. */
export function LevelChart({
  axis,
  places,
  series,
  sentence,
}: {
  /** Name of the axis. */
  readonly axis: string;
  readonly places: readonly (string | number)[];
  readonly series: readonly LevelSeries[];
  readonly sentence: string;
}) {
  const [box, width] = useWidth<HTMLDivElement>(320);
  const drawn = useInTurn(useMemo(() => ({ places, series }), [places, series]));
  return (
    <div ref={box} className="level-chart" data-picture>
      <div role="img" aria-label={sentence} style={{ minHeight: height }}>
        {drawn && <Lines {...drawn} width={width} />}
      </div>
      <p className="soft small level-chart-key">
        {axis}
        {series.length > 1 &&
          series.map(({ name }, s) => (
            <span key={name} className="level-chart-series">
              <svg width={26} height={8} aria-hidden="true">
                <line x1={0} x2={26} y1={4} y2={4} strokeWidth={2} {...strokes[s % strokes.length]} />
              </svg>
              {name}
            </span>
          ))}
      </p>
    </div>
  );
}

const Lines = memo(function Lines({
  places,
  series,
  width,
}: {
  readonly places: readonly (string | number)[];
  readonly series: readonly LevelSeries[];
  readonly width: number;
}) {
  const rows = places.map((place, i) => ({
    place,
    ...Object.fromEntries(
      series.flatMap(({ values }, s) => {
        const at = values[i];
        if (!at || !Number.isFinite(at.value)) return [];
        const known = Number.isFinite(at.low);
        return [
          [`y${s}`, at.value] as const,
          ...(known ? [[`e${s}`, [at.value - at.low, at.high - at.value]] as const] : []),
        ];
      }),
    ),
  }));
  return (
    <LineChart
      width={width}
      height={height}
      data={rows}
      margin={{ top: 8, right: 18, bottom: 0, left: 0 }}
      accessibilityLayer={false}
    >
      <CartesianGrid stroke="var(--hairline)" vertical={false} />
      <XAxis dataKey="place" tickLine={false} tick={tickPaint} height={22} padding={{ left: 12, right: 12 }} />
      <YAxis
        width={46}
        domain={[0, 'auto']}
        tickFormatter={number}
        tickLine={false}
        axisLine={false}
        tick={tickPaint}
        tickCount={4}
      />
      {series.map(({ name }, s) => (
        <Line
          key={name}
          name={name}
          dataKey={`y${s}`}
          type="linear"
          dot={{ r: 3, strokeDasharray: 'none' }}
          activeDot={false}
          isAnimationActive={false}
          strokeWidth={1.5}
          connectNulls
          {...strokes[s % strokes.length]}
        >
          <ErrorBar
            dataKey={`e${s}`}
            direction="y"
            width={5}
            stroke={strokes[s % strokes.length]!.stroke}
            strokeWidth={1}
          />
        </Line>
      ))}
    </LineChart>
  );
});
