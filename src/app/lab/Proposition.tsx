import type { Figure as Measured } from '../../analysis/lab/measures.ts';
import type { PropositionTrial } from '../../analysis/lab/proposition.ts';
import { depthPaint } from '../chart/colour.ts';
import { Figure } from '../chart/Figure.tsx';
import { Origin } from '../chart/Origin.tsx';
import { useWidth } from '../chart/use-width.ts';
import { number } from '../number.ts';
import { useSettings } from '../state/controls.ts';
import { useLabTexts } from './use-lab-texts.ts';
import { deepestMet, type LabView } from './view.ts';

const claims = ['biasFalls', 'biasBounds', 'varianceRises', 'independence', 'varianceBounds'] as const;

/** Proposition 4.1: what it assumes and what it promises, held against what is measured. */
export function Proposition({ view, depth }: { readonly view: LabView; readonly depth: number }) {
  const texts = useLabTexts();
  const alpha = useSettings((state) => state.alpha);
  if (depth === 0) return <p className="soft">{texts.trialNone}</p>;
  const trial = view.trial(depth, alpha);
  if (trial === null) return <p>{texts.noLevel(depth, deepestMet(view))}</p>;
  const interval = ({ low, high }: Measured) => `${number(low)} – ${number(high)}`;
  return (
    <Figure
      name="lab-trial"
      title={texts.trialTitle}
      sentence={texts.trialNote(depth, trial.alpha, trial.coverage)}
      aside={<Origin of={view.origin} />}
      table={{
        head: texts.trialColumns,
        rows: [
          ...trial.levelBias.map((bias, k) => {
            const variance = trial.levelVariance[k]!;
            return [k, number(bias.value), interval(bias), number(variance.value), interval(variance)];
          }),
          [
            texts.sumRow,
            number(trial.bias.value),
            interval(trial.bias),
            number(trial.variance.value),
            interval(trial.variance),
          ],
          [texts.independentRow, '', '', number(trial.independentVariance.value), interval(trial.independentVariance)],
        ],
      }}
    >
      <TrialPicture trial={trial} />
      <ul className="lab-claims small">
        {claims.map((claim) => (
          <li key={claim}>
            {texts.assumptions[claim]}: <strong>{texts.verdicts[trial.verdicts[claim]]}</strong>
          </li>
        ))}
      </ul>
      <ul className="lab-sentences">
        {texts.trialSentences(trial).map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
      <div className="lab-scroll" tabIndex={0} role="group" aria-label={texts.correlations}>
        <table className="lab-table small">
          <caption className="soft">{texts.correlations}</caption>
          <thead>
            <tr>
              <th scope="col">k</th>
              {trial.correlation.map((_, k) => (
                <th key={k} scope="col">
                  {k}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {trial.correlation.map((row, k) => (
              <tr key={k}>
                <th scope="row">{k}</th>
                {row.map((value, l) => (
                  <td key={l}>{number(value)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Figure>
  );
}

const left = 44;
const top = 22;
const plot = 130;
const gap = 40;

/** Levels with their intervals; the weighted sum as a line with its band; the proposition's bounds dashed. */
function TrialPicture({ trial }: { readonly trial: PropositionTrial }) {
  const texts = useLabTexts();
  const [box, width] = useWidth<HTMLDivElement>(640);
  const { K } = trial;
  const last = <T,>(values: readonly T[]) => values[values.length - 1]!;
  const panels = [
    {
      name: texts.measures.rmsBias,
      levels: trial.levelBias,
      sum: trial.bias,
      bounds: [last(trial.levelBias).value, trial.levelBias[0]!.value],
      cross: NaN,
    },
    {
      name: texts.measures.variance,
      levels: trial.levelVariance,
      sum: trial.variance,
      bounds: [trial.levelVariance[0]!.value / (K + 1), last(trial.levelVariance).value],
      cross: trial.independentVariance.value,
    },
  ];
  const across = width >= 520 ? (width - gap) / 2 : width;
  const pitch = top + plot + 24;
  const inside = across - left - 10;
  return (
    <div ref={box}>
      <svg
        width={width}
        height={width >= 520 ? pitch : 2 * pitch}
        role="img"
        aria-label={texts.trialSentences(trial).join(' ')}
        className="trial-picture"
      >
        {panels.map(({ name, levels, sum, bounds, cross }, panel) => {
          const most = 1.08 * Math.max(...levels.map(({ high }) => high), sum.high, ...bounds);
          const y = (value: number) => top + plot * (1 - Math.max(0, value) / most);
          const x = (k: number) => left + (inside * (k + 0.5)) / (K + 1);
          return (
            <g
              key={name}
              transform={width >= 520 ? `translate(${panel * (across + gap)} 0)` : `translate(0 ${panel * pitch})`}
            >
              <text x={0} y={12}>
                {name}
              </text>
              {[0, most / 2 / 1.08, most / 1.08].map((tick) => (
                <text
                  key={tick}
                  x={left - 6}
                  y={y(tick)}
                  textAnchor="end"
                  dominantBaseline="central"
                  className="trial-tick"
                >
                  {number(tick)}
                </text>
              ))}
              <line x1={left} x2={left + inside} y1={y(0)} y2={y(0)} className="trial-axis" />
              <rect
                x={left}
                width={inside}
                y={y(sum.high)}
                height={Math.max(0, y(sum.low) - y(sum.high))}
                className="trial-band"
              />
              <line x1={left} x2={left + inside} y1={y(sum.value)} y2={y(sum.value)} className="trial-sum" />
              {bounds.map((bound, b) => (
                <line key={b} x1={left} x2={left + inside} y1={y(bound)} y2={y(bound)} className="trial-bound" />
              ))}
              {Number.isFinite(cross) && (
                <path d={`M${left + inside - 10} ${y(cross) - 5} l10 10 m0 -10 l-10 10`} className="trial-cross" />
              )}
              {levels.map(({ value, low, high }, k) => (
                <g key={k}>
                  <line x1={x(k)} x2={x(k)} y1={y(low)} y2={y(high)} className="trial-interval" />
                  <circle
                    cx={x(k)}
                    cy={y(value)}
                    r={4.5}
                    className="trial-dot"
                    style={{ fill: depthPaint(k, K).fill }}
                  />
                  <text x={x(k)} y={top + plot + 16} textAnchor="middle" className="trial-tick">
                    k = {k}
                  </text>
                </g>
              ))}
            </g>
          );
        })}
      </svg>
      <p className="soft small">{texts.bounds}</p>
    </div>
  );
}
