import { useState } from 'react';
import type { LevelDiagnostics } from '../../analysis/groups.ts';
import { depthPaint } from '../chart/colour.ts';
import { Figure } from '../chart/Figure.tsx';
import { Origin } from '../chart/Origin.tsx';
import { useWidth } from '../chart/use-width.ts';
import { count, share } from '../number.ts';
import { useTexts } from '../text/language.ts';
import { binned, sizeBins } from './sizes.ts';
import './GroupSizes.css';

interface GroupSizesProps {
  /** Every level that K can ask for; those beyond K are drawn paler. */
  readonly levels: readonly LevelDiagnostics[];
  readonly deepest: number;
}

const binName = ({ from, to }: (typeof sizeBins)[number]) =>
  from === to ? String(from) : to === Infinity ? `>${from - 1}` : `${from}–${to}`;

const plot = 60;
const top = 18;
const bottom = 26;
const gap = 18;

/** One histogram of group sizes for each level: small multiples on the same axes. */
export function GroupSizes({ levels, deepest }: GroupSizesProps) {
  const texts = useTexts().allSteps;
  const [unit, choose] = useState<'rows' | 'groups'>('rows');
  const [box, width] = useWidth<HTMLDivElement>(600);
  const counts = levels.map(({ histogram }) => binned(histogram, unit));
  const used = sizeBins.map((_, bin) => bin).filter((bin) => counts.some((level) => level[bin]! > 0));
  const columns = width >= 900 ? levels.length : width >= 520 ? 5 : 3;
  const panel = (width + gap) / columns - gap;
  const bar = panel / used.length;
  const pitch = top + plot + bottom;
  const last = levels[Math.min(deepest, levels.length - 1)]!;
  const sentence = texts.sizesSentence(last.k, 1 - last.utilisation);
  return (
    <Figure
      title={texts.sizes}
      sentence={sentence}
      aside={
        <>
          <Origin of="measured" />
          <span className="group-sizes-units small" role="group" aria-label={texts.sizes}>
            {(['rows', 'groups'] as const).map((one) => (
              <button
                key={one}
                type="button"
                className="plain-button small"
                aria-pressed={unit === one}
                onClick={() => {
                  choose(one);
                }}
              >
                {one === 'rows' ? texts.perStep : texts.perGroup}
              </button>
            ))}
          </span>
        </>
      }
      table={{
        head: ['k', ...used.map((bin) => binName(sizeBins[bin]!))],
        rows: levels.map(({ k }, level) => [k, ...used.map((bin) => count(counts[level]![bin]!))]),
      }}
    >
      <div ref={box}>
        <svg
          width={width}
          height={Math.ceil(levels.length / columns) * pitch}
          role="img"
          aria-label={sentence}
          className="group-sizes"
        >
          {levels.map(({ k }, level) => {
            const all = Math.max(
              1,
              counts[level]!.reduce((sum, n) => sum + n, 0),
            );
            const inUse = k <= deepest;
            return (
              <g
                key={k}
                transform={`translate(${(level % columns) * (panel + gap)} ${Math.floor(level / columns) * pitch})`}
                className={inUse ? undefined : 'group-sizes-unused'}
              >
                <text x={0} y={11} className="group-sizes-level">
                  k = {k}
                </text>
                {used.map((bin, column) => {
                  const part = counts[level]![bin]! / all;
                  return (
                    <g key={bin}>
                      <rect
                        x={column * bar + 0.75}
                        y={top + plot * (1 - part)}
                        width={bar - 1.5}
                        height={plot * part}
                        style={{
                          fill: bin === 0 ? 'var(--edge)' : inUse ? depthPaint(k, deepest).fill : 'var(--hairline)',
                        }}
                      >
                        <title>{`${binName(sizeBins[bin]!)}: ${share(part)}`}</title>
                      </rect>
                      <text
                        x={(column + 0.5) * bar}
                        y={top + plot + 12}
                        textAnchor="middle"
                        className="group-sizes-bin"
                      >
                        {bar >= 13 || column % 2 === 0 ? sizeBins[bin]!.from : ''}
                      </text>
                    </g>
                  );
                })}
                <line x1={0} x2={panel} y1={top + plot + 0.5} y2={top + plot + 0.5} className="group-sizes-base" />
              </g>
            );
          })}
        </svg>
        <p className="soft small">{texts.sizesAxis}</p>
      </div>
    </Figure>
  );
}
