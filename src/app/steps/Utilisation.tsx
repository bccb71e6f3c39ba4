import type { LevelDiagnostics } from '../../analysis/groups.ts';
import { Figure } from '../chart/Figure.tsx';
import { Origin } from '../chart/Origin.tsx';
import { depthPaint } from '../chart/colour.ts';
import { useWidth } from '../chart/use-width.ts';
import { share } from '../number.ts';
import { useTexts } from '../text/language.ts';
import { paperUtilisation } from './paper-utilisation.ts';
import './Utilisation.css';

const left = 30;
const top = 8;
const plot = 108;

/** Share of steps that have company at each level, beside the paper's two figures. */
export function Utilisation({
  levels,
  deepest,
}: {
  readonly levels: readonly LevelDiagnostics[];
  readonly deepest: number;
}) {
  const texts = useTexts();
  const [box, width] = useWidth<HTMLDivElement>(320);
  const across = Math.min(width, 420) - left - 12;
  const x = (k: number) => left + (across * k) / (levels.length - 1);
  const y = (value: number) => top + plot * (1 - value);
  const last = levels[Math.min(deepest, levels.length - 1)]!;
  const sentence = texts.allSteps.utilisationSentence(levels[0]!.utilisation, last, paperUtilisation);
  return (
    <Figure
      name="utilisation"
      title={texts.allSteps.utilisation}
      sentence={sentence}
      terms={['history']}
      aside={
        <>
          <Origin of="measured" />
          <Origin of="paper" />
        </>
      }
      table={{
        head: ['k', texts.origin.measured, texts.origin.paper],
        rows: levels.map(({ k, utilisation }) => [
          k,
          share(utilisation),
          share(paperUtilisation.find((level) => level.k === k)?.utilisation ?? NaN),
        ]),
      }}
    >
      <div ref={box}>
        <svg
          width={across + left + 12}
          height={top + plot + 34}
          role="img"
          aria-label={sentence}
          className="utilisation"
        >
          {[0, 0.5, 1].map((value) => (
            <g key={value}>
              <line x1={left} x2={left + across} y1={y(value)} y2={y(value)} className="utilisation-grid" />
              <text x={left - 6} y={y(value)} textAnchor="end" dominantBaseline="central" className="utilisation-tick">
                {value}
              </text>
            </g>
          ))}
          <polyline
            className="utilisation-line"
            points={levels.map(({ k, utilisation }) => `${x(k)},${y(utilisation)}`).join(' ')}
          />
          {paperUtilisation.map(({ k, utilisation }) => (
            <path key={k} className="utilisation-paper" d={`M${x(k)} ${y(utilisation) - 6} l6 6 l-6 6 l-6 -6 z`} />
          ))}
          {levels.map(({ k, utilisation }) => (
            <g key={k}>
              <circle
                cx={x(k)}
                cy={y(utilisation)}
                r={k <= deepest ? 4.5 : 3}
                style={{ fill: k <= deepest ? depthPaint(k, deepest).fill : 'var(--paper)' }}
                className="utilisation-dot"
              />
              <text x={x(k)} y={top + plot + 15} textAnchor="middle" className="utilisation-tick">
                {k}
              </text>
            </g>
          ))}
          <text x={left} y={top + plot + 30} className="utilisation-tick">
            k · {texts.allSteps.utilisationAxis} · ◇ {texts.origin.paper}
          </text>
        </svg>
      </div>
    </Figure>
  );
}
