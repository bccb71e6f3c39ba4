import { useEffect, useState } from 'react';
import type { Figure as Measured } from '../../analysis/lab/measures.ts';
import type { MemorySweep } from '../../analysis/lab/memory-sweep.ts';
import type { RecordedLab } from '../../analysis/lab/recorded.ts';
import { Figure } from '../chart/Figure.tsx';
import { Origin } from '../chart/Origin.tsx';
import type { FigureName } from '../state/fields.ts';
import { LevelChart, type LevelSeries } from './LevelChart.tsx';
import { memoryRecord, recordOf } from './lab.ts';
import { useLabTexts } from './use-lab-texts.ts';

const point = (value: number | null | undefined): Measured => ({ value: value ?? NaN, low: NaN, high: NaN });

/** What records alone can answer: other N, policies of other quality, longer memory. */
export default function More({ recorded }: { readonly recorded: RecordedLab | null }) {
  const texts = useLabTexts();
  const [tables, take] = useState<readonly RecordedLab[]>([]);
  const [memory, takeMemory] = useState<MemorySweep | null>(null);
  useEffect(() => {
    let shown = true;
    // Without a connection these figures are left out; the others do not need them.
    void Promise.all(['rooms-20', 'rooms-50', 'rooms-80'].map((place) => recordOf(place).catch(() => null))).then(
      (found) => {
        if (shown) take(found.filter((record) => record !== null));
      },
    );
    void memoryRecord().then((found) => {
      if (shown) takeMemory(found);
    });
    return () => {
      shown = false;
    };
  }, []);
  return (
    <div className="lab-figures">
      {recorded && recorded.sizes.length > 0 ? (
        <Sizes recorded={recorded} />
      ) : (
        <p className="soft">{texts.sizesNone}</p>
      )}
      {tables.length > 1 && <Quality tables={tables} />}
      {memory && <Memory record={memory} />}
      {memory && <Rooms record={memory} />}
    </div>
  );
}

function Plain(props: {
  readonly name: FigureName;
  readonly title: string;
  readonly sentence: string;
  readonly axis: string;
  readonly places: readonly (string | number)[];
  readonly series: readonly LevelSeries[];
}) {
  const texts = useLabTexts();
  return (
    <Figure
      name={props.name}
      title={props.title}
      sentence={props.sentence}
      aside={<Origin of="recorded" />}
      table={{
        head: [props.axis, ...props.series.map(({ name }) => name)],
        rows: props.places.map((place, i) => [place, ...props.series.map(({ values }) => texts.interval(values[i]!))]),
      }}
    >
      <LevelChart axis={props.axis} places={props.places} series={props.series} sentence={props.sentence} />
    </Figure>
  );
}

function Sizes({ recorded: { sizes, deepest } }: { readonly recorded: RecordedLab }) {
  const texts = useLabTexts();
  const levels = [...new Set([0, 1, deepest])];
  const series = levels.map((level) => ({
    name: texts.levelAlone(level),
    values: sizes.map((size) => size.levels[level]?.rmsBias ?? point(null)),
  }));
  const ends = series[0]!.values;
  return (
    <Plain
      name="lab-sizes"
      title={texts.sizesTitle}
      sentence={texts.sizesSentence(ends[0]!.value, ends[ends.length - 1]!.value, 0)}
      axis={texts.group}
      places={sizes.map(({ groupSize }) => groupSize)}
      series={series}
    />
  );
}

function Quality({ tables }: { readonly tables: readonly RecordedLab[] }) {
  const texts = useLabTexts();
  const gigpo = ({ methods }: RecordedLab) =>
    methods.find(({ method, mode, target }) => method === 'gigpo' && mode === 'mean_norm' && target === 'state');
  const hgpo = ({ map }: RecordedLab) => map.find(({ K, alpha, skipZero }) => K === 2 && alpha === 1 && skipZero);
  return (
    <Plain
      name="lab-quality"
      title={texts.qualityTitle}
      sentence={texts.qualitySentence}
      axis={texts.qualityAxis}
      places={tables.map(({ facts }) => Math.round(100 * (facts.success ?? NaN)))}
      series={[
        { name: texts.qualitySeries.state, values: tables.map((table) => point(table.exactBaselineRms?.[0])) },
        { name: texts.qualitySeries.deep, values: tables.map((table) => point(table.exactBaselineRms?.[3])) },
        { name: texts.qualitySeries.hgpo, values: tables.map((table) => hgpo(table)?.correlation ?? point(null)) },
        { name: texts.qualitySeries.gigpo, values: tables.map((table) => gigpo(table)?.correlation ?? point(null)) },
      ]}
    />
  );
}

/** The example rooms by their size, with a policy of memory 1. */
function Rooms({ record: { rows } }: { readonly record: MemorySweep }) {
  const texts = useLabTexts();
  const rooms = rows.filter(({ memory }) => memory === 1).sort((a, b) => a.states - b.states);
  const shared = {
    sentence: texts.roomsSentence,
    axis: texts.roomsAxis,
    places: rooms.map(({ room, states }) => `${room}, ${states}`),
  };
  return (
    <>
      <Plain
        {...shared}
        name="lab-rooms"
        title={texts.roomsTitle}
        series={[0, 1].map((k) => ({
          name: texts.roomsSeries(k),
          values: rooms.map(({ levels }) => point(levels[k])),
        }))}
      />
      <Plain
        {...shared}
        name="lab-hides"
        title={texts.hidesTitle}
        series={[{ name: texts.hidesSeries, values: rooms.map((room) => point(room.observationHidesNodes)) }]}
      />
    </>
  );
}

function Memory({ record: { rows } }: { readonly record: MemorySweep }) {
  const texts = useLabTexts();
  const memories = [...new Set(rows.map(({ memory }) => memory))].sort((a, b) => a - b);
  // Those that are small enough for the longest memory.
  const rooms = rows.filter(({ memory }) => memory === Math.max(...memories)).map(({ room }) => room);
  const value = (room: string, memory: number, tied: boolean) => {
    const found = rows.find((row) => row.room === room && row.memory === memory);
    return point(found?.levels[tied ? memory : 0]);
  };
  return (
    <>
      {[false, true].map((tied) => (
        <Plain
          key={String(tied)}
          name={tied ? 'lab-memory-tied' : 'lab-memory'}
          title={`${texts.memoryTitle}: ${tied ? 'K_group = K_mem' : 'K_group = 0'}`}
          sentence={texts.memorySentence}
          axis={texts.memoryAxis}
          places={memories}
          series={rooms.map((room) => ({
            name: texts.memorySeries(room, tied),
            values: memories.map((memory) => value(room, memory, tied)),
          }))}
        />
      ))}
    </>
  );
}
