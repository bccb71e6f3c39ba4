import { useEffect, useRef } from 'react';
import { useAppearance, useView } from '../state/controls.ts';
import { meanings as en } from '../text/glossary-en.ts';
import { meanings as zh } from '../text/glossary-zh.ts';
import { useTexts } from '../text/language.ts';
import { glossaryTerms, type GlossaryTerm } from './words.ts';
import './Glossary.css';

/** All terms with their meanings, opened at the one that was asked for. */
export function Glossary({ term }: { readonly term: GlossaryTerm }) {
  const texts = useTexts().glossary;
  const meanings = useAppearance((state) => state.language) === 'zh' ? zh : en;
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const shown = dialog.current;
    if (!shown) return;
    if (!shown.open) shown.showModal();
    const entry = shown.querySelector<HTMLElement>(`[data-term=${term}]`);
    entry?.scrollIntoView({ block: 'center' });
    entry?.focus({ preventScroll: true });
  }, [term]);
  return (
    <dialog
      ref={dialog}
      className="glossary"
      aria-labelledby="glossary-title"
      onClose={() => {
        useView.setState({ word: 'none' });
      }}
    >
      <h2 id="glossary-title">{texts.title}</h2>
      <dl tabIndex={0} aria-labelledby="glossary-title">
        {glossaryTerms.map((one) => (
          <div key={one} data-term={one} tabIndex={-1} className={one === term ? 'glossary-asked' : undefined}>
            <dt>{texts.words[one]}</dt>
            <dd>{meanings[one]}</dd>
          </div>
        ))}
      </dl>
      <form method="dialog">
        <button type="submit">{texts.close}</button>
      </form>
    </dialog>
  );
}
