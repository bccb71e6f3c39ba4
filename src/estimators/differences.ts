import type { OptionName } from './settings.ts';

/** One place where paper and reference code differ, or where one of them is silent. */
export interface Difference {
  readonly topic: string;
  /** What the paper says, and the preset `paper` takes. */
  readonly paper: string;
  /** What the reference code does, and the preset `reference` takes. */
  readonly reference: string;
  /** What it means here, in one sentence. */
  readonly sentence: string;
  /** The options that carry it; their two columns in the option table differ. Empty: both presets do the same. */
  readonly options: readonly OptionName[];
}

/**
 * Where the papers and the public reference code (verl-agent at commit 20bd331) part, read from both and checked by
 * running the code. Page and docs show this table.
 */
export const differences: readonly Difference[] = [
  {
    topic: 'Level weights of HGPO',
    paper: '(k + 1)^α for k = 0 … K: 1, 2, 3',
    reference: '2, 3, 4: the state level is numbered 1, and 1 is added again',
    sentence:
      'The reference weighs deep levels slightly less against shallow ones; the effect is about 2 % of the mean advantage.',
    options: ['weightOffset'],
  },
  {
    topic: 'Which levels the weighted mean of HGPO divides by',
    paper: 'Σ over k = 0 … K, where groups with zero advantage are left out (training details)',
    reference: 'the levels that are present and not zero, plus ε',
    sentence:
      'Both presets divide by the levels that count; `denominator: all` is the equation read literally and shrinks steps without deep groups.',
    options: [],
  },
  {
    topic: 'Steps with fewer than k steps before them',
    paper: 'the whole prefix is the context',
    reference: 'the step has no level k',
    sentence:
      'Under `paper` early steps also have deep levels, shared with steps at the same position after the same history.',
    options: ['shortContext'],
  },
  {
    topic: 'Whether the group at equal observations is a level',
    paper: 'yes, k starts at 0',
    reference: 'yes',
    sentence: 'Both count G_0, which is the group of GiGPO.',
    options: [],
  },
  {
    topic: 'Number of levels',
    paper: 'K + 1 (the text also says K groups)',
    reference: 'history_length + 1',
    sentence: 'K here is the depth of the deepest level, so there are K + 1 levels.',
    options: [],
  },
  {
    topic: 'Groups of a single step',
    paper: 'not said (the standard deviation is 0)',
    reference: 'the level is absent',
    sentence: 'A step without company has no comparison at that level.',
    options: [],
  },
  {
    topic: 'Levels with zero advantage',
    paper: 'left out (training details)',
    reference: 'left out by exact float comparison, so rounding decides',
    sentence: 'We leave them out with a tolerance of 1e-6 and compute means so that equal returns give exactly 0.',
    options: [],
  },
  {
    topic: 'Standard deviation',
    paper: 'not said',
    reference: 'population in HGPO levels, sample elsewhere',
    sentence: 'Both presets follow the code.',
    options: [],
  },
  {
    topic: 'What a context consists of',
    paper: 'states (a figure shows memory with actions)',
    reference: 'anchor observations only',
    sentence: 'Both presets compare observations only; `contextActions` also asks for equal actions between them.',
    options: [],
  },
  {
    topic: '“Identical prompt” of Oracle groups',
    paper: 'Oracle steps share history and state',
    reference: 'prompts also print the step number and the admissible actions',
    sentence: 'Even steps of one Oracle group may have seen different prompts.',
    options: [],
  },
  {
    topic: 'Mean and standard deviation of whole trajectories',
    paper: 'over the N trajectories',
    reference: 'over rows, so long trajectories count more',
    sentence: 'Failed episodes run to the step limit, so counting rows pulls the baseline towards failures.',
    options: ['crossSteps'],
  },
  {
    topic: 'Baseline of RLOO',
    paper: 'the other trajectories',
    reference: 'the other rows, those of the same trajectory included',
    sentence: 'Leaving out one row of a long trajectory leaves most of that trajectory in its own baseline.',
    options: ['crossSteps'],
  },
  {
    topic: 'Invalid actions',
    paper: 'reward −0.1',
    reference: 'charged to the own row after discounting, in return and score',
    sentence: 'Both presets follow the code: earlier steps do not pay for a later invalid reply.',
    options: [],
  },
  {
    topic: 'Episode term in HGPO',
    paper: 'none in Eq. 7',
    reference: 'none unless the base group is on',
    sentence: 'Nothing in HGPO compares whole trajectories unless `baseGroup` is on.',
    options: [],
  },
  {
    topic: 'Average in the objective',
    paper: '1/(N T) over steps',
    reference: 'mean over tokens of each micro-batch',
    sentence: 'We take the token mean over the whole mini-batch, so the result does not depend on how it is split.',
    options: [],
  },
  {
    topic: 'Clipping',
    paper: 'symmetric, no dual clip',
    reference: 'also dual clip with c = 3',
    sentence: 'The dual clip bounds the loss of tokens with negative advantage whose probability grew a lot.',
    options: ['dualClip'],
  },
  {
    topic: 'Distance to the reference policy',
    paper: 'KL divergence',
    reference: 'k3 per token, clamped',
    sentence: 'Both presets follow the code.',
    options: [],
  },
  {
    topic: 'Entropy bonus',
    paper: '0',
    reference: '0.001',
    sentence: 'The bonus is a default of the code that the papers do not mention.',
    options: ['entropyCoefficient'],
  },
  {
    topic: 'PPO',
    paper: 'γ = 0.95 (shared setting)',
    reference: 'per token with γ = λ = 1, the full episode reward on every step',
    sentence:
      'Under `paper` credit flows back over steps; the reference never bootstraps from one step to the next. (γ does not enter GRPO and RLOO, so its default changes only the return they show.)',
    options: ['gaeLevel', 'gamma'],
  },
  {
    topic: 'F_norm of GiGPO',
    paper: 'standard deviation or 1',
    reference: 'a mode set per environment',
    sentence: 'Both presets follow the code: scaled in rooms, unscaled in the shop.',
    options: [],
  },
  {
    topic: 'Step limit of WebShop',
    paper: '30 (arXiv v1; the OpenReview text says 15)',
    reference: '30 for HGPO, 15 for GiGPO',
    sentence: '`stepLimit` selects either.',
    options: ['stepLimit'],
  },
  {
    topic: 'Copies that fill a batch',
    paper: 'not mentioned',
    reference: 'before the estimator (GRPO, RLOO, GiGPO) or after it (HGPO)',
    sentence: 'We never copy rows: copies would enter the group statistics.',
    options: [],
  },
  {
    topic: 'Bound on the variance of HGPO',
    paper: 'v_0/(K+1) … v_K (arXiv); a looser factor with K (K+1)^{2α} in the OpenReview text',
    reference: '—',
    sentence: 'We show the bound of the arXiv version, which assumes independent levels, beside the measured variance.',
    options: [],
  },
  {
    topic: 'Dynamic sampling',
    paper: 'tasks without differing rewards are replaced',
    reference: 'by exact float comparison; the last try is taken whole and the surplus stays',
    sentence:
      'Under `paper` DAPO compares with a tolerance, cuts the surplus, and trains on what there is when tries run out.',
    options: ['dynamicSampling'],
  },
];
