import { useAppearance } from '../state/controls.ts';
import type { Appearance } from '../state/fields.ts';
import { en, type Texts } from './en.ts';
import { zh } from './zh.ts';

const catalogues: Record<Appearance['language'], Texts> = { en, zh };

/** The interface texts of the chosen language. */
export function useTexts(): Texts {
  return catalogues[useAppearance((state) => state.language)];
}
