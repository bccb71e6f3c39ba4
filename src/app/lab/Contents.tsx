import type { Figure as Measured } from '../../analysis/lab/measures.ts';
import { Figure } from '../chart/Figure.tsx';
import { Origin } from '../chart/Origin.tsx';
import type { FigureName } from '../state/fields.ts';
import { LevelChart, type LevelSeries } from './LevelChart.tsx';
import { useLabTexts } from './use-lab-texts.ts';
import type { LabView } from './view.ts';

const point = (value: number | null | undefined): Measured => ({ value: value ?? NaN, low: NaN, high: NaN });

/** Several measures of the levels on the same axis. */
function LevelFigure(props: {
  readonly name: FigureName;
  readonly view: LabView;
  readonly title: string;
  readonly sentence: string;
  readonly series: readonly LevelSeries[];
}) {
  const texts = useLabTexts();
  const places = Array.from({ length: props.view.deepest + 1 }, (_, k) => k);
  return (
    <Figure
      name={props.name}
      title={props.title}
      sentence={props.sentence}
      aside={<Origin of={props.view.origin} />}
      table={{
        head: ['k', ...props.series.map(({ name }) => name)],
        rows: places.map((k) => [k, ...props.series.map(({ values }) => texts.interval(values[k] ?? point(null)))]),
      }}
    >
      <LevelChart axis={texts.level} places={places} series={props.series} sentence={props.sentence} />
    </Figure>
  );
}

/** The bias of each level against the state's truth, the input's truth and the paper's Oracle groups. */
export function Truths({ view }: { readonly view: LabView }) {
  const texts = useLabTexts();
  const levels = view.levels.map((_, k) => k);
  const ofLevel = (k: number, target: 'state' | 'input') =>
    view.methods?.find(
      (one) =>
        one.method === 'hgpo' &&
        one.level === k &&
        one.mode === 'mean_norm' &&
        one.target === target &&
        one.scale === 1,
    );
  const state = levels.map((k) => view.alone(k)?.rmsBias ?? point(null));
  const oracle = levels.map((k) => point(ofLevel(k, 'state')?.oracleBias));
  const series: LevelSeries[] = [
    { name: texts.truthSeries.state, values: state },
    { name: texts.truthSeries.input, values: levels.map((k) => ofLevel(k, 'input')?.rmsBias ?? point(null)) },
    { name: texts.truthSeries.oracle, values: oracle },
    { name: texts.truthSeries.exact, values: levels.map((k) => point(view.exactBaselineRms?.[k])) },
  ].filter(({ values }) => values.some(({ value }) => Number.isFinite(value)));
  return (
    <LevelFigure
      name="lab-truths"
      view={view}
      title={texts.truthsTitle}
      sentence={texts.truthsSentence(state[view.deepest]!.value, oracle[view.deepest]!.value, view.deepest)}
      series={series}
    />
  );
}

const partNames = ['baseline', 'ownTrajectory', 'selfInclusion', 'absent'] as const;

/** The four parts of each level's bias, told apart on the same rollouts. */
export function Parts({ view }: { readonly view: LabView }) {
  const texts = useLabTexts();
  const { parts, facts } = view;
  if (parts === null) {
    return (
      <section>
        <h3>{texts.partsTitle}</h3>
        <p className="soft">{facts.truth === 'exact' ? texts.methodsLater : texts.onlyExact}</p>
      </section>
    );
  }
  const last = parts[parts.length - 1]!;
  return (
    <LevelFigure
      name="lab-parts"
      view={view}
      title={texts.partsTitle}
      sentence={texts.partsSentence(last.baseline.rms.value, last.absent.rms.value, last.k)}
      series={partNames.map((name) => ({ name: texts.partSeries[name], values: parts.map((part) => part[name].rms) }))}
    />
  );
}
