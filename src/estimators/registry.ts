import type { OptionName, OptionValues } from './settings.ts';

/**
 * The methods that page and command line list. A method is a way to compute advantages (this folder), together with the
 * loss that its authors train with (the loss options of settings.ts).
 */

export const methodNames = ['grpo', 'drgrpo', 'rloo', 'ppo', 'gigpo', 'hgpo', 'progpo', 'dapo', 'gspo'] as const;
export type MethodName = (typeof methodNames)[number];

/** A method with one part switched off, as its paper's ablation study does. */
export interface Ablation {
  readonly name: string;
  /** What is switched off, in one plain sentence. */
  readonly sentence: string;
  readonly options: Partial<OptionValues>;
}

export interface Method {
  readonly id: MethodName;
  /** The name to show. */
  readonly name: string;
  /** What a step is compared with, in one plain sentence. */
  readonly sentence: string;
  readonly source: string;
  /** The options that change this method's advantages; loss and training options apply to every method. */
  readonly options: readonly OptionName[];
  readonly ablations: readonly Ablation[];
}

const trajectoryOptions = ['gamma', 'invalidPenalty', 'mode', 'crossSteps', 'eps'] as const;
const groupOptions = ['similarity', 'similarityMeasure', 'leaveOut', 'visits'] as const satisfies readonly OptionName[];

export const methods: Readonly<Record<MethodName, Method>> = {
  grpo: {
    id: 'grpo',
    name: 'GRPO',
    sentence:
      'Compares the total reward of a trajectory with the other trajectories of the same task; every step of a trajectory gets the same credit.',
    source: 'arXiv:2402.03300',
    options: trajectoryOptions,
    ablations: [],
  },
  drgrpo: {
    id: 'drgrpo',
    name: 'Dr.GRPO',
    sentence:
      'GRPO without division by the standard deviation and with a constant divisor in the loss, so that neither easy tasks nor short replies weigh more.',
    source: 'arXiv:2503.20783',
    options: trajectoryOptions,
    ablations: [],
  },
  rloo: {
    id: 'rloo',
    name: 'RLOO',
    sentence:
      'Compares the total reward of a trajectory with the mean of the others of the same task, itself left out.',
    source: 'arXiv:2402.14740',
    options: ['gamma', 'invalidPenalty', 'crossSteps'],
    ablations: [],
  },
  ppo: {
    id: 'ppo',
    name: 'PPO',
    sentence: 'Compares the reward that follows a step with what a learned critic expected there.',
    source: 'arXiv:1707.06347, arXiv:1506.02438',
    options: ['gamma', 'lambda', 'gaeLevel', 'invalidPenalty'],
    ablations: [],
  },
  gigpo: {
    id: 'gigpo',
    name: 'GiGPO',
    sentence:
      'GRPO plus a second comparison: steps of the same task that saw the same observation are compared by what followed.',
    source: 'arXiv:2505.10978',
    options: [...trajectoryOptions, 'omega', 'omegaEnd', 'episodeWeight', ...groupOptions],
    ablations: [
      { name: 'W/o step part', sentence: 'The comparison at equal observations is left out.', options: { omega: 0 } },
      {
        name: 'W/o episode part',
        sentence: 'The comparison of whole trajectories is left out.',
        options: { episodeWeight: 0 },
      },
    ],
  },
  hgpo: {
    id: 'hgpo',
    name: 'HGPO',
    sentence:
      'Compares steps that saw the same observation, the same last two observations, and so on up to K, and weighs the comparisons with longer shared history more.',
    source: 'arXiv:2602.22817',
    options: [
      'gamma',
      'invalidPenalty',
      'mode',
      'eps',
      'K',
      'alpha',
      'weights',
      'kappa',
      'weightOffset',
      'skipZero',
      'shortContext',
      'denominator',
      'baseGroup',
      'variant',
      'contextActions',
      ...groupOptions,
    ],
    ablations: [
      {
        name: 'W/o HoG-1',
        sentence: 'Only steps whose deepest group has company are trained on.',
        options: { variant: 'oracle_only' },
      },
      {
        name: 'W/o HoG-2',
        sentence: 'The deepest group where it has company, else the observation alone; nothing in between.',
        options: { variant: 'oracle_else_step' },
      },
      { name: 'W/o Ada. weighting', sentence: 'All levels weigh the same.', options: { alpha: 0 } },
    ],
  },
  progpo: {
    id: 'progpo',
    name: 'ProGPO (our reading)',
    sentence:
      'Compares steps with exactly the same history; where there are too few, credits a step with how much it raised the estimated value of the state.',
    source: 'our reading of a summary; no public code was found',
    options: [
      ...trajectoryOptions,
      'K',
      'minPeers',
      'prefix',
      'gate',
      'beta',
      'theta',
      'simPower',
      'expandBelow',
      'kappa',
      'epsV',
      'fusion',
      'episodeWeight',
      'leaveOut',
      'visits',
    ],
    ablations: [
      {
        name: 'Uniform fusion',
        sentence: 'All depths count the same in the potential.',
        options: { fusion: 'uniform' },
      },
      {
        name: 'Deepest only',
        sentence: 'The potential is the mean of the deepest context alone.',
        options: { fusion: 'deepest' },
      },
      { name: 'W/o expansion', sentence: 'Similar contexts do not lend their returns.', options: { theta: 2 } },
    ],
  },
  dapo: {
    id: 'dapo',
    name: 'DAPO',
    sentence:
      'GRPO advantages; tasks whose trajectories all earned the same are replaced by others, and likely actions may grow further in one update.',
    source: 'arXiv:2503.14476',
    options: [...trajectoryOptions, 'dynamicSampling'],
    ablations: [],
  },
  gspo: {
    id: 'gspo',
    name: 'GSPO',
    sentence:
      'GRPO advantages; the update is limited by how much the whole reply became more likely, not token by token.',
    source: 'arXiv:2507.18071',
    options: trajectoryOptions,
    ablations: [],
  },
};
