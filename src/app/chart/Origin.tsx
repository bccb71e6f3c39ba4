import { useTexts } from '../text/language.ts';
import type { Texts } from '../text/en.ts';

/** The one small mark that says where numbers come from. */
export function Origin({ of }: { readonly of: keyof Texts['origin'] }) {
  return <span className="origin">{useTexts().origin[of]}</span>;
}
