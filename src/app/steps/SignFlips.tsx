import { useMemo, useState } from 'react';
import { methods as methodTable } from '../../estimators/registry.ts';
import { Figure } from '../chart/Figure.tsx';
import { Origin } from '../chart/Origin.tsx';
import { taskTitle } from '../rollouts/task-title.ts';
import { signed } from '../number.ts';
import { useSettings } from '../state/controls.ts';
import type { Estimates } from '../state/estimates.ts';
import { methods, type Method } from '../state/fields.ts';
import { useTexts } from '../text/language.ts';
import { addressOf, decidingPart, signFlips, type StepAddress } from './flips.ts';
import './SignFlips.css';

interface SignFlipsProps {
  readonly estimates: Estimates;
  readonly method: Method;
  readonly against: Method;
  readonly chosen: number;
  readonly onChoose: (address: StepAddress) => void;
}

const page = 8;

/** The steps on which two methods disagree about the sign, widest disagreement first, each with its reason. */
export function SignFlips({ estimates, method, against, chosen, onChoose }: SignFlipsProps) {
  const texts = useTexts();
  const [shown, show] = useState(page);
  const { batch, byMethod, places } = estimates;
  const a = byMethod[method];
  const b = byMethod[against];
  const flips = useMemo(() => (a && b ? signFlips(a.advantage, b.advantage) : []), [a, b]);
  const names = [methodTable[method].name, methodTable[against].name] as const;
  const where = (row: number) => {
    const { task, trajectory, step } = addressOf(batch, places, row);
    return texts.allSteps.flipWhere(taskTitle(batch, task), trajectory + 1, step);
  };
  return (
    <Figure
      name="flips"
      isDrawn={false}
      terms={['signFlip']}
      title={texts.allSteps.flips}
      sentence={
        a && b ? texts.allSteps.flipsSentence(flips.length, names[0], names[1], batch.rowCount) : texts.compare.pending
      }
      aside={
        <>
          <Origin of="measured" />
          <label className="sign-flips-against small">
            {texts.allSteps.against}{' '}
            <select
              value={against}
              onChange={(event) => {
                useSettings.setState({ against: event.currentTarget.value as Method });
              }}
            >
              {methods.map((one) => (
                <option key={one} value={one}>
                  {methodTable[one].name}
                </option>
              ))}
            </select>
          </label>
        </>
      }
      table={() => ({
        head: [texts.allSteps.step, names[0], names[1]],
        rows: flips.slice(0, 200).map(({ row, a: first, b: second }) => [where(row), signed(first), signed(second)]),
      })}
    >
      <ol className="sign-flips">
        {flips.slice(0, shown).map(({ row, a: first, b: second }) => (
          <li key={row}>
            <button
              type="button"
              className="sign-flip"
              aria-current={row === chosen ? 'true' : undefined}
              onClick={() => {
                onChoose(addressOf(batch, places, row));
              }}
            >
              <span className="sign-flip-where">{where(row)}</span>
              <span className="sign-flip-values">
                <Value name={names[0]} value={first} />
                <Value name={names[1]} value={second} />
              </span>
              <span className="sign-flip-reason soft">
                {texts.allSteps.reason(names, decidingPart(batch, a!, row), decidingPart(batch, b!, row))}
              </span>
            </button>
          </li>
        ))}
      </ol>
      {flips.length > shown && (
        <button
          type="button"
          onClick={() => {
            show(shown + 4 * page);
          }}
        >
          {texts.allSteps.more(Math.min(4 * page, flips.length - shown))}
        </button>
      )}
    </Figure>
  );
}

function Value({ name, value }: { readonly name: string; readonly value: number }) {
  return (
    <span className={value > 0 ? 'sign-above' : 'sign-below'}>
      {name} {signed(value)}
    </span>
  );
}
