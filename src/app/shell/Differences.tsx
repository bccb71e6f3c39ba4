import { useRef } from 'react';
import { differences } from '../../estimators/differences.ts';
import { useTexts } from '../text/language.ts';
import './Differences.css';

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
                <th scope="col">{texts.topic}</th>
                <th scope="col">{texts.presets.paper}</th>
                <th scope="col">{texts.presets.reference}</th>
                <th scope="col">{texts.meaning}</th>
              </tr>
            </thead>
            <tbody lang="en">
              {differences.map(({ topic, paper, reference, sentence, options }) => (
                <tr key={topic} className={options.length > 0 ? 'differences-real' : undefined}>
                  <th scope="row">{topic}</th>
                  <td>{paper}</td>
                  <td>{reference}</td>
                  <td>{sentence}</td>
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
