import type { FieldTable } from './fields.ts';
import { appearanceFields, selectionFields, settingFields } from './fields.ts';
import { useAppearance, useSelection, useSettings } from './controls.ts';
import { tell } from './notices.ts';
import type { Change } from './repair.ts';
import { repair } from './repair.ts';

/**
 * The link: every setting and the selection, in the URL fragment, as `#v=1&method=hgpo&alpha=2&…`. A link decides all of
 * them (what it leaves out has its default); appearance alone is kept from storage where the link does not name it.
 */

const linkVersion = 1;
/** Browsers throttle or refuse history writes well above this rate; 500 ms between writes keeps it at two a second. */
const writeInterval = 500;

const tables = { ...settingFields, ...selectionFields, ...appearanceFields };

/** The fragment for these values, without `#`. */
export function writeLink(values: Readonly<Record<string, string | number>>): string {
  const parameters = new URLSearchParams({ v: String(linkVersion) });
  for (const [name, field] of Object.entries<FieldTable[string]>(tables)) {
    const value = values[name];
    if (value !== undefined && value !== field.default) parameters.set(field.link, String(value));
  }
  return parameters.toString();
}

export interface ReadLink {
  readonly newer: boolean;
  /** The raw text of a field, undefined where the link does not name it. */
  readonly given: (field: { readonly link: string }) => string | undefined;
}

/** The fields that a fragment names, or null where it is no link of ours. */
export function readLink(fragment: string): ReadLink | null {
  const parameters = new URLSearchParams(fragment.replace(/^#/, ''));
  const version = Number(parameters.get('v'));
  if (!parameters.has('v')) return null;
  return {
    newer: !(version <= linkVersion),
    given: (field) => parameters.get(field.link) ?? undefined,
  };
}

function applyLink(fragment: string): void {
  const link = readLink(fragment);
  if (!link) return;
  if (link.newer) tell({ kind: 'newer link' });
  const changes: Change[] = [];
  const read = <Table extends FieldTable>(table: Table, kept?: (name: string) => unknown) => {
    const repaired = repair(table, (name) => link.given(table[name]!) ?? kept?.(name));
    changes.push(...repaired.changes);
    return repaired.values;
  };
  useSettings.setState(read(settingFields));
  useSelection.setState(read(selectionFields));
  const shown = useAppearance.getState();
  useAppearance.setState(read(appearanceFields, (name) => shown[name as keyof typeof shown]));
  if (changes.length > 0) tell({ kind: 'repaired', from: 'link', changes });
}

const currentLink = () =>
  writeLink({ ...useSettings.getState(), ...useSelection.getState(), ...useAppearance.getState() });

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
  useSettings.subscribe(changed);
  useSelection.subscribe(changed);
  useAppearance.subscribe(changed);
  addEventListener('popstate', () => {
    if (timer !== undefined) clearTimeout(timer);
    timer = undefined;
    applyLink(location.hash);
  });
}
