import { useMemo, useState } from 'react';
import { metricTable, type IterationMetrics } from '../../workers/training/client.ts';
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

/** Everything else that is measured, for who opens it. */
export function MoreCurves({ runs }: { readonly runs: readonly ShownRun[] }) {
  const texts = useTrainingTexts();
  const [chosen, choose] = useState<string | null>(null);
  const shown = useMemo(() => runs.filter((run) => run.shown && run.history.length > 0), [runs]);
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
            <Parts
              figure="phase-times"
              run={detailed}
              title={texts.phaseTimes}
              unit="s"
              parts={(metrics) => [
                [texts.phases['roll-out'], metrics.rolloutSeconds],
                [texts.phases.group, metrics.groupSeconds],
                [texts.phases.compare, metrics.advantageSeconds],
                [texts.phases.update, metrics.updateSeconds],
              ]}
            />
            <Parts
              figure="success-by-task"
              run={detailed}
              title={texts.metric('successByTask', metricTable.successByTask.name)}
              unit="share"
              parts={(metrics) => Object.entries(metrics.successByTask)}
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
  return (
    <Parts
      figure={figure}
      run={run}
      title={texts.metric(name, english)}
      unit={unit}
      isDepth
      parts={(metrics) => metrics[name].map((value, k) => [texts.level(k), value])}
    />
  );
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
  readonly parts: (metrics: IterationMetrics) => readonly (readonly [string, number])[];
}) {
  const texts = useTrainingTexts();
  const names = new Set<string>();
  for (const metrics of run.history) for (const [name] of parts(metrics)) names.add(name);
  const columns = [...names];
  const valueOf = (metrics: IterationMetrics, name: string) => parts(metrics).find(([part]) => part === name)?.[1];
  const series = columns.map((name, place): CurveSeries => ({
    name,
    look: isDepth ? { kind: 'depth', level: place, deepest: columns.length - 1 } : { kind: 'part', place },
    points: curveOf(
      run.history.filter((metrics) => valueOf(metrics, name) !== undefined),
      ({ iteration }) => iteration,
      (metrics) => {
        const value = valueOf(metrics, name)!;
        return Number.isFinite(value) ? value : null;
      },
    ),
  }));
  const last = run.history.at(-1)!;
  return (
    <Curve
      figure={figure}
      title={title}
      sentence={texts.parts(title, run.number, parts(last))}
      unit={unit}
      series={series}
      named
      table={() => ({
        head: [texts.iterationAxis, ...columns],
        rows: run.history.map((metrics) => {
          const values = new Map(parts(metrics));
          return [metrics.iteration, ...columns.map((name) => values.get(name) ?? '')];
        }),
      })}
    />
  );
}
