import { textKey } from '../text-key.ts';
import { taskCombos, taskNames, type TaskCombo } from './types.ts';

/**
 * The sets of episodes. Membership is a fact of the episode (layout, task combination, seed), never of a run:
 *
 * | split          | layouts | combinations | seeds |
 * | -------------- | ------- | ------------ | ----- |
 * | `train`        | 0–26    | train        | even  |
 * | `seen`         | 0–26    | train        | odd   |
 * | `unseen`       | 27–29   | train        | odd   |
 * | `unseen-combo` | 0–26    | held out     | odd   |
 * | `unseen-both`  | 27–29   | held out     | odd   |
 */
export const roomsSplits = ['train', 'seen', 'unseen', 'unseen-combo', 'unseen-both'] as const;
export type RoomsSplit = (typeof roomsSplits)[number];

/** Layouts of each room kind; the last ones are never trained on. */
export const LAYOUT_COUNT = 30;
export const TRAIN_LAYOUT_COUNT = 27;

export function layoutsOf(split: RoomsSplit): { readonly first: number; readonly end: number } {
  return split === 'unseen' || split === 'unseen-both'
    ? { first: TRAIN_LAYOUT_COUNT, end: LAYOUT_COUNT }
    : { first: 0, end: TRAIN_LAYOUT_COUNT };
}

/** 0 for a split of even seeds, 1 for one of odd seeds. */
export function seedParity(split: RoomsSplit): 0 | 1 {
  return split === 'train' ? 0 : 1;
}

export function takesCombo(split: RoomsSplit, combo: TaskCombo): boolean {
  return heldOutCombos.has(combo) === (split === 'unseen-combo' || split === 'unseen-both');
}

const HELD_OUT_SHARE = 0.15;
/** With this salt every size from XS has layouts for held-out combinations of each task in both layout sets (tested). */
const HELD_OUT_SALT = 'held out 1';

/**
 * The combinations that only the combo splits use: of each task the 15 % with the smallest hash, passing over those whose
 * object type or target type would then be missing from the task's training combinations. `look` has none: each of its
 * objects occurs in a single combination.
 */
export const heldOutCombos: ReadonlySet<TaskCombo> = new Set(taskNames.flatMap(holdOut));

function holdOut(task: string): TaskCombo[] {
  const combos = taskCombos.filter((combo) => combo.task === task);
  const byHash = combos
    .map((combo) => ({ combo, key: textKey(`${HELD_OUT_SALT} ${task} ${combo.object} ${combo.target}`) }))
    .sort((a, b) => (a.key < b.key ? -1 : 1));
  const left = new Set(combos);
  const wanted = Math.round(HELD_OUT_SHARE * combos.length);
  const heldOut: TaskCombo[] = [];
  for (const { combo } of byHash) {
    if (heldOut.length === wanted) break;
    left.delete(combo);
    const others = [...left];
    const isCovered =
      others.some(({ object }) => object === combo.object) && others.some(({ target }) => target === combo.target);
    if (isCovered) heldOut.push(combo);
    else left.add(combo);
  }
  return heldOut;
}
