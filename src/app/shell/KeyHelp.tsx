import { useEffect, useRef } from 'react';
import { useTexts } from '../text/language.ts';
import './KeyHelp.css';

/** The list of keys, as a modal dialog; Escape and the button close it. */
export function KeyHelp({ shown, onShow }: { readonly shown: boolean; readonly onShow: (shown: boolean) => void }) {
  const texts = useTexts().keys;
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (shown) dialog.current?.showModal();
    else dialog.current?.close();
  }, [shown]);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key === '?' && !isTyping(event)) onShow(true);
    };
    addEventListener('keydown', onKey);
    return () => {
      removeEventListener('keydown', onKey);
    };
  }, [onShow]);
  return (
    <dialog
      ref={dialog}
      className="key-help"
      aria-labelledby="key-help-title"
      onClose={() => {
        onShow(false);
      }}
    >
      <h2 id="key-help-title">{texts.title}</h2>
      <table>
        <tbody>
          {texts.list.map(([keys, meaning]) => (
            <tr key={keys}>
              <th scope="row">
                {keys.split(' ').map((key) => (
                  <kbd key={key}>{key}</kbd>
                ))}
              </th>
              <td>{meaning}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <form method="dialog">
        <button type="submit">{texts.close}</button>
      </form>
    </dialog>
  );
}

/** Keys belong to the field that a person types in. */
export function isTyping(event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey) return true;
  const target = event.target;
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.matches('input:not([type=range]):not([type=radio]), textarea, select'))
  );
}
