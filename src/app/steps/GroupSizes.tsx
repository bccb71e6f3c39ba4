import { useState } from 'react';
import { Figure } from '../chart/Figure.tsx';
import { Origin } from '../chart/Origin.tsx';
import { depthPaint } from '../chart/colour.ts';
import { useWidth } from '../chart/useWidth.ts';
import { count, share } from '../number.ts';
import { useTexts } from '../text/language.ts';
import { sizeBins, type LevelSizes } from './sizes.ts';
import './GroupSizes.css';

const binName = ({ from, to }: (typeof sizeBins)[number]) =>
  from === to ? String(from) : to === Infinity ? `>${from - 1}` : `${from}–${to}`;

const bar = 13;
const plot = 64;

/** One histogram of group sizes for each level, small multiples on the same axes. */
export function GroupSizes({ levels, deepest }: { readonly levels: readonly LevelSizes[]; readonly deepest: number }) {
  const texts = useTexts().allSteps;
  const [per, choose] = useState<'steps' | 'groups'>('steps');
  const [box, width] = useWidth<HTMLDivElement>(600);
  const shown = sizeBins.filter((_, bin) => levels.some(({ steps }) => steps[bin]! > 0));
  const total = (level: LevelSizes) => level[per].reduce((sum, n) => sum + n, 0);
  const panel = shown.length * bar + 34;
  const columns = Math.max(1, Math.floor((width + 8) / panel));
  const rows = Math.ceil(levels.length / columns);
  const pitch = plot + 44;
  const last = levels[Math.min(deepest, levels.length - 1)]!;
  return (
    <Figure
      title={texts.sizes}
      sentence={texts.sizesSentence(last.level, last.steps[0]! / total(last))}
      aside={
        <>
          <Origin of="measured" />
          <span className="group-sizes-per small" role="group" aria-label={texts.sizes}>
            {(['steps', 'groups'] as const).map((unit) => (
              <button
                key={unit}
                type="button"
                className="plain-button small"
                aria-pressed={per === unit}
                onClick={() => {
                  choose(unit);
                }}
              >
                {unit === 'steps' ? texts.perStep : texts.perGroup}
              </button>
            ))}
          </span>
        </>
      }
      table={{
        head: ['k', ...shown.map(binName)],
        rows: levels.map((level) => [level.level, ...shown.map((bin) => count(level[per][sizeBins.indexOf(bin)]!))]),
      }}
    >
      <div ref={box}>
        <svg
          width={width}
          height={rows * pitch}
          role="img"
          aria-label={texts.sizesSentence(last.level, last.steps[0]! / total(last))}
          className="group-sizes"
        >
          {levels.map((level, index) => {
            const x = (index % columns) * panel;
            const y = Math.floor(index / columns) * pitch;
            const all = Math.max(1, total(level));
            const inUse = level.level <= deepest;
            return (
              <g
                key={level.level}
                transform={`translate(${x} ${y})`}
                className={inUse ? undefined : 'group-sizes-unused'}
              >
                <text x={0} y={11} className="group-sizes-level">
                  k = {level.level}
                </text>
                {shown.map((bin, column) => {
                  const part = level[per][sizeBins.indexOf(bin)]! / all;
                  const height = part * plot;
                  return (
                    <g key={bin.from}>
                      <rect
                        x={column * bar + 1}
                        y={16 + plot - height}
                        width={bar - 2}
                        height={height}
                        style={{
                          fill:
                            bin.from === 1 ? 'var(--edge)' : depthPaint(Math.min(level.level, deepest), deepest).fill,
                        }}
                      >
                        <title>{`${binName(bin)}: ${share(part)}`}</title>
                      </rect>
                      {column % 2 === 0 && (
                        <text
                          x={column * bar + bar / 2}
                          y={16 + plot + 11}
                          textAnchor="middle"
                          className="group-sizes-bin"
                        >
                          {bin.from}
                        </text>
                      )}
                    </g>
                  );
                })}
                <line
                  x1={0}
                  x2={shown.length * bar}
                  y1={16 + plot + 0.5}
                  y2={16 + plot + 0.5}
                  className="group-sizes-base"
                />
              </g>
            );
          })}
        </svg>
      </div>
    </Figure>
  );
}
