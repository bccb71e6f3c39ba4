import { useTexts } from '../text/language.ts';
import { useView } from '../state/controls.ts';
import type { GlossaryTerm } from './words.ts';
import './Termed.css';

/** A text in which the first use of each of these terms opens its explanation. */
export function Termed({ text, terms }: { readonly text: string; readonly terms: readonly GlossaryTerm[] }) {
  const { words, explain } = useTexts().glossary;
  const found = terms
    .map((term) => ({ term, word: words[term], at: text.toLowerCase().indexOf(words[term].toLowerCase()) }))
    .filter(({ at }) => at >= 0)
    .sort((a, b) => a.at - b.at || b.word.length - a.word.length);
  const parts = [];
  let from = 0;
  for (const { term, word, at } of found) {
    if (at < from) continue;
    const end = at + word.length;
    const ending = /^[a-z]*/.exec(text.slice(end))![0];
    parts.push(
      text.slice(from, at),
      // No line break between a word and its ending.
      <span key={term} className="term-word">
        <button
          type="button"
          className="term"
          title={explain(word)}
          onClick={() => {
            useView.setState({ word: term });
          }}
        >
          {text.slice(at, end)}
        </button>
        {ending}
      </span>,
    );
    from = end + ending.length;
  }
  return (
    <>
      {parts}
      {text.slice(from)}
    </>
  );
}
