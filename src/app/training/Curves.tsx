import { useMemo } from 'react';
import { metricTable, type Validation } from '../../workers/training/client.ts';
import type { FigureTable } from '../chart/Figure.tsx';
import { useInTurn } from '../chart/use-in-turn.ts';
import { share } from '../number.ts';
import { curveNames, type CurveName } from '../state/fields.ts';
import { Curve, type CurveSeries } from './Curve.tsx';
import { curveOf } from './thin.ts';
import type { ShownRun } from './trainer.ts';
import { useTrainingTexts } from './use-training-texts.ts';

const paperMetrics = curveNames.filter((name) => metricTable[name].paper);

/** The six curves of the paper, for every run that is drawn, and what validation found. */
export function Curves({ runs }: { readonly runs: readonly ShownRun[] }) {
  const shown = useMemo(() => runs.filter((run) => run.shown), [runs]);
  return (
    <div className="curves">
      {paperMetrics.map((name) => (
        <MetricCurve key={name} name={name} runs={shown} />
      ))}
      {shown.some(({ validations }) => validations.length > 0) && <Validations runs={shown} />}
    </div>
  );
}

export function MetricCurve({ name, runs }: { readonly name: CurveName; readonly runs: readonly ShownRun[] }) {
  const texts = useTrainingTexts();
  const { name: english, unit } = metricTable[name];
  const title = texts.metric(name, english);
  const drawn = useInTurn(runs);
  const series = useMemo(
    () =>
      drawn?.map((run): CurveSeries => ({
        name: texts.run(run.number),
        look: { kind: 'run', run: run.number },
        points: curveOf(
          run.history,
          ({ iteration }) => iteration,
          (metrics) => (Number.isFinite(metrics[name]) ? metrics[name] : null),
        ),
      })) ?? null,
    [drawn, name, texts],
  );
  const last = runs.flatMap(({ number, history }) => {
    const metrics = history.at(-1);
    return metrics ? [{ run: number, value: metrics[name], iteration: metrics.iteration }] : [];
  });
  return (
    <Curve
      figure={name}
      title={title}
      sentence={texts.curveSentence(title, last)}
      unit={unit}
      named={runs.length > 1}
      series={series}
      table={() => metricRows(runs, name, texts.iterationAxis, texts.run)}
    />
  );
}

/** A row for each iteration, a column for each run. */
function metricRows(
  runs: readonly ShownRun[],
  name: CurveName,
  axis: string,
  runName: (n: number) => string,
): FigureTable {
  const longest = Math.max(0, ...runs.map(({ history }) => history.length));
  return {
    head: [axis, ...runs.map(({ number }) => runName(number))],
    rows: Array.from({ length: longest }, (_, i) => [i, ...runs.map(({ history }) => history[i]?.[name] ?? '')]),
  };
}

const overall = ({ results }: Validation) => results.find(({ task }) => task === 'all')!;

function Validations({ runs }: { readonly runs: readonly ShownRun[] }) {
  const texts = useTrainingTexts();
  const series = runs.flatMap((run) =>
    [...new Set(run.validations.map(({ split }) => split))].map((split, place): CurveSeries => ({
      name: `${texts.run(run.number)}, ${split}`,
      look: { kind: 'part', place: run.number - 1 + place },
      marks: true,
      points: run.validations
        .filter((validation) => validation.split === split)
        .map((validation) => ({ x: validation.iteration + 1, y: overall(validation).success })),
    })),
  );
  return (
    <Curve
      figure="validation"
      title={texts.validation}
      sentence={texts.validationSentence}
      unit="share"
      named
      series={series}
      table={() => ({
        head: [texts.run(1).replace(/ ?1/, ''), texts.iterationAxis, 'split', 'episodes', '%', '95 % low', '95 % high'],
        rows: runs.flatMap(({ number, validations }) =>
          validations.map((validation) => {
            const { episodes, success, low, high } = overall(validation);
            return [
              number,
              validation.iteration + 1,
              validation.split,
              episodes,
              share(success),
              share(low),
              share(high),
            ];
          }),
        ),
      })}
    />
  );
}
