import { useRef } from 'react';
import { optionTable, type OptionName } from '../../estimators/settings.ts';
import { useTexts } from '../text/language.ts';
import './Differences.css';

/** The advantage options in which the paper and its public code part, read from the one table of options. */
const differing = (Object.keys(optionTable) as OptionName[]).filter((name) => {
  const { topic, paper, reference } = optionTable[name];
  return topic === 'advantage' && typeof paper !== 'function' && typeof reference !== 'function' && paper !== reference;
});

/** What the preset switch changes, one sentence each. */
export function Differences() {
  const texts = useTexts().controls;
  const dialog = useRef<HTMLDialogElement>(null);
  return (
    <>
      <button
        type="button"
        className="plain-button differences-button"
        aria-haspopup="dialog"
        aria-label={texts.presetHint}
        title={texts.presetHint}
        onClick={() => dialog.current?.showModal()}
      >
        i
      </button>
      <dialog ref={dialog} className="differences" aria-labelledby="differences-title">
        <h2 id="differences-title">{texts.presetHint}</h2>
        <div className="differences-table" tabIndex={0} role="region" aria-labelledby="differences-title">
          <table>
            <thead>
              <tr>
                <th scope="col">{texts.option}</th>
                <th scope="col">{texts.presets.paper}</th>
                <th scope="col">{texts.presets.reference}</th>
                <th scope="col">{texts.meaning}</th>
              </tr>
            </thead>
            <tbody>
              {differing.map((name) => (
                <tr key={name}>
                  <th scope="row">
                    <code>{name}</code>
                  </th>
                  <td>{String(optionTable[name].paper)}</td>
                  <td>{String(optionTable[name].reference)}</td>
                  <td>{optionTable[name].about}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
        <form method="dialog">
          <button type="submit">{texts.close}</button>
        </form>
      </dialog>
    </>
  );
}
