import { methodNames, type MethodName } from './registry.ts';

/**
 * The whole option set in one table with two columns: `paper` (the default everywhere) and `reference` (what the public
 * verl-agent code does). Page, command line, exports and docs read this table; foreign values enter by `resolveSettings`.
 */

export const presetNames = ['paper', 'reference'] as const;
export type PresetName = (typeof presetNames)[number];

export const environmentNames = ['rooms', 'shop'] as const;
export type EnvironmentName = (typeof environmentNames)[number];

/** An option, preset, method or environment that does not exist, or a value outside its range; one plain sentence. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

/** What a default may depend on. */
export interface DefaultContext {
  readonly method: MethodName;
  readonly environment: EnvironmentName;
}

type Default<V> = V | ((context: DefaultContext) => V);

/** Where an option acts: in the advantages, as a diagnostic of them, in the loss, or in sampling and optimisation. */
export type OptionTopic = 'advantage' | 'diagnostic' | 'loss' | 'training';

interface OptionText<V> {
  readonly topic: OptionTopic;
  readonly paper: Default<V>;
  readonly reference: Default<V>;
  /** What it does, in one sentence. */
  readonly about: string;
  /** The equation, paper or code that it comes from. */
  readonly source: string;
}

export interface NumberOption<V extends number | null = number | null> extends OptionText<V> {
  readonly kind: 'integer' | 'number';
  readonly min: number;
  readonly max: number;
  /** What null means, where null is allowed. */
  readonly nullMeans: string | null;
}
export interface BooleanOption extends OptionText<boolean> {
  readonly kind: 'boolean';
}
export interface ChoiceOption<V extends string = string> extends OptionText<V> {
  readonly kind: 'choice';
  readonly choices: readonly V[];
}
export type Option = NumberOption | BooleanOption | ChoiceOption;

type NumberText<V> = Omit<OptionText<V>, 'paper' | 'reference'> & { readonly min: number; readonly max: number };
/** One default for both columns, or one for each. */
type Columns<V> = { readonly both: Default<V> } | { readonly paper: Default<V>; readonly reference: Default<V> };

function columns<V>(text: Columns<V>): { paper: Default<V>; reference: Default<V> } {
  return 'both' in text ? { paper: text.both, reference: text.both } : { paper: text.paper, reference: text.reference };
}
const integer = (text: NumberText<number> & Columns<number>): NumberOption<number> => ({
  ...text,
  ...columns(text),
  kind: 'integer',
  nullMeans: null,
});
const number = (text: NumberText<number> & Columns<number>): NumberOption<number> => ({
  ...text,
  ...columns(text),
  kind: 'number',
  nullMeans: null,
});
const numberOrNull = (
  text: NumberText<number | null> & Columns<number | null> & { readonly nullMeans: string },
): NumberOption => ({ ...text, ...columns(text), kind: 'number' });
const boolean = (text: Omit<OptionText<boolean>, 'paper' | 'reference'> & Columns<boolean>): BooleanOption => ({
  ...text,
  ...columns(text),
  kind: 'boolean',
});
const choice = <const V extends string>(
  text: Omit<OptionText<V>, 'paper' | 'reference'> & Columns<V> & { readonly choices: readonly V[] },
): ChoiceOption<V> => ({ ...text, ...columns(text), kind: 'choice' });

const forMethod =
  <V>(special: Partial<Record<MethodName, V>>, others: V) =>
  ({ method }: DefaultContext): V =>
    special[method] ?? others;

const HGPO = 'HGPO, arXiv:2602.22817';
const GIGPO = 'GiGPO, arXiv:2505.10978';
const PROGPO = 'ProGPO, our reading';
const SCRIPTS = 'verl-agent scripts';
const OURS = 'ours';

export const optionTable = {
  // Returns and scores
  gamma: number({
    topic: 'advantage',
    paper: 0.95,
    reference: forMethod({ gigpo: 0.95, hgpo: 0.95, progpo: 0.95 }, 1),
    min: 0,
    max: 1,
    about: 'Discount of the rewards that follow a step.',
    source: `${HGPO}; ${SCRIPTS}`,
  }),
  invalidPenalty: number({
    topic: 'advantage',
    both: 0.1,
    min: 0,
    max: 1000,
    about: 'Taken from the return and the score of a step whose reply was not a valid action, and of no other step.',
    source: SCRIPTS,
  }),
  eps: number({
    topic: 'advantage',
    both: 1e-6,
    min: 0,
    max: 1,
    about: 'Added to a standard deviation or a sum of weights before dividing by it.',
    source: SCRIPTS,
  }),
  mode: choice({
    topic: 'advantage',
    choices: ['mean_std_norm', 'mean_norm'],
    both: ({ method, environment }) =>
      method === 'drgrpo' ||
      (environment === 'shop' && (method === 'gigpo' || method === 'hgpo' || method === 'progpo'))
        ? 'mean_norm'
        : 'mean_std_norm',
    about: 'Whether a deviation from the group mean is also divided by the standard deviation of the group.',
    source: `${GIGPO}, F_norm; ${SCRIPTS}`,
  }),

  // Comparison of whole trajectories
  crossSteps: boolean({
    topic: 'advantage',
    paper: false,
    reference: true,
    about:
      'Whether every step of a trajectory counts in the mean of its task, so that long trajectories count more, or each trajectory once.',
    source: 'GRPO, arXiv:2402.03300, Eq. 1; verl core_algos.py',
  }),
  episodeWeight: number({
    topic: 'advantage',
    both: forMethod({ progpo: 0 }, 1),
    min: 0,
    max: 1000,
    about: 'Weight of the comparison of whole trajectories in GiGPO and ProGPO.',
    source: OURS,
  }),
  omega: number({
    topic: 'advantage',
    both: 1,
    min: 0,
    max: 1000,
    about: 'Weight of the comparison at equal observations in GiGPO.',
    source: `${GIGPO}, Eq. 8`,
  }),
  omegaEnd: numberOrNull({
    topic: 'advantage',
    both: null,
    min: 0,
    max: 1000,
    nullMeans: 'omega stays as it is',
    about: 'The value that omega reaches linearly at the last training iteration.',
    source: OURS,
  }),

  // Hierarchy of groups
  K: integer({
    topic: 'advantage',
    both: 2,
    min: 0,
    max: 100,
    about: 'The deepest level: steps are compared when their last K+1 observations are equal.',
    source: `${HGPO}, Eq. 3`,
  }),
  alpha: number({
    topic: 'advantage',
    both: 1,
    min: 0,
    max: 10_000,
    about: 'How much more a deeper level weighs; 0 weighs all levels the same.',
    source: `${HGPO}, Eq. 7`,
  }),
  weights: choice({
    topic: 'advantage',
    choices: ['power', 'inverse-variance'],
    both: 'power',
    about: 'Level weights by depth, or by the inverse variance of the group mean.',
    source: `${HGPO}, Eq. 7; ${OURS}`,
  }),
  weightOffset: number({
    topic: 'advantage',
    paper: 1,
    reference: 2,
    min: 1,
    max: 1000,
    about: 'Level k weighs (k + weightOffset)^alpha.',
    source: `${HGPO}, Eq. 7; verl-agent core_hgpo.py`,
  }),
  skipZero: boolean({
    topic: 'advantage',
    both: true,
    about: 'Whether levels with advantage 0 are left out of the weighted mean.',
    source: `${HGPO}, training details; verl-agent core_hgpo.py`,
  }),
  shortContext: choice({
    topic: 'advantage',
    choices: ['prefix', 'skip'],
    paper: 'prefix',
    reference: 'skip',
    about:
      'Whether a step with fewer than k steps before it is compared at level k by its whole history, or has no level k.',
    source: `${HGPO}, Eq. 3; verl-agent core_hgpo.py`,
  }),
  denominator: choice({
    topic: 'advantage',
    choices: ['active', 'all'],
    both: 'active',
    about: 'Whether the weighted mean divides by the weights of the levels that count, or of all K+1 levels.',
    source: `${HGPO}, Eq. 7; verl-agent core_hgpo.py`,
  }),
  baseGroup: boolean({
    topic: 'advantage',
    both: false,
    about: 'Adds the comparison of whole trajectories to the levels, with weight 1.',
    source: 'verl-agent core_hgpo.py',
  }),
  variant: choice({
    topic: 'advantage',
    choices: ['full', 'oracle_only', 'oracle_else_step'],
    both: 'full',
    about:
      'The full hierarchy, only the deepest level (W/o HoG-1), or the deepest level and else the observation alone (W/o HoG-2).',
    source: `${HGPO}, ablations`,
  }),
  contextActions: boolean({
    topic: 'advantage',
    both: false,
    about: 'Whether the actions between the observations must be equal too.',
    source: OURS,
  }),
  similarity: numberOrNull({
    topic: 'advantage',
    both: null,
    min: 0.01,
    max: 1,
    nullMeans: 'only equal observations are grouped',
    about: 'Observations at least this similar to the first one of a cluster are grouped as if they were equal.',
    source: 'verl-agent core_gigpo.py (threshold 0.95)',
  }),
  similarityMeasure: choice({
    topic: 'advantage',
    choices: ['trigram-cosine', 'sequence-ratio'],
    both: 'trigram-cosine',
    about: 'Cosine of character-trigram counts, or the matching-blocks ratio of Python’s SequenceMatcher.',
    source: `${OURS}; verl-agent core_gigpo.py`,
  }),
  leaveOut: choice({
    topic: 'diagnostic',
    choices: ['none', 'row', 'trajectory'],
    both: 'none',
    about: 'Whether the step itself, or its whole trajectory, is left out of the mean that it is compared with.',
    source: OURS,
  }),
  visits: choice({
    topic: 'diagnostic',
    choices: ['every', 'first'],
    both: 'every',
    about: 'Whether every visit of a trajectory to a group counts in its statistics, or only the first.',
    source: OURS,
  }),

  // Critic
  lambda: number({
    topic: 'advantage',
    both: 1,
    min: 0,
    max: 1,
    about: 'Trace decay of generalised advantage estimation.',
    source: 'GAE, arXiv:1506.02438',
  }),
  gaeLevel: choice({
    topic: 'advantage',
    choices: ['step', 'token'],
    paper: 'step',
    reference: 'token',
    about:
      'Whether credit flows back over the steps of a trajectory, or over the tokens of each reply with the whole score on the last one.',
    source: `${OURS}; verl core_algos.py`,
  }),

  // ProGPO
  minPeers: integer({
    topic: 'advantage',
    both: 2,
    min: 1,
    max: 1_000_000,
    about: 'From how many steps with the same history on their comparison is used instead of the credit.',
    source: PROGPO,
  }),
  prefix: choice({
    topic: 'advantage',
    choices: ['full-state-action', 'full-state'],
    both: 'full-state-action',
    about: 'Whether the same history means the same observations and actions, or the same observations.',
    source: PROGPO,
  }),
  gate: choice({
    topic: 'advantage',
    choices: ['hard', 'soft'],
    both: 'hard',
    about: 'Either comparison or credit, or a mixture that trusts the comparison more the more peers there are.',
    source: PROGPO,
  }),
  beta: number({
    topic: 'advantage',
    both: 1,
    min: 0,
    max: 1000,
    about: 'Weight of the credit.',
    source: PROGPO,
  }),
  theta: number({
    topic: 'advantage',
    both: 0.8,
    min: 0,
    max: 10,
    about: 'How similar another context must be to lend its returns; above 1 none does.',
    source: PROGPO,
  }),
  simPower: number({
    topic: 'advantage',
    both: 1,
    min: 0,
    max: 100,
    about: 'A lent return counts with this power of the similarity.',
    source: PROGPO,
  }),
  expandBelow: integer({
    topic: 'advantage',
    both: 2,
    min: 0,
    max: 1_000_000,
    about: 'Contexts seen in fewer trajectories than this borrow returns from similar ones.',
    source: PROGPO,
  }),
  kappa: number({
    topic: 'advantage',
    both: 1,
    min: 0,
    max: 1_000_000,
    about: 'How many samples’ worth the variance of the task counts in the variance of a context.',
    source: PROGPO,
  }),
  epsV: number({
    topic: 'advantage',
    both: 1e-6,
    min: 1e-12,
    max: 1,
    about: 'Added to the variance of a depth before inverting it.',
    source: PROGPO,
  }),
  fusion: choice({
    topic: 'advantage',
    choices: ['inverse-variance', 'uniform', 'deepest'],
    both: 'inverse-variance',
    about: 'How the value estimates of the depths 0 … K become one potential.',
    source: PROGPO,
  }),

  // Loss
  ratio: choice({
    topic: 'loss',
    choices: ['token', 'sequence'],
    both: forMethod({ gspo: 'sequence' }, 'token'),
    about: 'Importance ratio of each token, or one of the whole reply.',
    source: 'PPO, arXiv:1707.06347; GSPO, arXiv:2507.18071',
  }),
  clipLow: number({
    topic: 'loss',
    both: forMethod({ gspo: 0.0003 }, 0.2),
    min: 0,
    max: 1,
    about: 'The ratio is clipped below at 1 − clipLow.',
    source: SCRIPTS,
  }),
  clipHigh: number({
    topic: 'loss',
    both: forMethod({ gspo: 0.0004, dapo: 0.28 }, 0.2),
    min: 0,
    max: 100,
    about: 'The ratio is clipped above at 1 + clipHigh.',
    source: 'DAPO, arXiv:2503.14476; verl-agent scripts',
  }),
  dualClip: numberOrNull({
    topic: 'loss',
    paper: null,
    reference: 3,
    min: 1.000001,
    max: 1e9,
    nullMeans: 'no dual clip',
    about: 'For a negative advantage the loss of a token is at most −advantage times this.',
    source: 'arXiv:1912.09729; verl core_algos.py',
  }),
  logRatioClamp: numberOrNull({
    topic: 'loss',
    both: 20,
    min: 0.1,
    max: 700,
    nullMeans: 'no clamp',
    about: 'The log ratio is clamped to ± this before the exponential.',
    source: 'verl core_algos.py; verl-agent does not, and its gradient becomes NaN at 100',
  }),
  aggregation: choice({
    topic: 'loss',
    choices: ['token-mean', 'seq-mean-token-sum', 'seq-mean-token-mean', 'seq-mean-token-sum-norm'],
    both: forMethod({ drgrpo: 'seq-mean-token-sum-norm', gspo: 'seq-mean-token-mean' }, 'token-mean'),
    about: 'How the losses of tokens become one number.',
    source: 'verl core_algos.py; Dr.GRPO, arXiv:2503.20783',
  }),
  aggregationLength: numberOrNull({
    topic: 'loss',
    both: null,
    min: 1,
    max: 1e9,
    nullMeans: 'the width of the batch',
    about: 'The constant divisor of seq-mean-token-sum-norm.',
    source: 'Dr.GRPO, arXiv:2503.20783',
  }),
  klPlacement: choice({
    topic: 'loss',
    choices: ['loss', 'reward', 'off'],
    both: forMethod({ drgrpo: 'off' }, 'loss'),
    about: 'Where the distance to the reference policy is charged.',
    source: SCRIPTS,
  }),
  klForm: choice({
    topic: 'loss',
    choices: ['k1', 'abs', 'k2', 'k3'],
    both: 'k3',
    about: 'The per-token estimate of that distance.',
    source: 'Schulman 2020; verl core_algos.py',
  }),
  klCoefficient: number({
    topic: 'loss',
    both: forMethod({ drgrpo: 0 }, 0.01),
    min: 0,
    max: 1000,
    about: 'Weight of the distance to the reference policy.',
    source: SCRIPTS,
  }),
  klTarget: numberOrNull({
    topic: 'loss',
    both: null,
    min: 1e-9,
    max: 1000,
    nullMeans: 'a fixed coefficient',
    about: 'The distance that an adaptive coefficient steers to.',
    source: 'verl core_algos.py',
  }),
  klHorizon: number({
    topic: 'loss',
    both: 10_000,
    min: 1,
    max: 1e12,
    about: 'Rows over which an adaptive coefficient adapts.',
    source: 'verl core_algos.py',
  }),
  entropyCoefficient: number({
    topic: 'loss',
    paper: 0,
    reference: 0.001,
    min: 0,
    max: 1000,
    about: 'Weight of the entropy bonus.',
    source: 'verl-agent default; not in the papers',
  }),
  valueClip: number({
    topic: 'loss',
    both: 0.5,
    min: 0,
    max: 1e9,
    about: 'How far the critic’s value may move in one update before its loss is clipped.',
    source: 'verl core_algos.py',
  }),
  valueLossScale: number({
    topic: 'loss',
    both: 0.5,
    min: 0,
    max: 1000,
    about: 'Factor of the critic’s squared error.',
    source: 'verl core_algos.py; verl-agent has 1',
  }),

  // Sampling and optimisation
  dynamicSampling: choice({
    topic: 'training',
    choices: ['off', 'tolerant', 'agent', 'dapo'],
    paper: forMethod({ dapo: 'tolerant' }, 'off'),
    reference: forMethod({ dapo: 'agent' }, 'off'),
    about: 'Whether tasks whose trajectories all earned the same are replaced, and by which rule.',
    source: 'DAPO, arXiv:2503.14476; verl-agent rollout_loop',
  }),
  maxGenerationBatches: integer({
    topic: 'training',
    both: 10,
    min: 0,
    max: 1_000_000,
    about: 'How many rollouts dynamic sampling may spend on one batch; 0 sets no limit.',
    source: 'verl-agent rollout_loop',
  }),
  groups: integer({
    topic: 'training',
    both: forMethod({ ppo: 128 }, 16),
    min: 1,
    max: 1_000_000,
    about: 'Tasks in a batch.',
    source: SCRIPTS,
  }),
  groupSize: integer({
    topic: 'training',
    both: forMethod({ ppo: 1 }, 8),
    min: 1,
    max: 1_000_000,
    about: 'Trajectories of each task.',
    source: SCRIPTS,
  }),
  stepLimit: integer({
    topic: 'training',
    paper: ({ environment }) => (environment === 'shop' ? 30 : 50),
    reference: ({ method, environment }) => (environment === 'rooms' ? 50 : method === 'hgpo' ? 30 : 15),
    min: 1,
    max: 1_000_000,
    about: 'Steps after which an episode ends.',
    source: `${SCRIPTS}; ${HGPO}`,
  }),
  miniBatch: integer({
    topic: 'training',
    both: ({ environment }) => (environment === 'shop' ? 64 : 256),
    min: 1,
    max: 1_000_000,
    about: 'Rows of one optimiser step.',
    source: SCRIPTS,
  }),
  epochs: integer({
    topic: 'training',
    both: 1,
    min: 1,
    max: 1000,
    about: 'Passes over a batch.',
    source: SCRIPTS,
  }),
  iterations: integer({
    topic: 'training',
    both: forMethod({ hgpo: 160, gspo: 200 }, 150),
    min: 1,
    max: 1_000_000,
    about: 'Batches of a training run.',
    source: SCRIPTS,
  }),
  learningRate: number({
    topic: 'training',
    both: 1e-6,
    min: 0,
    max: 10,
    about: 'Step size of the policy’s optimiser.',
    source: SCRIPTS,
  }),
  criticLearningRate: number({
    topic: 'training',
    both: 1e-5,
    min: 0,
    max: 10,
    about: 'Step size of the critic’s optimiser.',
    source: SCRIPTS,
  }),
  weightDecay: number({
    topic: 'training',
    both: 0.01,
    min: 0,
    max: 10,
    about: 'Weight decay of AdamW.',
    source: SCRIPTS,
  }),
  maxGradientNorm: number({
    topic: 'training',
    both: 1,
    min: 1e-9,
    max: 1e9,
    about: 'The norm that gradients are clipped at.',
    source: SCRIPTS,
  }),
  temperature: number({
    topic: 'training',
    both: 1,
    min: 0,
    max: 100,
    about: 'Sampling temperature in training.',
    source: SCRIPTS,
  }),
  evaluationTemperature: number({
    topic: 'training',
    both: 0.4,
    min: 0,
    max: 100,
    about: 'Sampling temperature in evaluation.',
    source: SCRIPTS,
  }),
  promptTokens: integer({
    topic: 'training',
    both: ({ method, environment }) => (method === 'hgpo' || environment === 'shop' ? 4096 : 2048),
    min: 1,
    max: 10_000_000,
    about: 'The longest prompt.',
    source: SCRIPTS,
  }),
  responseTokens: integer({
    topic: 'training',
    both: 512,
    min: 1,
    max: 10_000_000,
    about: 'The longest reply.',
    source: SCRIPTS,
  }),
};

export type OptionName = keyof typeof optionTable;

type ValueOf<O> =
  O extends ChoiceOption<infer V> ? V : O extends BooleanOption ? boolean : O extends NumberOption<infer V> ? V : never;

/** A value for every option. */
export type OptionValues = { readonly [name in OptionName]: ValueOf<(typeof optionTable)[name]> };

/** A complete, valid set of options for one method. */
export interface Settings extends OptionValues {
  readonly method: MethodName;
  readonly preset: PresetName;
  readonly environment: EnvironmentName;
}

export const optionNames = Object.keys(optionTable) as OptionName[];

/** What `resolveSettings` takes; everything but the method has a default. Values may come from anywhere. */
export interface SettingsRequest {
  readonly method: string;
  /** `paper` unless given. */
  readonly preset?: string | undefined;
  /** `rooms` unless given. */
  readonly environment?: string | undefined;
  /** Values that replace those of the preset, by option name. `undefined` leaves the preset's. */
  readonly options?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * Complete settings: the preset's column, its defaults for this method and environment, with the given options put over
 * it. Options that do not concern the method are kept and not read.
 * @throws SettingsError when a name is unknown (the sentence lists the known ones) or a value is out of range.
 */
export function resolveSettings(request: SettingsRequest): Settings {
  const method = oneOf('method', methodNames, request.method);
  const preset = oneOf('preset', presetNames, request.preset ?? 'paper');
  const environment = oneOf('environment', environmentNames, request.environment ?? 'rooms');
  const given = request.options ?? {};
  for (const name of Object.keys(given)) {
    if (!Object.hasOwn(optionTable, name)) {
      throw new SettingsError(`There is no option "${name}"; the options are ${optionNames.join(', ')}.`);
    }
  }
  const values: Record<string, unknown> = { method, preset, environment };
  for (const name of optionNames) {
    const value = given[name];
    values[name] = value === undefined ? defaultValue(name, preset, { method, environment }) : validValue(name, value);
  }
  return Object.freeze(values) as unknown as Settings;
}

/** The value of an option in one column of the table, for a method in an environment. */
export function defaultValue<N extends OptionName>(
  name: N,
  preset: PresetName,
  context: DefaultContext,
): OptionValues[N] {
  const column: unknown = optionTable[name][preset];
  return (
    typeof column === 'function' ? (column as (c: DefaultContext) => unknown)(context) : column
  ) as OptionValues[N];
}

/** The values that an option takes, in words: `a number from 0 to 1`. */
export function rangeOf(name: OptionName): string {
  const option: Option = optionTable[name];
  switch (option.kind) {
    case 'choice':
      return `one of ${option.choices.join(', ')}`;
    case 'boolean':
      return 'true or false';
    case 'integer':
    case 'number': {
      const range = `${option.kind === 'integer' ? 'a whole number' : 'a number'} from ${option.min} to ${option.max}`;
      return option.nullMeans === null ? range : `${range}, or null (${option.nullMeans})`;
    }
  }
}

function validValue(name: OptionName, value: unknown): unknown {
  const option: Option = optionTable[name];
  // The published fixtures write "no penalty" as null.
  if (name === 'invalidPenalty' && value === null) return 0;
  let valid: boolean;
  switch (option.kind) {
    case 'choice':
      valid = (option.choices as readonly unknown[]).includes(value);
      break;
    case 'boolean':
      valid = typeof value === 'boolean';
      break;
    case 'integer':
    case 'number':
      valid =
        typeof value === 'number'
          ? value >= option.min && value <= option.max && (option.kind === 'number' || Number.isInteger(value))
          : value === null && option.nullMeans !== null;
  }
  if (!valid) throw new SettingsError(`The option "${name}" takes ${rangeOf(name)}, not ${shown(value)}.`);
  return value;
}

function oneOf<V extends string>(what: string, known: readonly V[], value: unknown): V {
  if ((known as readonly unknown[]).includes(value)) return value as V;
  throw new SettingsError(`There is no ${what} ${shown(value)}; known are ${known.join(', ')}.`);
}

function shown(value: unknown): string {
  if (typeof value === 'number') return String(value);
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
