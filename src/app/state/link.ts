import {
  useAppearance,
  useLabChoices,
  useLesson,
  useLiveSettings,
  usePlayedMoves,
  useSelection,
  useSettings,
  useTrainingChoices,
  useView,
} from './controls.ts';
import {
  appearanceFields,
  labFields,
  lessonFields,
  liveFields,
  playFields,
  selectionFields,
  settingFields,
  trainingFields,
  viewFields,
  type FieldTable,
} from './fields.ts';
import { readFragment, writeFragment } from './fragment.ts';
import { tell } from './notices.ts';
import type { Change } from './repair.ts';
import { repair } from './repair.ts';

/**
 * Keeps the address and the stores the same. A link decides every setting and the selection: what it leaves out has its
 * default. Appearance alone is kept from storage where the link does not name it.
 */

/** Browsers refuse history writes well above this rate; 500 ms between writes keeps it at two a second. */
const writeInterval = 500;

/** What a link holds: live settings before the selection, which may be a step in rollouts that they play. */
const linked = [
  { table: settingFields, store: useSettings },
  { table: liveFields, store: useLiveSettings },
  { table: labFields, store: useLabChoices },
  { table: selectionFields, store: useSelection },
  { table: playFields, store: usePlayedMoves },
  { table: lessonFields, store: useLesson },
  { table: trainingFields, store: useTrainingChoices },
  { table: viewFields, store: useView },
  { table: appearanceFields, store: useAppearance },
] as const;

function applyLink(fragment: string): void {
  const link = readFragment(fragment);
  if (!link) return;
  if (link.newer) tell({ kind: 'newer link' });
  const changes: Change[] = [];
  for (const { table, store } of linked) {
    const fields: FieldTable = table;
    const shown = store.getState() as Readonly<Record<string, string | number>>;
    const kept = (name: string) => (table === appearanceFields ? shown[name] : undefined);
    const repaired = repair(fields, (name) => link.given(fields[name]!) ?? kept(name));
    changes.push(...repaired.changes);
    (store.setState as (values: unknown) => void)(repaired.values);
  }
  if (changes.length > 0) tell({ kind: 'repaired', from: 'link', changes });
}

/** The fragment that restores what is on screen, without `#`. */
export const currentLink = (): string => {
  const values = Object.assign({}, ...linked.map(({ store }) => store.getState())) as Record<string, string | number>;
  return writeFragment(values);
};

/**
 * Reads the link once and keeps it up to date from then on. A pause of half a second ends one entry of the history, so
 * dragging a slider leaves one entry behind, not a hundred; Back and Forward apply what they find.
 */
export function followLink(): void {
  applyLink(location.hash);
  let timer: ReturnType<typeof setTimeout> | undefined;
  let lastWrite = -Infinity;
  // The opening selection is chosen by the page: it belongs to the entry that is there already.
  let entryIsOpen = true;
  const write = () => {
    timer = undefined;
    const link = `#${currentLink()}`;
    if (link === location.hash) return;
    lastWrite = performance.now();
    if (entryIsOpen) history.replaceState(null, '', link);
    else history.pushState(null, '', link);
    entryIsOpen = false;
  };
  const changed = () => {
    if (timer !== undefined) clearTimeout(timer);
    timer = setTimeout(write, Math.max(writeInterval, lastWrite + writeInterval - performance.now()));
  };
  for (const { store } of linked) store.subscribe(changed);
  addEventListener('popstate', () => {
    if (timer !== undefined) clearTimeout(timer);
    timer = undefined;
    applyLink(location.hash);
  });
}
