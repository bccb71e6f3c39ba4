import { Figure } from '../chart/Figure.tsx';
import { Origin } from '../chart/Origin.tsx';
import { number, share } from '../number.ts';
import { useLabChoices } from '../state/controls.ts';
import { labFields, type LabChoices } from '../state/fields.ts';
import { LevelChart } from './LevelChart.tsx';
import { deepestMet, levelCurve, type LabView } from './view.ts';
import { useLabTexts } from './use-lab-texts.ts';

/** RMS bias and variance of each level alone, on the rows that are named. */
export function Levels({ view, depth }: { readonly view: LabView; readonly depth: number }) {
  const texts = useLabTexts();
  const support = useLabChoices((state) => state.labSupport);
  const curve = levelCurve(view, support, depth);
  const chooser = (
    <label className="small lab-inline">
      {texts.support}{' '}
      <select
        value={support}
        onChange={(event) => {
          useLabChoices.setState({ labSupport: event.currentTarget.value as LabChoices['labSupport'] });
        }}
      >
        {labFields.labSupport.options.map((option) => (
          <option key={option} value={option}>
            {texts.supports[option]}
          </option>
        ))}
      </select>
    </label>
  );
  if (curve === null)
    return (
      <p>
        {texts.noLevel(depth, deepestMet(view))} {chooser}
      </p>
    );
  const last = curve.bias.length - 1;
  const places = curve.bias.map((_, k) => k);
  const table = {
    head: texts.columns,
    rows: places.map((k) => {
      const [bias, variance] = [curve.bias[k]!, curve.variance[k]!];
      return [
        k,
        number(bias.value),
        `${number(bias.low)} – ${number(bias.high)}`,
        number(variance.value),
        `${number(variance.low)} – ${number(variance.high)}`,
        share(curve.coverage[k]!),
      ];
    }),
  };
  return (
    <div>
      <p className="lab-support">{chooser}</p>
      <div className="lab-pair">
        {(['bias', 'variance'] as const).map((what) => {
          const title = what === 'bias' ? texts.biasTitle : texts.varianceTitle;
          const values = curve[what];
          const sentence = texts.curveSentence(title, values[0]!, values[last]!, last, curve.coverage[last]!);
          return (
            <Figure
              key={what}
              name={`lab-${what}`}
              title={title}
              sentence={sentence}
              table={table}
              aside={<Origin of={view.origin} />}
            >
              <LevelChart axis={texts.level} places={places} series={[{ name: title, values }]} sentence={sentence} />
            </Figure>
          );
        })}
      </div>
    </div>
  );
}
