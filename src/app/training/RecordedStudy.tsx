import { useEffect, useMemo, useState } from 'react';
import { readStudy, type RecordedStudy as Study, type StudyCell } from '../../analysis/study/recorded-study.ts';
import { Figure } from '../chart/Figure.tsx';
import { IntervalRows } from '../chart/IntervalRows.tsx';
import { Origin } from '../chart/Origin.tsx';
import { Fold } from '../shell/Fold.tsx';
import { useView } from '../state/controls.ts';
import { studies } from '../state/fields.ts';
import { useFold } from '../state/unfolded.ts';
import { Curve, StrokeSample, type CurveSeries } from './Curve.tsx';
import { curveOf } from './thin.ts';
import { useTrainer } from './trainer.ts';
import { useTrainingTexts } from './use-training-texts.ts';

type StudyName = (typeof studies)[number];
/** Drawn until somebody chooses others. */
const drawnFirst = ['GRPO', 'GiGPO', 'HGPO K 2'];

type Reading = { readonly study: Study } | { readonly failure: string } | null;
/** Mean over the seeds with its interval, in thousandths. */
type SeedMean = StudyCell['training'];

/** What was measured once with many seeds and committed: to look at, and to hold one's own runs against. */
export function RecordedStudy() {
  const texts = useTrainingTexts().study;
  return (
    <Fold name="study" className="more-curves" summary={texts.title}>
      <ChosenStudy />
    </Fold>
  );
}

function ChosenStudy() {
  const texts = useTrainingTexts().study;
  const name = useView((view) => view.study);
  const reading = useStudy(name);
  return (
    <>
      {studies.length > 1 && (
        <p>
          <label>
            {texts.which}{' '}
            <select
              value={name}
              onChange={(event) => {
                // Numbers of methods and environments are those of one study.
                useView.setState({
                  study: event.currentTarget.value as StudyName,
                  studySetting: 0,
                  studyOutcome: 0,
                  studyMethods: '',
                });
              }}
            >
              {studies.map((one) => (
                <option key={one} value={one}>
                  {texts.studies[one]}
                </option>
              ))}
            </select>
          </label>
        </p>
      )}
      {reading === null && <p role="status">{texts.reading}</p>}
      {reading && 'failure' in reading && <p role="alert">{reading.failure}</p>}
      {reading && 'study' in reading && <StudyInside key={name} study={reading.study} />}
    </>
  );
}

/** The study of a name; null while it is on its way. */
function useStudy(name: StudyName): Reading {
  const texts = useTrainingTexts().study;
  const [readings, setReadings] = useState<Partial<Record<StudyName, Reading>>>({});
  const isKnown = readings[name] !== undefined;
  useEffect(() => {
    if (isKnown) return;
    const leaving = new AbortController();
    const keep = (reading: Reading) => {
      if (!leaving.signal.aborted) setReadings((before) => ({ ...before, [name]: reading }));
    };
    fetch(`${import.meta.env.BASE_URL}studies/${name}.json`, { signal: leaving.signal })
      .then((response) => (response.ok ? response.text() : Promise.reject(new Error(String(response.status)))))
      .then((text) => {
        keep({ study: readStudy(text) });
      })
      .catch((error: unknown) => {
        keep({ failure: texts.failed(error instanceof Error ? error.message : String(error)) });
      });
    return () => {
      leaving.abort();
    };
  }, [name, isKnown, texts]);
  return readings[name] ?? null;
}

function StudyInside({ study }: { readonly study: Study }) {
  const texts = useTrainingTexts().study;
  const setting = Math.min(
    useView((view) => view.studySetting),
    study.settings.length - 1,
  );
  const chosen = useView((view) => view.studyMethods);
  const drawn = useMemo(() => drawnMethods(study, chosen), [study, chosen]);
  const [showsSeeds, showSeeds] = useFold('study-seeds');
  const [showsRuns, showRuns] = useFold('study-runs');
  const { name, iterations, batch, memory, policy } = study.settings[setting]!;
  const cells = useMemo(() => study.cells.filter((cell) => cell.setting === setting), [study, setting]);
  return (
    <>
      <p className="soft">
        {texts.sentence({ runs: study.cells.length * study.seeds.length, seeds: study.seeds.length, policy, memory })}{' '}
        {texts.matched(iterations, batch)}
      </p>
      {study.settings.length > 1 && (
        <p>
          <label>
            {texts.setting}{' '}
            <select
              value={setting}
              onChange={(event) => {
                useView.setState({ studySetting: Number(event.currentTarget.value) });
              }}
            >
              {study.settings.map((one, i) => (
                <option key={one.name} value={i}>
                  {one.name}
                </option>
              ))}
            </select>
          </label>
        </p>
      )}
      <Outcomes
        study={study}
        cells={cells}
        place={name}
        drawn={drawn}
        toggle={(method) => {
          const next = drawn.includes(method) ? drawn.filter((one) => one !== method) : [...drawn, method];
          useView.setState({ studyMethods: next.length > 0 ? next.join('.') : 'none' });
        }}
      />
      <p className="examples">
        <label>
          <input
            type="checkbox"
            checked={showsSeeds}
            onChange={(event) => {
              showSeeds(event.currentTarget.checked);
            }}
          />{' '}
          {texts.everySeed}
        </label>
        <label>
          <input
            type="checkbox"
            checked={showsRuns}
            onChange={(event) => {
              showRuns(event.currentTarget.checked);
            }}
          />{' '}
          {texts.ownRuns}
        </label>
      </p>
      <StudyCurves study={study} cells={cells} place={name} drawn={drawn} seeds={showsSeeds} ownRuns={showsRuns} />
      <Differences study={study} setting={setting} />
    </>
  );
}

/** Numbers of the methods whose curves are drawn, in the order in which they were chosen. */
function drawnMethods({ methods }: Study, chosen: string): readonly number[] {
  if (chosen === 'none') return [];
  if (chosen === '') return methods.flatMap(({ name }, i) => (drawnFirst.includes(name) ? [i] : []));
  return [...new Set(chosen.split('.').map(Number))].filter((method) => method < methods.length);
}

/** Success of every method of a setting, with its interval over the seeds. */
function Outcomes({
  study,
  cells,
  place,
  drawn,
  toggle,
}: {
  readonly study: Study;
  readonly cells: readonly StudyCell[];
  readonly place: string;
  readonly drawn: readonly number[];
  toggle(method: number): void;
}) {
  const texts = useTrainingTexts().study;
  const measures = measuresOf(cells);
  const measure = Math.min(
    useView((view) => view.studyOutcome),
    measures.length - 1,
  );
  const rows = cells.map((cell) => ({ cell, at: measures[measure]!.of(cell) }));
  const label = ({ set, temperature }: Measure) => (set === null ? texts.during : texts.after(set, temperature));
  return (
    <Figure
      name="study-after"
      title={texts.outcomes(place)}
      isDrawn={false}
      sentence={texts.outcomesSentence(study.seeds.length, hasIntervals(study))}
      aside={
        <>
          <Origin of="recorded" />
          <select
            className="small"
            aria-label={texts.measure}
            value={measure}
            onChange={(event) => {
              useView.setState({ studyOutcome: Number(event.currentTarget.value) });
            }}
          >
            {measures.map((one, i) => (
              <option key={i} value={i}>
                {label(one)}
              </option>
            ))}
          </select>
        </>
      }
      table={() => ({
        head: [texts.method, ...measures.flatMap((one) => [label(one), texts.low, texts.high]), texts.alarms],
        rows: cells.map((cell) => [
          study.methods[cell.method]!.name,
          ...measures.flatMap((one) => {
            const { mean, low, high } = one.of(cell);
            return [percent(mean), percent(low), percent(high)];
          }),
          Object.entries(cell.alarms)
            .map(([alarm, runs]) => `${alarm} ${runs}`)
            .join(', '),
        ]),
      })}
    >
      <IntervalRows
        rows={rows.map(({ cell, at }) => ({
          ...onAxis(at),
          key: String(cell.method),
          name: (
            <label>
              <input
                type="checkbox"
                checked={drawn.includes(cell.method)}
                onChange={() => {
                  toggle(cell.method);
                }}
              />{' '}
              {study.methods[cell.method]!.name}{' '}
              {drawn.includes(cell.method) && (
                <StrokeSample look={{ kind: 'part', place: drawn.indexOf(cell.method) }} />
              )}
            </label>
          ),
          text: interval(at),
        }))}
      />
    </Figure>
  );
}

interface Measure {
  /** Null: the training batches themselves. */
  readonly set: string | null;
  readonly temperature: number;
  readonly of: (cell: StudyCell) => SeedMean;
}

/** All cells of a setting measure the same. */
const measuresOf = (cells: readonly StudyCell[]): readonly Measure[] => [
  ...(cells[0]?.final ?? []).map(({ set, temperature }, i): Measure => ({
    set,
    temperature,
    of: ({ final }) => final[i]!.success,
  })),
  { set: null, temperature: 1, of: ({ training }) => training },
];

/** Success of the training batches: means of the chosen methods, on wish every seed, on wish the runs of this page. */
function StudyCurves({
  study,
  cells,
  place,
  drawn,
  seeds,
  ownRuns,
}: {
  readonly study: Study;
  readonly cells: readonly StudyCell[];
  readonly place: string;
  readonly drawn: readonly number[];
  readonly seeds: boolean;
  readonly ownRuns: boolean;
}) {
  const all = useTrainingTexts();
  const texts = all.study;
  const runs = useTrainer((state) => state.runs);
  const chosen = useMemo(() => cells.filter(({ method }) => drawn.includes(method)), [cells, drawn]);
  const series = useMemo((): CurveSeries[] => {
    const at = (window: number) => window * study.window;
    const ofSeeds = ({ curves, method }: StudyCell) =>
      curves.map((curve, i): CurveSeries => ({
        name: `${study.methods[method]!.name}, ${texts.seed(study.seeds[i]!)}`,
        look: { kind: 'part', place: drawn.indexOf(method) },
        isFaint: true,
        points: curve.map((success, window) => ({ x: at(window), y: success / 1000 })),
      }));
    const mean = ({ curves, method }: StudyCell): CurveSeries => ({
      name: study.methods[method]!.name,
      look: { kind: 'part', place: drawn.indexOf(method) },
      points: curves[0]!.map((_, window) => ({ x: at(window), y: meanAt(curves, window) / 1000 })),
    });
    const own = runs
      .filter(({ shown, history }) => shown && history.length > 0)
      .map(({ number, history }): CurveSeries => ({
        name: all.run(number),
        look: { kind: 'run', run: number },
        points: curveOf(
          history,
          ({ iteration }) => iteration,
          ({ success }) => success,
        ),
      }));
    return [...(seeds ? chosen.flatMap(ofSeeds) : []), ...chosen.map(mean), ...(ownRuns ? own : [])];
  }, [study, chosen, drawn, seeds, ownRuns, runs, all, texts]);
  return (
    <Curve
      figure="study-curves"
      title={texts.curves(place)}
      sentence={
        chosen.length === 0
          ? texts.noneDrawn
          : texts.curvesSentence(
              chosen.map(({ method, curves }) => [
                study.methods[method]!.name,
                meanAt(curves, curves[0]!.length - 1) / 1000,
              ]),
            )
      }
      unit="share"
      named
      series={series}
      table={() => ({
        head: [all.iterationAxis, ...series.map(({ name }) => name)],
        rows: series.length === 0 ? [] : rowsOf(series),
      })}
    />
  );
}

const meanAt = (curves: readonly (readonly number[])[], window: number) =>
  curves.reduce((sum, curve) => sum + curve[window]!, 0) / curves.length;

/** A row for each place where some curve has a point. */
function rowsOf(series: readonly CurveSeries[]): (string | number)[][] {
  const values = series.map(({ points }) => new Map(points.map(({ x, y }) => [x, y])));
  const places = [...new Set(values.flatMap((one) => [...one.keys()]))].sort((a, b) => a - b);
  return places.map((x) => [x, ...values.map((one) => one.get(x) ?? '')]);
}

/** Pairs of methods, subtracted seed by seed: an interval that holds 0 decides nothing. */
function Differences({ study, setting }: { readonly study: Study; readonly setting: number }) {
  const texts = useTrainingTexts().study;
  const pairs = study.differences.filter((pair) => pair.setting === setting);
  if (pairs.length === 0) return null;
  const named = pairs.map(({ methods: [first, second], final, training }) => ({
    name: `${study.methods[first]!.name} ${minus} ${study.methods[second]!.name}`,
    after: final[0] ?? training,
    training,
  }));
  return (
    <Figure
      name="study-differences"
      title={texts.differences}
      isDrawn={false}
      sentence={
        hasIntervals(study)
          ? texts.differencesSentence(named.length, named.filter(({ after }) => isDecided(after)).length)
          : texts.differencesOfFew(study.seeds.length)
      }
      aside={<Origin of="recorded" />}
      table={() => ({
        head: [texts.pair, texts.differenceAfter, texts.low, texts.high, texts.differenceDuring, texts.low, texts.high],
        rows: named.map(({ name, after, training }) => [
          name,
          ...[after, training].flatMap(({ mean, low, high }) => [percent(mean), percent(low), percent(high)]),
        ]),
      })}
    >
      <IntervalRows
        rows={named.map(({ name, after }) => ({
          ...onAxis(after),
          key: name,
          name,
          text: `${interval(after)}${isDecided(after) ? '' : ` ${texts.undecided}`}`,
        }))}
      />
    </Figure>
  );
}

const minus = '\u2212';
const onAxis = ({ mean, low, high }: SeedMean) => ({ value: mean, low: low ?? NaN, high: high ?? NaN });
const isDecided = ({ low, high }: SeedMean) => low !== null && high !== null && (low > 0 || high < 0);
const hasIntervals = ({ cells }: Study) => cells.some(({ training }) => training.low !== null);
/** Thousandths as percent. */
const percent = (value: number | null) => (value === null ? '' : (value / 10).toFixed(1).replace('-', minus));
const interval = ({ mean, low, high }: SeedMean) =>
  percent(mean) + (low === null ? '' : ` [${percent(low)}, ${percent(high)}]`);
