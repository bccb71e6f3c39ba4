import { useMemo } from 'react';
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
export function NoSignal({ estimates: { batch, byMethod } }: { readonly estimates: Estimates }) {
  const texts = useTexts().allSteps;
  const chosen = useSettings((state) => state.method);
  const shares = useMemo(
    () =>
      methods.map((method) => {
        const { advantage } = byMethod[method];
        let none = 0;
        for (let row = 0; row < advantage.length; row++) if (advantage[row] === 0) none++;
        return { method, name: methodTable[method].name, none: none / Math.max(1, batch.rowCount) };
      }),
    [batch, byMethod],
  );
  const own = shares.find(({ method }) => method === chosen)!;
  return (
    <Figure
      title={texts.noSignal}
      sentence={texts.noSignalSentence(own.name, own.none)}
      aside={<Origin of="measured" />}
      table={{ head: [texts.method, texts.noSignal], rows: shares.map(({ name, none }) => [name, share(none)]) }}
    >
      <ul className="no-signal">
        {shares.map(({ method, name, none }) => (
          <li key={method} className={method === chosen ? 'no-signal-own' : undefined}>
            <span>{name}</span>
            <span className="no-signal-bar" aria-hidden="true">
              <span style={{ width: `${none * 100}%` }} />
            </span>
            <span>{share(none)}</span>
          </li>
        ))}
      </ul>
    </Figure>
  );
}
