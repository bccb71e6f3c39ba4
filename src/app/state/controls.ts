import { create } from 'zustand';
import { persist } from 'zustand/middleware';
import type { FieldTable, ValuesOf } from './fields.ts';
import {
  appearanceFields,
  defaultsOf,
  labFields,
  lessonFields,
  liveFields,
  playFields,
  selectionFields,
  settingFields,
  trainingFields,
  viewFields,
} from './fields.ts';
import { tell } from './notices.ts';
import { ownValue, repair } from './repair.ts';

/** The version of what is kept in storage; a higher one was written by a newer page. */
const storageVersion = 1;

/**
 * A store for one table of fields that survives a reload. Storage enters through the repair door; what cannot be read
 * there is left behind with a notice.
 */
function storedControls<Table extends FieldTable>(name: string, table: Table) {
  type Values = ValuesOf<Table>;
  return create<Values>()(
    persist(() => defaultsOf(table), {
      name: `hgpo-playground/${name}`,
      version: storageVersion,
      migrate: () => {
        tell({ kind: 'storage started clean' });
        return defaultsOf(table);
      },
      merge: (kept) => {
        const { values, changes } = repair(table, ownValue(kept));
        if (changes.length > 0) tell({ kind: 'repaired', from: 'storage', changes });
        return values;
      },
      onRehydrateStorage: () => (_, error) => {
        if (error !== undefined) tell({ kind: 'storage started clean' });
      },
    }),
  );
}

export const useSettings = storedControls('settings', settingFields);
export const useLiveSettings = storedControls('live', liveFields);
export const useAppearance = storedControls('appearance', appearanceFields);

/** What the next training run is to be. */
export const useTrainingChoices = storedControls('training', trainingFields);

/** What the lab measures and shows. */
export const useLabChoices = storedControls('lab', labFields);

/** The chosen task, trajectory and step: shared by every view, kept in the link alone. */
export const useSelection = create<ValuesOf<typeof selectionFields>>(() => defaultsOf(selectionFields));

/** The episode that is played by hand, as far as a link can say it. */
export const usePlayedMoves = create<ValuesOf<typeof playFields>>(() => defaultsOf(playFields));

export const useLesson = create<ValuesOf<typeof lessonFields>>(() => defaultsOf(lessonFields));

/** What is unfolded, for links: a visit starts with everything folded. */
export const useView = create<ValuesOf<typeof viewFields>>(() => defaultsOf(viewFields));
