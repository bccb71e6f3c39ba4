import { methodNames } from '../../estimators/registry.ts';
import { labPlaces, recordedOnly } from '../../workers/lab/setting.ts';
import { glossaryTerms } from '../glossary/words.ts';
import { roomTasks, shippedPolicies } from '../../workers/rollout/choices.ts';
import { comparedMethods, deepestLevel, type ComparedMethod } from '../../workers/estimation/derive.ts';
import type { IterationMetrics, StartingPolicy } from '../../workers/training/client.ts';

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

/** A text of a fixed form in which nothing but numbers and plain names fits. */
export interface FormField extends Kept {
  readonly kind: 'form';
  readonly form: RegExp;
  readonly default: string;
}

/** Some of a list of names, joined by dots in the order of the list. */
export interface SetField extends Kept {
  readonly kind: 'set';
  readonly options: readonly string[];
  readonly default: '';
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

const form = (fallback: string, pattern: RegExp, kept: Kept): FormField => ({
  kind: 'form',
  default: fallback,
  form: pattern,
  ...kept,
});

const set = (options: readonly string[], kept: Kept): SetField => ({ kind: 'set', options, default: '', ...kept });

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
  /** What the histogram of group sizes counts, and in which bins. */
  sizeUnit: choice(['rows', 'groups'], 'rows', setting('sizes')),
  sizeBins: choice(['doubling', 'single'], 'doubling', setting('bins')),
} as const;

export const selectionFields = {
  /** Whether the rollouts on screen are the recorded ones or those of a policy that played here. */
  source: choice(['recorded', 'live'], 'recorded', selected('source')),
  /** Number of the instructive case that is on screen, among those of the lab's policy; −1 = the usual rollouts. */
  example: number(nothing, { min: nothing, max: 99, step: 1 }, selected('case')),
  /** Number of the task in the batch, in order of first appearance. */
  task: number(nothing, index, selected('task')),
  /** Number of the trajectory inside its task. */
  trajectory: number(nothing, index, selected('trajectory')),
  step: number(nothing, index, selected('step')),
} as const;

/** What `Run it live` plays. */
export const liveFields = {
  policy: choice(['random', ...shippedPolicies.map(({ name }) => name)], 'rooms-base', setting('policy')),
  environment: choice(['rooms', 'shop'], 'rooms', setting('env')),
  size: choice(['XS', 'S', 'M', 'L', 'XL'], 'XS', setting('size')),
  /** Kind of task in rooms. */
  kind: choice(['any', ...roomTasks], 'any', setting('kind')),
  /** Task groups. */
  groups: number(8, { min: 1, max: 64, step: 1 }, setting('groups')),
  /** Trajectories of each group. */
  each: number(8, { min: 2, max: 64, step: 1 }, setting('each')),
  seed: number(1, { min: 0, max: 2_147_483_647, step: 1 }, setting('seed')),
  temperature: number(1, { min: 0.1, max: 2, step: 0.1 }, setting('T')),
} as const;

/** The episode that is played by hand, and how far. */
export const playFields = {
  play: choice(['none', 'rooms', 'shop'], 'none', selected('play')),
  playSize: choice(['XS', 'S', 'M', 'L', 'XL'], 'S', selected('playSize')),
  playSeed: number(3, { min: 0, max: 2_147_483_647, step: 1 }, selected('playSeed')),
  playSplit: choice(
    ['any', 'train', 'seen', 'unseen', 'unseen-combo', 'unseen-both', 'out-of-distribution'],
    'any',
    selected('playSplit'),
  ),
  playTask: choice(['any', ...roomTasks], 'any', selected('playTask')),
  /** Step limit; 0 takes the environment's. */
  playLimit: number(0, { min: 0, max: 1000, step: 1 }, selected('playLimit')),
  /** Places of the commands in the lists of what could be done; 999 is a command that had no place there. */
  moves: form('', /^(?:\d{1,3}(?:\.\d{1,3}){0,199})?$/, selected('moves')),
} as const;

export const lessonFields = {
  lesson: choice(['none', 'grpo', 'gigpo', 'hgpo', 'progpo', 'bias', 'collapse'], 'none', selected('lesson')),
  /** How far in the lesson, from 0. */
  stage: number(0, { min: 0, max: 19, step: 1 }, selected('stage')),
} as const;

export const appearanceFields = {
  theme: choice(['auto', 'light', 'dark'], 'auto', setting('theme')),
  language: choice(['en', 'zh'], 'en', setting('lang')),
} as const;

/** What a number of a training run is where nobody chose one: the preset's or the toy's own. */
export const usual = -1;
const orUsual = (max: number, step: number, link: string) => number(usual, { min: usual, max, step }, setting(link));

/** Where training begins; `auto` takes what the adapter at hand can train in minutes. */
const startingPolicies = [
  'auto',
  'tabular',
  'tabular-rooms-20',
  'tabular-rooms-50',
  'tabular-rooms-80',
  'tabular-shop-50',
  'rooms-novice',
  'rooms-base',
] as const satisfies readonly (StartingPolicy | 'auto')[];

/** The next training run. */
export const trainingFields = {
  trainEnvironment: choice(['rooms', 'shop'], 'rooms', setting('t-env')),
  trainSize: choice(['auto', 'XS', 'S', 'M', 'L', 'XL'], 'auto', setting('t-size')),
  trainPolicy: choice(startingPolicies, 'auto', setting('t-policy')),
  trainTuning: choice(['full', 'lora'], 'full', setting('t-tuning')),
  trainDecoding: choice(['generate-admissible', 'generate'], 'generate-admissible', setting('t-decoding')),
  trainMethod: choice(methodNames, 'hgpo', setting('t-method')),
  /** Number of the ablation in the method's list; −1 = the whole method. */
  trainAblation: orUsual(9, 1, 't-ablation'),
  trainPreset: choice(['paper', 'reference'], 'paper', setting('t-preset')),
  /** History length of a table's input; a neural policy has its own. */
  trainMemory: number(1, { min: 0, max: deepestLevel, step: 1 }, setting('t-memory')),
  trainDepth: orUsual(deepestLevel, 1, 't-K'),
  trainAlpha: orUsual(8, 0.05, 't-alpha'),
  trainGamma: orUsual(1, 0.01, 't-gamma'),
  trainNormalisation: choice(['usual', 'mean_std_norm', 'mean_norm'], 'usual', setting('t-norm')),
  trainPenalty: orUsual(10, 0.01, 't-penalty'),
  trainGroups: orUsual(1024, 1, 't-groups'),
  trainMembers: orUsual(1024, 1, 't-N'),
  trainStepLimit: orUsual(100, 1, 't-steps'),
  trainIterations: orUsual(100_000, 1, 't-iterations'),
  trainLearningRate: orUsual(10, 0.000001, 't-rate'),
  trainKl: orUsual(10, 0.0001, 't-kl'),
  trainEntropy: orUsual(10, 0.0001, 't-entropy'),
  trainSeed: number(1, { min: 0, max: 2_147_483_647, step: 1 }, setting('t-seed')),
  /** Iterations between two validations; 0 = never. */
  trainValidation: number(0, { min: 0, max: 1000, step: 1 }, setting('t-validate')),
  /** Success in percent that ends the run; −1 = none. */
  trainUntil: orUsual(100, 1, 't-until'),
  /** Minutes that end the run; −1 = none. */
  trainMinutes: orUsual(10_000, 1, 't-minutes'),
  /** What a run does while its tab is hidden. */
  trainHidden: choice(['pause', 'keep going'], 'pause', setting('t-hidden')),
} as const;

/** Metrics of training that have a curve of their own. */
export const curveNames = [
  'success',
  'meanReward',
  'clipFraction',
  'kl',
  'policyLoss',
  'meanAdvantage',
  'entropy',
  'gradientNorm',
  'invalidShare',
  'episodeLength',
  'withoutSignal',
  'penaltyOnly',
  'failedGroups',
  'klOnlyUpdates',
  'ratioSpread',
  'valueLoss',
  'score',
] as const satisfies readonly (keyof IterationMetrics)[];
export type CurveName = (typeof curveNames)[number];

/** Studies that are recorded in `studies/`, by file name. */
export const studies = ['tabular', 'neural'] as const;

/** What methods can be compared by in the lab. */
export const labQuantities = [
  'correlation',
  'correlationOverGigpo',
  'scaledMse',
  'signAgreement',
  'noSignal',
  'gradientCosine',
  'gradientMeanCosine',
  'gradientNormRatio',
  'rmsBias',
  'variance',
  'oracleBias',
] as const;

/** What the lab measures and shows. */
export const labFields = {
  labPlace: choice([...labPlaces, ...recordedOnly], 'rooms-50', setting('lab')),
  /** K_mem: pairs of history in the policy's input. */
  labMemory: number(1, { min: 0, max: 4, step: 1 }, setting('lab-memory')),
  /** K_group, HGPO's deepest level; −1 = as long as the memory. */
  labDepth: number(nothing, { min: nothing, max: deepestLevel, step: 1 }, setting('lab-K')),
  labMembers: number(8, { min: 2, max: 64, step: 1 }, setting('lab-N')),
  /** Rows on which levels are judged. */
  labSupport: choice(['deepest', 'level', 'all'], 'deepest', setting('lab-support')),
  /** What the map shows. */
  labMeasure: choice(['rmsBias', 'variance', 'mse', 'correlation'], 'mse', setting('lab-map')),
} as const;

/** Figures, by the name under which a link says that they show their numbers. */
export const figureNames = [
  'utilisation',
  'sizes',
  'no-signal',
  'flips',
  'lab-bias',
  'lab-variance',
  'lab-map',
  'lab-trial',
  'lab-methods',
  'lab-truths',
  'lab-parts',
  'lab-sizes',
  'lab-quality',
  'lab-rooms',
  'lab-hides',
  'lab-memory',
  'lab-memory-tied',
  'study-after',
  'study-curves',
  'study-differences',
  'validation',
  'level-utilisation',
  'level-without-signal',
  'level-sizes',
  'phase-times',
  'success-by-task',
  ...curveNames,
] as const;
export type FigureName = (typeof figureNames)[number];

/** Folded parts of the page and switches that show more of something. */
export const folds = [
  'live',
  'controls',
  'hidden-state',
  'groups',
  'misled',
  'import',
  'lab-more',
  'hyper-parameters',
  'options',
  'back',
  'more-curves',
  'study',
  'study-seeds',
  'study-runs',
  'engine',
  'greedy',
] as const;
export type FoldName = (typeof folds)[number];

/** What of the page is unfolded, and what the parts show that have a choice of their own. */
export const viewFields = {
  /** The method whose arithmetic is open for the chosen step. */
  arithmetic: choice(['none', ...methods], 'none', selected('open')),
  /** The term at which the glossary is open. */
  word: choice(['none', ...glossaryTerms], 'none', selected('word')),
  /** Figures that show their numbers instead of a picture. */
  numbers: set(figureNames, selected('numbers')),
  unfolded: set(folds, selected('unfold')),
  /** What the lab's comparison of methods shows. */
  labQuantity: choice(labQuantities, 'correlation', selected('lab-show')),
  /** The episode that is played before and after training. */
  watchSplit: choice(['set', 'train', 'seen', 'unseen'], 'set', selected('watch')),
  watchEpisode: number(0, { min: 0, max: 999, step: 1 }, selected('watch-episode')),
  study: choice(studies, 'tabular', selected('study')),
  /** Numbers of the study's environment and of its outcome, in the order of its file. */
  studySetting: number(0, { min: 0, max: 99, step: 1 }, selected('study-env')),
  studyOutcome: number(0, { min: 0, max: 99, step: 1 }, selected('study-show')),
  /** Numbers of the study's methods whose curves are drawn; nothing = GRPO, GiGPO and HGPO. */
  studyMethods: form('', /^(?:none|\d{1,2}(?:\.\d{1,2}){0,99})?$/, selected('study-methods')),
  /** File of the kernel whose source is shown. */
  kernel: form('', /^(?:[a-z0-9-]{1,40}\.wgsl)?$/, selected('kernel')),
} as const;

export type Field = ChoiceField<string> | NumberField | FormField | SetField;
export type FieldTable = Readonly<Record<string, Field>>;

/** The values that a table of fields describes. */
export type ValuesOf<Table extends FieldTable> = {
  readonly [Name in keyof Table]: Table[Name] extends ChoiceField<infer T>
    ? T
    : Table[Name] extends FormField | SetField
      ? string
      : number;
};

export type Settings = ValuesOf<typeof settingFields>;
export type Selection = ValuesOf<typeof selectionFields>;
export type Appearance = ValuesOf<typeof appearanceFields>;
export type TrainingChoices = ValuesOf<typeof trainingFields>;
export type LabChoices = ValuesOf<typeof labFields>;
export type LiveSettings = ValuesOf<typeof liveFields>;
export type PlayedMoves = ValuesOf<typeof playFields>;
export type View = ValuesOf<typeof viewFields>;
export type Lesson = ValuesOf<typeof lessonFields>;

/** Every field of the page; their names differ from each other, and so do their names in links. */
export const allFields = {
  ...settingFields,
  ...selectionFields,
  ...liveFields,
  ...playFields,
  ...lessonFields,
  ...trainingFields,
  ...labFields,
  ...viewFields,
  ...appearanceFields,
} as const;
export type FieldName = keyof typeof allFields;

export function defaultsOf<Table extends FieldTable>(table: Table): ValuesOf<Table> {
  return Object.fromEntries(Object.entries(table).map(([name, field]) => [name, field.default])) as ValuesOf<Table>;
}
