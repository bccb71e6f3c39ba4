import { lazy, Suspense } from 'react';
import { explainRow } from '../../estimators/explain.ts';
import { methods as methodTable } from '../../estimators/registry.ts';
import { advantagePaint, depthPaint } from '../chart/colour.ts';
import { FigureSave } from '../chart/FigureSave.tsx';
import { Termed } from '../glossary/Termed.tsx';
import { share, signed } from '../number.ts';
import { Fold } from '../shell/Fold.tsx';
import type { Estimates } from '../state/estimates.ts';
import { methods, type Method } from '../state/fields.ts';
import { useTexts } from '../text/language.ts';
import { oracleAdvantage } from './oracle.ts';
import { PartName } from './PartName.tsx';
import { runningSum, sizeOf } from './parts.ts';
import { stepTable } from './step-table.ts';
import { at, Track } from './Track.tsx';
import { hasRightSign, truthOf, truthReach, TruthRows, TruthSentence } from './Truth.tsx';
import './StepAdvantage.css';

const Misled = lazy(() => import('./Misled.tsx'));

interface StepAdvantageProps {
  readonly estimates: Estimates;
  readonly row: number;
  readonly method: Method;
  readonly onMethod: (method: Method) => void;
  /** Opens the arithmetic behind a method's number. */
  readonly onOpen: (method: Method) => void;
}

/** The advantage of one step: part by part, summed, and beside what the other methods say, all on one axis. */
export function StepAdvantage({ estimates, row, method, onMethod, onOpen }: StepAdvantageProps) {
  const texts = useTexts().compare;
  const { batch, byMethod } = estimates;
  const { settings } = byMethod.hgpo;
  const estimate = byMethod[method];
  const valueOf = (one: Method) => byMethod[one]?.advantage[row] ?? NaN;
  const truth = truthOf(estimates, row);
  const inReturns = settings.mode === 'mean_norm';
  const value = valueOf(method);
  const oracle = oracleAdvantage(estimates, settings.K, row);
  const parts = estimate ? explainRow(batch, estimate, row).parts : [];
  // RLOO never divides by a standard deviation: where the others do, it is off their scale and must not set it.
  const onScale = methods.filter((one) => one !== 'rloo' || inReturns);
  const reach = Math.max(
    0.5,
    inReturns && truth ? truthReach(truth) : 0,
    ...onScale.map((one) => Math.abs(valueOf(one) || 0)),
    Math.abs(oracle || 0),
    ...(method === 'rloo' ? [] : parts.map(({ advantage }) => (Number.isNaN(advantage) ? 0 : Math.abs(advantage)))),
  );
  const opposite = methods.filter((one) => valueOf(one) * value < 0);
  const deepest = settings.K;
  const name = methodTable[method].name;
  const segments = runningSum(parts);
  const note = (here: number, missing: string) => {
    if (Number.isNaN(here)) return missing;
    if (here === 0) return texts.states.zero;
    const right = hasRightSign(truth, here);
    if (right !== null) return right ? texts.truth.right : texts.truth.wrong;
    return truth === null && here * value < 0 ? texts.opposite : '';
  };

  return (
    <div className="step-advantage">
      <FigureSave
        of={texts.ofStep}
        table={() => stepTable(estimates, row, method, texts)}
        picture={() => document.querySelector('.step-advantage-table')}
      />
      <p className="step-advantage-sentence">
        {estimate ? texts.sentence(value, name) : texts.pending}{' '}
        {truth && <TruthSentence truth={truth} valueOf={valueOf} />}
        {estimate && !truth && (
          <span className="soft">
            {opposite.length > 0 ? texts.disagree(opposite.map((one) => methodTable[one].name)) : texts.agree}
          </span>
        )}
      </p>
      <table className="step-advantage-table">
        <caption className="visually-hidden">{texts.title}</caption>
        <colgroup>
          <col className="step-advantage-name" />
          <col className="step-advantage-count" />
          <col />
          <col className="step-advantage-value" />
          <col className="step-advantage-weight" />
        </colgroup>
        <thead>
          <tr>
            <th scope="col">{texts.compared}</th>
            <th scope="col" className="numeric">
              n
            </th>
            <th scope="col">
              <span className="axis-ends">
                <span>{signed(-reach)}</span>
                <span>0</span>
                <span>{signed(reach)}</span>
              </span>
            </th>
            <th scope="col" className="numeric">
              A
            </th>
            <th scope="col" className="numeric">
              <Termed text={texts.weight} terms={['weight']} />
            </th>
          </tr>
        </thead>
        <tbody>
          {parts.map((part, index) => (
            <tr key={index} className={part.state === 'counts' ? undefined : 'step-advantage-idle'}>
              <th scope="row">
                <PartName part={part} />
              </th>
              <td className="numeric">{sizeOf(part) > 0 ? sizeOf(part) : '–'}</td>
              <td>
                <Track>
                  <Bar value={part.advantage} reach={reach} />
                </Track>
              </td>
              <td className="numeric">{Number.isNaN(part.advantage) ? '–' : signed(part.advantage)}</td>
              <td className="numeric">
                {part.state === 'counts' ? `× ${share(part.weight)}` : texts.states[part.state]}
              </td>
            </tr>
          ))}
          <tr className="step-advantage-sum">
            <th scope="row" colSpan={2}>
              {texts.sum(name)}
            </th>
            <td>
              <Track lines={Math.max(2, segments.length)}>
                {segments.map(({ part, from, to }, index) => (
                  <rect
                    key={index}
                    x={`${at(Math.min(from, to), reach)}%`}
                    width={`${Math.max(0.4, (Math.abs(to - from) / reach) * 50)}%`}
                    y={3 + index * 6}
                    height={5}
                    style={{ fill: part.kind === 'level' ? depthPaint(part.k ?? 0, deepest).fill : 'var(--edge)' }}
                  />
                ))}
              </Track>
            </td>
            <td className="numeric">
              <Value name={name} method={method} value={value} onOpen={onOpen} strong />
            </td>
            <td />
          </tr>
        </tbody>
        <tbody>
          <tr>
            <th scope="rowgroup" colSpan={5} className="step-advantage-heading">
              {texts.methods}
            </th>
          </tr>
          {methods.map((one) => {
            const here = valueOf(one);
            return (
              <tr key={one} className={one === method ? 'step-advantage-own' : undefined}>
                <th scope="row" colSpan={2}>
                  <button
                    type="button"
                    className="value-button"
                    aria-pressed={one === method}
                    onClick={() => {
                      onMethod(one);
                    }}
                  >
                    {methodTable[one].name}
                  </button>
                </th>
                <td>
                  <Track>
                    <line className="step-advantage-stem" x1="50%" x2={`${at(here || 0, reach)}%`} y1={9} y2={9} />
                    <Dot value={here} reach={reach} />
                  </Track>
                </td>
                <td className="numeric">
                  <Value name={methodTable[one].name} method={one} value={here} onOpen={onOpen} />
                </td>
                <td className="numeric">{note(here, texts.pending)}</td>
              </tr>
            );
          })}
          <tr>
            <th scope="row" colSpan={2} title={texts.oracleMeaning(deepest)}>
              <Termed text="Oracle" terms={['oracle']} />{' '}
              <span className="soft">
                G<sub>{deepest}</sub>
              </span>
            </th>
            <td>
              <Track>
                <line className="step-advantage-stem" x1="50%" x2={`${at(oracle || 0, reach)}%`} y1={9} y2={9} />
                <Dot value={oracle} reach={reach} />
              </Track>
            </td>
            <td className="numeric">
              {Number.isNaN(oracle) ? '–' : <Value name="Oracle" method="hgpo" value={oracle} onOpen={onOpen} />}
            </td>
            <td className="numeric">{note(oracle, texts.states.alone)}</td>
          </tr>
        </tbody>
        {truth && <TruthRows truth={truth} gamma={settings.gamma} sharedReach={inReturns ? reach : null} />}
      </table>
      {truth && (
        <Fold name="misled" summary={texts.truth.open}>
          <Suspense>
            <Misled estimates={estimates} row={row} method={method} />
          </Suspense>
        </Fold>
      )}
    </div>
  );
}

/** An advantage that opens to the arithmetic of a method. */
function Value(props: {
  readonly name: string;
  readonly method: Method;
  readonly value: number;
  readonly strong?: boolean;
  readonly onOpen: (method: Method) => void;
}) {
  const texts = useTexts().compare;
  return (
    <button
      type="button"
      className="value-button"
      title={texts.open}
      aria-label={`${props.name} ${signed(props.value)}: ${texts.open}`}
      onClick={() => {
        props.onOpen(props.method);
      }}
    >
      {props.strong ? <strong>{signed(props.value)}</strong> : signed(props.value)}
    </button>
  );
}

function Bar({ value, reach }: { readonly value: number; readonly reach: number }) {
  if (Number.isNaN(value) || value === 0) return null;
  const end = at(value, reach);
  return (
    <rect
      x={`${Math.min(50, end)}%`}
      width={`${Math.abs(end - 50)}%`}
      y={4}
      height={10}
      style={{ fill: value > 0 ? 'var(--above)' : 'var(--below)' }}
    />
  );
}

/** A dot at a value, or an arrowhead at the end of the axis for a value beyond it. */
function Dot({ value, reach }: { readonly value: number; readonly reach: number }) {
  if (Number.isNaN(value)) return null;
  const { fill } = advantagePaint(value, reach / 2);
  if (Math.abs(value) <= reach) {
    return <circle cx={`${at(value, reach)}%`} cy={9} r={4.5} className="step-advantage-dot" style={{ fill }} />;
  }
  const sign = Math.sign(value);
  return (
    <svg x={`${at(value, reach)}%`} y={9} overflow="visible">
      <path d={`M${-5 * sign} -5 L${4 * sign} 0 L${-5 * sign} 5 z`} className="step-advantage-dot" style={{ fill }} />
    </svg>
  );
}
