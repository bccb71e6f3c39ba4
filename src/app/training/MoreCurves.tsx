import { useCallback, useMemo, useState } from 'react';
import { metricTable, type IterationMetrics } from '../../workers/training/client.ts';
import { useInTurn } from '../chart/use-in-turn.ts';
import { Fold } from '../shell/Fold.tsx';
import type { CurveName, FigureName } from '../state/fields.ts';
import { Curve, type CurveSeries } from './Curve.tsx';
import { MetricCurve } from './Curves.tsx';
import { curveOf } from './thin.ts';
import type { ShownRun } from './trainer.ts';
import { useTrainingTexts } from './use-training-texts.ts';

const plain: readonly CurveName[] = [
  'entropy',
  'gradientNorm',
  'invalidShare',
  'episodeLength',
  'withoutSignal',
  'penaltyOnly',
  'failedGroups',
  'klOnlyUpdates',
  'ratioSpread',
  'valueLoss',
  'score',
];

/** What a measurement is made of, by name. */
type Shares = readonly (readonly [string, number])[];

const successByTask = (metrics: IterationMetrics): Shares => Object.entries(metrics.successByTask);

/** Everything else that is measured, for who opens it. */
export function MoreCurves({ runs }: { readonly runs: readonly ShownRun[] }) {
  const texts = useTrainingTexts();
  const [chosen, choose] = useState<string | null>(null);
  const shown = useMemo(() => runs.filter((run) => run.shown && run.history.length > 0), [runs]);
  const phaseTimes = useCallback(
    (metrics: IterationMetrics): Shares => [
      [texts.phases['roll-out'], metrics.rolloutSeconds],
      [texts.phases.group, metrics.groupSeconds],
      [texts.phases.compare, metrics.advantageSeconds],
      [texts.phases.update, metrics.updateSeconds],
    ],
    [texts],
  );
  const detailed = shown.find(({ id }) => id === chosen) ?? shown.at(-1);
  return (
    <Fold name="more-curves" className="more-curves" summary={texts.moreCurves}>
      <div className="curves">
        {plain.map((name) => (
          <MetricCurve key={name} name={name} runs={shown} />
        ))}
      </div>
      {detailed && (
        <>
          {shown.length > 1 && (
            <p>
              <label>
                {texts.details}{' '}
                <select
                  value={detailed.id}
                  onChange={(event) => {
                    choose(event.currentTarget.value);
                  }}
                >
                  {shown.map(({ id, number }) => (
                    <option key={id} value={id}>
                      {number}
                    </option>
                  ))}
                </select>
              </label>
            </p>
          )}
          <div className="curves">
            <Levels name="utilisation" figure="level-utilisation" run={detailed} />
            <Levels name="levelWithoutSignal" figure="level-without-signal" run={detailed} />
            <Levels name="groupSize" figure="level-sizes" run={detailed} />
            <Parts figure="phase-times" run={detailed} title={texts.phaseTimes} unit="s" parts={phaseTimes} />
            <Parts
              figure="success-by-task"
              run={detailed}
              title={texts.metric('successByTask', metricTable.successByTask.name)}
              unit="share"
              parts={successByTask}
            />
          </div>
        </>
      )}
    </Fold>
  );
}

/** One curve for each level of history. */
function Levels({
  name,
  figure,
  run,
}: {
  readonly name: 'utilisation' | 'levelWithoutSignal' | 'groupSize';
  readonly figure: FigureName;
  readonly run: ShownRun;
}) {
  const texts = useTrainingTexts();
  const { name: english, unit } = metricTable[name];
  const parts = useCallback(
    (metrics: IterationMetrics): Shares => metrics[name].map((value, k) => [texts.level(k), value]),
    [name, texts],
  );
  return <Parts figure={figure} run={run} title={texts.metric(name, english)} unit={unit} isDepth parts={parts} />;
}

/** Several curves of one run in one figure. */
function Parts({
  figure,
  run,
  title,
  unit,
  isDepth = false,
  parts,
}: {
  readonly figure: FigureName;
  readonly run: ShownRun;
  readonly title: string;
  readonly unit: string;
  readonly isDepth?: boolean;
  readonly parts: (metrics: IterationMetrics) => Shares;
}) {
  const texts = useTrainingTexts();
  const drawn = useInTurn(run);
  const columns = useMemo(() => drawn && columnsOf(drawn.history, parts), [drawn, parts]);
  const series = useMemo(
    () =>
      columns &&
      [...columns].map(([name, values], place): CurveSeries => ({
        name,
        look: isDepth ? { kind: 'depth', level: place, deepest: columns.size - 1 } : { kind: 'part', place },
        points: curveOf(
          values,
          ({ iteration }) => iteration,
          ({ value }) => (Number.isFinite(value) ? value : null),
        ),
      })),
    [columns, isDepth],
  );
  const last = run.history.at(-1)!;
  return (
    <Curve
      figure={figure}
      title={title}
      sentence={texts.parts(title, run.number, parts(last))}
      unit={unit}
      series={series}
      named
      table={() => {
        const names = [...columnsOf(run.history, parts).keys()];
        return {
          head: [texts.iterationAxis, ...names],
          rows: run.history.map((metrics) => {
            const values = new Map(parts(metrics));
            return [metrics.iteration, ...names.map((name) => values.get(name) ?? '')];
          }),
        };
      }}
    />
  );
}

interface IterationValue {
  readonly iteration: number;
  readonly value: number;
}

/** The iterations that have a part, by its name, in one walk over the history: not every iteration has every part. */
function columnsOf(
  history: readonly IterationMetrics[],
  parts: (metrics: IterationMetrics) => Shares,
): Map<string, IterationValue[]> {
  const columns = new Map<string, IterationValue[]>();
  for (const metrics of history) {
    for (const [name, value] of parts(metrics)) {
      const column = columns.get(name);
      const point = { iteration: metrics.iteration, value };
      if (column) column.push(point);
      else columns.set(name, [point]);
    }
  }
  return columns;
}
