import { comparedMethods, deepestLevel, type ComparedMethod } from '../../workers/estimation/derive.ts';

/**
 * Every piece of state that a person can set, in one table: its kind, its range, its default, and where it is kept. Links,
 * storage and the controls all read this table, so nothing can be settable and yet missing from a link.
 *
 * A default never changes within a link version, because links leave out what equals its default.
 */

interface Kept {
  /** The field's name in the URL fragment. */
  readonly link: string;
  /** Whether the next visit starts with it. */
  readonly stored: boolean;
}

export interface ChoiceField<T extends string> extends Kept {
  readonly kind: 'choice';
  readonly options: readonly T[];
  readonly default: T;
}

export interface NumberField extends Kept {
  readonly kind: 'number';
  readonly min: number;
  readonly max: number;
  /** Values lie on this raster, counted from `min`. */
  readonly step: number;
  readonly default: number;
}

const choice = <const T extends readonly string[]>(
  options: T,
  fallback: T[number],
  kept: Kept,
): ChoiceField<T[number]> => ({ kind: 'choice', options, default: fallback, ...kept });

const number = (fallback: number, range: { min: number; max: number; step: number }, kept: Kept): NumberField => ({
  kind: 'number',
  default: fallback,
  ...range,
  ...kept,
});

const setting = (link: string): Kept => ({ link, stored: true });
const selected = (link: string): Kept => ({ link, stored: false });

export const methods = comparedMethods;
export type Method = ComparedMethod;

/** No step, trajectory or task is chosen. */
export const nothing = -1;
const index = { min: nothing, max: 9_999_999, step: 1 };

export const settingFields = {
  /** Whose advantage is shown. */
  method: choice(methods, 'hgpo', setting('method')),
  /** The method whose signs are held against it. */
  against: choice(methods, 'gigpo', setting('against')),
  preset: choice(['paper', 'reference'], 'paper', setting('preset')),
  /** Exponent of the level weights (k + c)^α. */
  alpha: number(1, { min: 0, max: 8, step: 0.05 }, setting('alpha')),
  /** K, the deepest history level of the groups. */
  depth: number(2, { min: 0, max: deepestLevel, step: 1 }, setting('K')),
  /** N, trajectories used from each task; 0 takes all there are. */
  members: number(0, { min: 0, max: 4096, step: 1 }, setting('N')),
  /** Discount. */
  gamma: number(0.95, { min: 0, max: 1, step: 0.01 }, setting('gamma')),
  normalisation: choice(['mean_std_norm', 'mean_norm'], 'mean_std_norm', setting('norm')),
  /** What the cells of the rollout grid are coloured by. */
  colour: choice(['state', 'return', 'advantage'], 'state', setting('colour')),
} as const;

export const selectionFields = {
  /** Number of the task in the batch, in order of first appearance. */
  task: number(nothing, index, selected('task')),
  /** Number of the trajectory inside its task. */
  trajectory: number(nothing, index, selected('trajectory')),
  step: number(nothing, index, selected('step')),
} as const;

export const appearanceFields = {
  theme: choice(['auto', 'light', 'dark'], 'auto', setting('theme')),
  language: choice(['en', 'zh'], 'en', setting('lang')),
} as const;

export type Field = ChoiceField<string> | NumberField;
export type FieldTable = Readonly<Record<string, Field>>;

/** The values that a table of fields describes. */
export type ValuesOf<Table extends FieldTable> = {
  readonly [Name in keyof Table]: Table[Name] extends ChoiceField<infer T> ? T : number;
};

export type Settings = ValuesOf<typeof settingFields>;
export type Selection = ValuesOf<typeof selectionFields>;
export type Appearance = ValuesOf<typeof appearanceFields>;
export type FieldName = keyof Settings | keyof Selection | keyof Appearance;

export function defaultsOf<Table extends FieldTable>(table: Table): ValuesOf<Table> {
  return Object.fromEntries(Object.entries(table).map(([name, field]) => [name, field.default])) as ValuesOf<Table>;
}
