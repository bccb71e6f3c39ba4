import type { AdvantagePart } from '../../estimators/explain.ts';
import { useTexts } from '../text/language.ts';

/** What a part compares the step with, in words; levels carry their symbol as well. */
export function PartName({ part }: { readonly part: AdvantagePart }) {
  const texts = useTexts().compare;
  if (part.kind !== 'level') return texts.parts[part.kind];
  const k = part.k ?? 0;
  return (
    <>
      G<sub>{k}</sub> <span className="soft">{texts.levelName(k)}</span>
    </>
  );
}
