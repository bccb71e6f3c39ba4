/**
 * How an `anchor_obs` is kept in a batch. Its table holds strings, and a JSON value must not collide with a string that
 * happens to spell it (the list ["a","b"] and the text `["a","b"]` are different states). Text is kept as it is; a JSON
 * value is kept as NUL and its canonical form. Text that itself begins with NUL is kept as NUL and its JSON string, which
 * no other value's canonical form equals.
 */
const mark = '\u0000';

export function textObservation(text: string): string {
  return text.startsWith(mark) ? mark + JSON.stringify(text) : text;
}

/** @param canonical canonical form (canonical-json.ts) of a JSON value that is not a string */
export function jsonObservation(canonical: string): string {
  return mark + canonical;
}

/** The JSON text of a kept observation, for writing it back. */
export function observationJson(kept: string): string {
  return kept.startsWith(mark) ? kept.slice(1) : JSON.stringify(kept);
}

/** What to show of a kept observation: its text, or the canonical form of its JSON value. */
export function observationText(kept: string): string {
  if (!kept.startsWith(mark)) return kept;
  return kept.startsWith('"', 1) ? (JSON.parse(kept.slice(1)) as string) : kept.slice(1);
}
