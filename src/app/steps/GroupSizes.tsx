import { memo } from 'react';
import type { LevelDiagnostics } from '../../analysis/groups.ts';
import { depthPaint } from '../chart/colour.ts';
import { Figure } from '../chart/Figure.tsx';
import { Origin } from '../chart/Origin.tsx';
import { useWidth } from '../chart/use-width.ts';
import { count, share } from '../number.ts';
import { useSettings } from '../state/controls.ts';
import { settingFields } from '../state/fields.ts';
import { useTexts } from '../text/language.ts';
import { binName, binned, sizeBins } from './sizes.ts';
import './GroupSizes.css';

interface GroupSizesProps {
  /** Every level that K can ask for; those beyond K are drawn paler. */
  readonly levels: readonly LevelDiagnostics[];
  readonly deepest: number;
}

const plot = 60;
const top = 18;
const bottom = 26;
const gap = 18;

/** One histogram of group sizes for each level: small multiples on the same axes. Dragging α leaves it alone. */
export const GroupSizes = memo(Histograms);

function Histograms({ levels, deepest }: GroupSizesProps) {
  const texts = useTexts().allSteps;
  const unit = useSettings((settings) => settings.sizeUnit);
  const kind = useSettings((settings) => settings.sizeBins);
  const bins = sizeBins[kind];
  const [box, width] = useWidth<HTMLDivElement>(600);
  const counts = levels.map(({ histogram }) => binned(histogram, bins, unit));
  const occupied = (bin: number) => counts.some((level) => level[bin]! > 0);
  // Empty bins between others stay: the axis is one of sizes.
  const used = bins.map((_, bin) => bin).filter((bin) => bins.some((_, other) => other >= bin && occupied(other)));
  const columns = width >= 900 ? levels.length : width >= 520 ? 5 : 3;
  const panel = (width + gap) / columns - gap;
  const bar = panel / used.length;
  // Names of bins, as many as there is room for.
  const every = Math.ceil(13 / bar);
  const isLastNarrow = (column: number) => every > 1 && column === used.length - 1;
  const space = Math.min(1.5, bar / 4);
  const pitch = top + plot + bottom;
  const last = levels[Math.min(deepest, levels.length - 1)]!;
  const sentence = texts.sizesSentence(last.k, 1 - last.utilisation);
  return (
    <Figure
      name="sizes"
      title={texts.sizes}
      sentence={sentence}
      aside={
        <>
          <Origin of="measured" />
          <Switch
            label={texts.sizesCount}
            options={settingFields.sizeUnit.options}
            value={unit}
            names={texts.sizeUnits}
            onChoose={(sizeUnit) => {
              useSettings.setState({ sizeUnit });
            }}
          />
          <Switch
            label={texts.sizesBins}
            options={settingFields.sizeBins.options}
            value={kind}
            names={texts.sizeBins}
            onChoose={(sizeBins) => {
              useSettings.setState({ sizeBins });
            }}
          />
        </>
      }
      table={() => ({
        head: ['k', ...used.map((bin) => binName(bins[bin]!))],
        rows: levels.map(({ k }, level) => [k, ...used.map((bin) => count(counts[level]![bin]!))]),
      })}
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
                        x={column * bar + space / 2}
                        y={top + plot * (1 - part)}
                        width={bar - space}
                        height={plot * part}
                        style={{
                          fill: bin === 0 ? 'var(--edge)' : inUse ? depthPaint(k, deepest).fill : 'var(--hairline)',
                        }}
                      >
                        <title>{`${binName(bins[bin]!)}: ${share(part)}`}</title>
                      </rect>
                      <text
                        // The last name would stand out of the drawing where bars are narrower than it.
                        x={isLastNarrow(column) ? panel : (column + 0.5) * bar}
                        y={top + plot + 12}
                        textAnchor={isLastNarrow(column) ? 'end' : 'middle'}
                        className="group-sizes-bin"
                      >
                        {column % every === 0 ? bins[bin]!.from : ''}
                      </text>
                    </g>
                  );
                })}
                <line x1={0} x2={panel} y1={top + plot + 0.5} y2={top + plot + 0.5} className="group-sizes-base" />
              </g>
            );
          })}
        </svg>
        <p className="soft small">{texts.sizesAxis[kind]}</p>
      </div>
    </Figure>
  );
}

/** A few words of which one holds. */
function Switch<Option extends string>(props: {
  readonly label: string;
  readonly options: readonly Option[];
  readonly value: Option;
  readonly names: Readonly<Record<Option, string>>;
  readonly onChoose: (option: Option) => void;
}) {
  return (
    <span className="group-sizes-switch small" role="group" aria-label={props.label}>
      {props.options.map((option) => (
        <button
          key={option}
          type="button"
          className="plain-button small"
          aria-pressed={props.value === option}
          onClick={() => {
            props.onChoose(option);
          }}
        >
          {props.names[option]}
        </button>
      ))}
    </span>
  );
}
