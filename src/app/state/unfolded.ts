import { useView } from './controls.ts';
import { figureNames, folds, type FigureName, type FoldName } from './fields.ts';

type Member = readonly [isIn: boolean, put: (isIn: boolean) => void];

/** Whether a folded part is unfolded, and the way to unfold or fold it; links bring it back. */
export const useFold = (name: FoldName): Member => [
  useView(({ unfolded }) => isMember(unfolded, name)),
  (isIn) => {
    unfold(name, isIn);
  },
];

/** Whether a figure shows its numbers in place of its picture. */
export const useNumbers = (name: FigureName): Member => [
  useView(({ numbers }) => isMember(numbers, name)),
  (isIn) => {
    useView.setState(({ numbers }) => ({ numbers: changed(numbers, figureNames, name, isIn) }));
  },
];

export const isUnfolded = (name: FoldName): boolean => isMember(useView.getState().unfolded, name);

/** Unfolds or folds a part from outside of what is drawn. */
export function unfold(name: FoldName, isIn: boolean): void {
  useView.setState(({ unfolded }) => ({ unfolded: changed(unfolded, folds, name, isIn) }));
}

const isMember = (set: string, name: string) => set.split('.').includes(name);

const changed = (set: string, all: readonly string[], name: string, isIn: boolean) =>
  all.filter((one) => (one === name ? isIn : isMember(set, one))).join('.');
