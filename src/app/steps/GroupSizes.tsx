import { lazy, memo } from 'react';
import type { LevelDiagnostics } from '../../analysis/groups.ts';
import { Figure } from '../chart/Figure.tsx';
import { Origin } from '../chart/Origin.tsx';
import { useWidth } from '../chart/use-width.ts';
import { count } from '../number.ts';
import { WhenNear } from '../shell/WhenNear.tsx';
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

// The library that draws it is half as large as all that the page needs to open.
const SizeHistograms = lazy(() =>
  import('./SizeHistograms.tsx').then((module) => ({ default: module.SizeHistograms })),
);

/** Height of a row of levels. */
const pitch = 104;

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
      <div ref={box} role="img" aria-label={`${sentence} ${texts.sizesAxis[kind]}`} className="group-sizes">
        {/* Its head is near the screen when the page opens: what is drawn comes when it is on it. */}
        <WhenNear height={`${Math.ceil(levels.length / columns) * pitch}px`} margin="0px">
          <SizeHistograms
            levels={levels.map(({ k }, level) => {
              const all = Math.max(
                1,
                counts[level]!.reduce((sum, n) => sum + n, 0),
              );
              return {
                k,
                bars: used.map((bin) => ({
                  from: bins[bin]!.from,
                  name: binName(bins[bin]!),
                  part: counts[level]![bin]! / all,
                })),
              };
            })}
            deepest={deepest}
            width={width}
            columns={columns}
            pitch={pitch}
          />
        </WhenNear>
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
