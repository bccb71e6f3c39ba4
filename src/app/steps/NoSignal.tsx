import { useMemo } from 'react';
import { shareWithoutSignal } from '../../analysis/groups.ts';
import { methods as methodTable } from '../../estimators/registry.ts';
import { Figure } from '../chart/Figure.tsx';
import { Origin } from '../chart/Origin.tsx';
import { share } from '../number.ts';
import { useSettings } from '../state/controls.ts';
import type { Estimates } from '../state/estimates.ts';
import { methods } from '../state/fields.ts';
import { useTexts } from '../text/language.ts';
import './NoSignal.css';

/** For each method the share of steps whose advantage is exactly 0: they teach the policy nothing. */
export function NoSignal({ estimates: { byMethod } }: { readonly estimates: Estimates }) {
  const texts = useTexts().allSteps;
  const chosen = useSettings((state) => state.method);
  const shares = useMemo(
    () =>
      methods.map((method) => ({
        method,
        name: methodTable[method].name,
        none: byMethod[method] ? shareWithoutSignal(byMethod[method].advantage) : NaN,
      })),
    [byMethod],
  );
  const own = shares.find(({ method }) => method === chosen)!;
  return (
    <Figure
      name="no-signal"
      title={texts.noSignal}
      sentence={texts.noSignalSentence(own.name, own.none)}
      terms={['signal']}
      isDrawn={false}
      aside={<Origin of="measured" />}
      table={{ head: [texts.method, texts.noSignal], rows: shares.map(({ name, none }) => [name, share(none)]) }}
    >
      <ul className="no-signal">
        {shares.map(({ method, name, none }) => (
          <li key={method} className={method === chosen ? 'no-signal-own' : undefined}>
            <span>{name}</span>
            <span className="no-signal-bar" aria-hidden="true">
              <span style={{ width: `${(none || 0) * 100}%` }} />
            </span>
            <span>{share(none)}</span>
          </li>
        ))}
      </ul>
    </Figure>
  );
}
