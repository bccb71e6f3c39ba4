import type { LabFigure } from '../../analysis/lab/figures.ts';
import type { Figure as Measured } from '../../analysis/lab/measures.ts';
import { methods as methodTable } from '../../estimators/registry.ts';
import { Figure } from '../chart/Figure.tsx';
import { IntervalRows } from '../chart/IntervalRows.tsx';
import { Origin } from '../chart/Origin.tsx';
import { useSettings, useView } from '../state/controls.ts';
import { labQuantities } from '../state/fields.ts';
import type { LabTexts } from '../text/lab-en.ts';
import { useLabTexts } from './use-lab-texts.ts';
import type { LabView } from './view.ts';

type Quantity = (typeof labQuantities)[number];

/** Of these less is better. */
const lower: readonly Quantity[] = ['scaledMse', 'noSignal', 'rmsBias', 'variance', 'oracleBias'];

/** An estimator against one truth: as it is, where it is in units of returns, and after one fitted constant. */
interface MethodRow {
  readonly name: string;
  readonly scaled: LabFigure;
  readonly plain: LabFigure | null;
}

/** Every method held against the truth, one quantity as a picture and all of them as a table. */
export function Methods({ view, depth }: { readonly view: LabView; readonly depth: number }) {
  const texts = useLabTexts();
  const quantity = useView((view) => view.labQuantity);
  const mode = useSettings((state) => state.normalisation);
  const rows = methodRows(view.methods ?? [], mode, depth, texts);
  const shown = rows
    .filter(({ scaled }) => scaled.target === 'state')
    .map((row) => ({ ...row, at: valueOf(row, quantity) }))
    .filter(({ at }) => at !== null && Number.isFinite(at.value))
    .map((row) => ({ ...row, at: row.at! }));
  const better = (a: number, b: number) =>
    quantity === 'gradientNormRatio' ? Math.abs(a - 1) < Math.abs(b - 1) : lower.includes(quantity) ? a < b : a > b;
  const best = shown.reduce<(typeof shown)[number] | null>(
    (found, row) => (found === null || better(row.at.value, found.at.value) ? row : found),
    null,
  );
  const rivals = shown.filter(
    ({ at }) => best && at !== best.at && at.value >= best.at.low && at.value <= best.at.high,
  );
  return (
    <Figure
      name="lab-methods"
      title={texts.methodsTitle}
      isDrawn={false}
      sentence={
        view.methods === null
          ? texts.methodsLater
          : best
            ? texts.methodsSentence(texts.quantities[quantity], best.name, best.at, shown.length - 1, rivals.length)
            : texts.onlyExact
      }
      aside={
        <>
          <Origin of={view.origin} />
          <select
            className="small"
            value={quantity}
            aria-label={texts.measure}
            onChange={(event) => {
              useView.setState({ labQuantity: event.currentTarget.value as Quantity });
            }}
          >
            {labQuantities.map((one) => (
              <option key={one} value={one}>
                {texts.quantities[one]}
              </option>
            ))}
          </select>
          <span className="soft small">{texts.methodsMode}</span>
        </>
      }
      table={() => ({
        head: [
          texts.methodColumns.method,
          texts.methodColumns.target,
          ...labQuantities.map((one) => texts.quantities[one]),
        ],
        rows: rows.map((row) => [
          row.name,
          texts.target[row.scaled.target],
          ...labQuantities.map((one) => {
            const at = valueOf(row, one);
            return at === null ? '–' : texts.interval(at);
          }),
        ]),
      })}
    >
      <IntervalRows rows={shown.map(({ name, at }) => ({ key: name, name, ...at, text: texts.interval(at) }))} />
      <p className="soft small">
        {texts.unitsNote}{' '}
        {view.discountedGradientCosine !== null && texts.discountedNote(view.discountedGradientCosine)}
      </p>
    </Figure>
  );
}

function methodRows(
  figures: readonly LabFigure[],
  mode: LabFigure['mode'],
  depth: number,
  texts: LabTexts,
): MethodRow[] {
  const same = (a: LabFigure, b: LabFigure) =>
    (['method', 'K', 'level', 'alpha', 'skipZero', 'target', 'mode'] as const).every((name) => a[name] === b[name]);
  const nameOf = ({ method, K, level, alpha, skipZero }: LabFigure) =>
    method !== 'hgpo'
      ? methodTable[method].name
      : level !== null
        ? texts.levelAlone(level)
        : texts.hgpoName(K ?? 0, alpha ?? 0, skipZero !== false);
  const wanted = ({ method, K, level }: LabFigure) =>
    method !== 'hgpo' || (level === null ? K === depth : level === 0 || level === depth);
  const ofMode = figures.filter((one) => one.mode === mode && wanted(one));
  // In units of returns an estimate is judged twice: as it is first, then after the fitted constant.
  return ofMode.flatMap((one, i) => {
    const isPlain = one.mode === 'mean_norm' && one.scale === 1;
    if (isPlain) return [];
    const before = ofMode[i - 1];
    const plain = before && before.scale === 1 && same(before, one) ? before : null;
    return [{ name: nameOf(one), scaled: one, plain }];
  });
}

const point = (value: number | null): Measured | null => (value === null ? null : { value, low: NaN, high: NaN });

function valueOf({ scaled, plain }: MethodRow, quantity: Quantity): Measured | null {
  switch (quantity) {
    case 'rmsBias':
    case 'variance':
      return plain && plain[quantity];
    case 'scaledMse':
      return scaled.mse;
    case 'oracleBias':
      return point(plain?.oracleBias ?? null);
    case 'gradientNormRatio':
      return point(scaled.gradientNormRatio);
    default: {
      const at = scaled[quantity];
      return at !== null && Number.isFinite(at.value) ? at : null;
    }
  }
}
