import { memo, useDeferredValue, type CSSProperties } from 'react';
import { Bar, BarChart, XAxis, YAxis, type BarShapeProps } from 'recharts';
import { depthPaint, tickPaint } from '../chart/colour.ts';
import { share } from '../number.ts';

interface SizeBar {
  readonly from: number;
  /** All sizes that it counts. */
  readonly name: string;
  /** Of all steps, or groups, of its level. */
  readonly part: number;
}

interface SizeHistogram {
  readonly k: number;
  readonly bars: readonly SizeBar[];
}

interface SizeHistogramsProps {
  readonly levels: readonly SizeHistogram[];
  readonly deepest: number;
  readonly width: number;
  /** Levels in a row. */
  readonly columns: number;
  /** Height of a row. */
  readonly pitch: number;
}

const head = 18;
const ticks = 26;
/** Room between two levels, at least. */
const gap = 18;
/** Width of the longest number under a bar; the outer ones stand out from under narrow bars. */
const tick = 10;

/** A histogram for each level on the same axes, drawn by recharts. */
export function SizeHistograms({ levels: asked, deepest, width, columns, pitch }: SizeHistogramsProps) {
  // Drawing takes as long as the rest of the page together: a control that is dragged does not wait for it.
  const levels = useDeferredValue(asked);
  const bins = levels[0]!.bars.length;
  const between = Math.ceil((gap * columns * bins) / width);
  const places = columns * (bins + between) - between;
  const overhang = Math.max(0, (tick - width / places) / 2);
  const band = (width - 2 * overhang) / places;
  const rows = Array.from({ length: Math.ceil(levels.length / columns) }, (_, row) =>
    levels.slice(row * columns, (row + 1) * columns),
  );
  const paints = levels.map(({ k }) => [paintName(k), k <= deepest ? depthPaint(k, deepest).fill : 'var(--hairline)']);
  return (
    <div style={Object.fromEntries(paints) as CSSProperties}>
      {rows.map((row, at) => (
        <div key={at}>
          <div
            className="group-sizes-names"
            style={{
              height: head,
              paddingLeft: overhang,
              gridTemplateColumns: `repeat(${columns}, ${bins * band}px)`,
              columnGap: between * band,
            }}
          >
            {row.map(({ k }) => (
              <p key={k} className={k <= deepest ? undefined : 'group-sizes-unused'}>
                {/* One text, not two: saved, each stands for itself. */}
                {`k = ${k}`}
              </p>
            ))}
          </div>
          <Row levels={row} between={between} band={band} overhang={overhang} height={pitch - head} />
        </div>
      ))}
    </div>
  );
}

/** A level's colour depends on K; as a property of style sheets it changes without a new drawing. */
const paintName = (k: number) => `--level-${k}`;

interface RowProps {
  readonly levels: readonly SizeHistogram[];
  /** Places that stay free between two levels. */
  readonly between: number;
  /** Width of a place. */
  readonly band: number;
  readonly overhang: number;
  readonly height: number;
}

interface Place extends Partial<SizeBar> {
  readonly id: string;
  readonly fill?: string;
}

/** The levels of a row in one chart: a chart of recharts costs far more than a bar. */
const Row = memo(
  function Row({ levels, between, band, overhang, height }: RowProps) {
    const { bars: bins } = levels[0]!;
    const id = (k: number, place: number) => `${k}:${place}`;
    const places = levels.flatMap(({ k, bars }, level): Place[] => [
      ...Array.from({ length: level === 0 ? 0 : between }, (_, free) => ({ id: id(k, -1 - free) })),
      ...bars.map((bar, at) => ({ ...bar, id: id(k, at), fill: at === 0 ? 'var(--edge)' : `var(${paintName(k)})` })),
    ]);
    const every = Math.ceil((tick + 2) / band);
    return (
      <BarChart
        width={places.length * band + 2 * overhang}
        height={height}
        data={places}
        margin={{ top: 0, right: overhang, bottom: 0, left: overhang }}
        barCategoryGap={Math.min(1.5, band / 4) / 2}
        accessibilityLayer={false}
      >
        <XAxis
          dataKey="id"
          ticks={levels.flatMap(({ k }) => bins.flatMap((_, at) => (at % every === 0 ? [id(k, at)] : [])))}
          tickFormatter={(place: string) => String(bins[Number(place.split(':')[1])]!.from)}
          interval={0}
          height={ticks}
          tickLine={false}
          tick={tickPaint}
          tickSize={0}
          tickMargin={3}
          axisLine={false}
        />
        <YAxis hide domain={[0, 1]} />
        <Bar
          dataKey="part"
          isAnimationActive={false}
          shape={(bar: BarShapeProps) => <NamedBar bar={bar} band={band} />}
        />
      </BarChart>
    );
  },
  (before, after) => JSON.stringify(before) === JSON.stringify(after),
);

/** A bar on its piece of the base line; it says what it is to who points at it. */
function NamedBar({ bar, band }: { readonly bar: BarShapeProps; readonly band: number }) {
  const { x, y, width, height } = bar;
  const { name, part, fill } = bar.payload as Required<Place>;
  const middle = x + width / 2;
  const base = y + height + 0.5;
  return (
    <>
      <rect x={x} y={y} width={width} height={height} style={{ fill }}>
        <title>{`${name}: ${share(part)}`}</title>
      </rect>
      <line x1={middle - band / 2} x2={middle + band / 2} y1={base} y2={base} className="group-sizes-base" />
    </>
  );
}
