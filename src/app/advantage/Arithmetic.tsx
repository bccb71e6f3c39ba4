import { useEffect, useRef } from 'react';
import { explainRow, type AdvantagePart, type ComparisonPart } from '../../estimators/explain.ts';
import { methods as methodTable } from '../../estimators/registry.ts';
import { Formula } from '../chart/Formula.tsx';
import { count, number, share, signed } from '../number.ts';
import type { Estimates } from '../state/estimates.ts';
import type { Method } from '../state/fields.ts';
import { chooseAddress } from '../state/selection.ts';
import { addressOf } from '../steps/flips.ts';
import { useTexts } from '../text/language.ts';
import { comparisonFormula, creditFormula, sumFormula } from './formulas.ts';
import { PartName } from './PartName.tsx';
import './Arithmetic.css';

interface ArithmeticProps {
  readonly estimates: Estimates;
  readonly row: number;
  readonly method: Method;
  readonly onHover: (row: number) => void;
  readonly onClose: () => void;
}

/** A member list beyond this length says how many it leaves out. */
const listed = 40;

/** Where one number comes from: the formula with its numbers, and for each part the steps that it was made of. */
export function Arithmetic({ estimates, row, method, onHover, onClose }: ArithmeticProps) {
  const all = useTexts();
  const texts = all.compare;
  const panel = useRef<HTMLElement>(null);
  useEffect(() => {
    const opener = document.activeElement;
    panel.current?.focus({ preventScroll: true });
    return () => {
      if (opener instanceof HTMLElement) opener.focus({ preventScroll: true });
    };
  }, []);
  const { batch, byMethod } = estimates;
  const estimate = byMethod[method];
  if (!estimate) return null;
  const { parts, advantage } = explainRow(batch, estimate, row);
  const name = methodTable[method].name;
  const scaled = estimate.settings.mode === 'mean_std_norm' && method !== 'rloo';
  return (
    <aside
      ref={panel}
      className="arithmetic"
      tabIndex={-1}
      aria-label={`${texts.arithmetic}: ${name}`}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.stopPropagation();
        onClose();
      }}
    >
      <div className="arithmetic-head">
        <h3>
          {name}: {signed(advantage)}
        </h3>
        <button type="button" className="plain-button" onClick={onClose}>
          {texts.close}
        </button>
      </div>
      <p className="soft small">{all.sentences[method] ?? methodTable[method].sentence}</p>
      <Formula {...sumFormula(parts, advantage)} />
      {parts.map((part, index) => (
        <details key={index} open={part.state === 'counts'}>
          <summary>
            <PartName part={part} /> {Number.isNaN(part.advantage) ? '' : signed(part.advantage)}{' '}
            <span className="soft">
              {part.state === 'counts' ? `× ${share(part.weight)}` : texts.states[part.state]}
            </span>
          </summary>
          <PartArithmetic part={part} scaled={scaled} estimates={estimates} row={row} onHover={onHover} />
        </details>
      ))}
    </aside>
  );
}

interface PartProps<Part> {
  readonly part: Part;
  readonly scaled: boolean;
  readonly estimates: Estimates;
  readonly row: number;
  readonly onHover: (row: number) => void;
}

function PartArithmetic(props: PartProps<AdvantagePart>) {
  const { part } = props;
  const texts = useTexts().compare;
  if (part.kind === 'critic') return null;
  if (part.kind === 'credit') {
    return (
      <>
        <Formula {...creditFormula(part)} />
        <table className="arithmetic-table">
          <thead>
            <tr>
              <th scope="col">k</th>
              <th scope="col">{texts.potentialMean}</th>
              <th scope="col">{texts.samples}</th>
              <th scope="col">{texts.lenders}</th>
              <th scope="col">{texts.share}</th>
            </tr>
          </thead>
          <tbody>
            {part.depths.map((depth) => (
              <tr key={depth.k}>
                <th scope="row">{depth.k}</th>
                <td>{number(depth.mean)}</td>
                <td>{number(depth.samples)}</td>
                <td>{count(depth.lenders)}</td>
                <td>{share(depth.share)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </>
    );
  }
  return <ComparisonArithmetic {...props} part={part} />;
}

function ComparisonArithmetic({ part, scaled, estimates, row, onHover }: PartProps<ComparisonPart>) {
  const texts = useTexts().compare;
  const { batch, places } = estimates;
  const byValue = Array.from(part.members, (member, index) => ({ member, value: part.values[index]! })).sort(
    (a, b) => b.value - a.value,
  );
  // The step itself is always on the list.
  const shown = byValue.filter(({ member }, index) => index < listed || member === row);
  const own = batch.trajectory[row];
  return (
    <>
      {Number.isNaN(part.advantage) ? null : <Formula {...comparisonFormula(part, scaled)} />}
      <p className="small soft">{texts.groupNumbers(part.members.length, part.mean, part.sd)}</p>
      <table className="arithmetic-table">
        <thead>
          <tr>
            <th scope="col">{texts.member}</th>
            <th scope="col">{part.kind === 'episode' ? texts.score : texts.return}</th>
            <th scope="col">{texts.deviation}</th>
          </tr>
        </thead>
        <tbody>
          {shown.map(({ member, value }) => {
            const address = addressOf(batch, places, member);
            const isOwn = part.kind === 'episode' ? batch.trajectory[member] === own : member === row;
            return (
              <tr
                key={member}
                className={isOwn ? 'arithmetic-own' : undefined}
                onPointerEnter={() => {
                  onHover(member);
                }}
                onPointerLeave={() => {
                  onHover(-1);
                }}
              >
                <th scope="row">
                  <button
                    type="button"
                    className="value-button"
                    onClick={() => {
                      chooseAddress(address);
                    }}
                  >
                    {part.kind === 'episode' && !estimates.byMethod.grpo.settings.crossSteps
                      ? texts.memberTrajectory(address.trajectory + 1)
                      : texts.memberStep(address.trajectory + 1, address.step)}
                  </button>
                </th>
                <td>{number(value)}</td>
                <td>{signed(value - part.mean)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {byValue.length > shown.length && (
        <p className="small soft">{texts.moreMembers(byValue.length - shown.length)}</p>
      )}
    </>
  );
}
