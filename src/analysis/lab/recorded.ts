import { resolveSettings } from '../../estimators/settings.ts';
import { alphaMap } from './alpha-moments.ts';
import { combineLevels, levelColumn, modes, type Mode } from './columns.ts';
import { exactBaselineBias } from './baseline-bias.ts';
import { findCases, type LabCase } from './cases.ts';
import { estimateParts, labFigures, supports, type EstimateParts, type LabFigure } from './figures.ts';
import { cosine } from './gradient.ts';
import { Lab, type LabPlan } from './lab.ts';
import { propositionOnTrial, type PropositionTrial } from './proposition.ts';
import { hiddenPart, type HiddenPart, type LabTask } from './task.ts';
import { measureScaled } from './measures.ts';

/** Everything that the page shows of a lab before it has computed anything: plain JSON, numbers to five digits. */
export interface RecordedLab {
  readonly format: 'hgpo-lab';
  readonly version: 1;
  readonly policy: string;
  readonly memory: number;
  readonly truth: 'exact';
  readonly groupSize: number;
  readonly repeats: number;
  readonly probes: number;
  readonly tasks: number;
  readonly seed: number;
  /** Success probability of the policy, exact. */
  readonly success: number;
  /** Means over tasks. */
  readonly hidden: HiddenPart;
  /** [levels] exact RMS of the baseline bias, mean over tasks. */
  readonly exactBaselineRms: readonly number[];
  /** cos of g* and the gradient of the discounted objective. */
  readonly discountedGradientCosine: number;
  /** On all three supports, state truth; see `labFigures`. */
  readonly figures: readonly LabFigure[];
  readonly parts: readonly EstimateParts[];
  readonly map: readonly RecordedCell[];
  readonly proposition: readonly PropositionTrial[];
  /** RMS bias and variance of HGPO, its levels and GiGPO for other N. */
  readonly sizes: readonly { readonly groupSize: number; readonly figures: readonly LabFigure[] }[];
  readonly cases: readonly LabCase[];
}

/** A cell of the α × K map: in units of returns, and after a fitted constant. */
export interface RecordedCell {
  readonly K: number;
  readonly alpha: number;
  readonly mode: Mode;
  readonly rmsBias: number;
  readonly variance: number;
  readonly mse: number;
  /** MSE after the fitted constant, and correlation: do not depend on units. */
  readonly scaledMse: number;
  readonly correlation: number;
  readonly gradientCosine: number;
  readonly gradientMeanCosine: number;
}

export interface RecordSettings {
  readonly policy: string;
  readonly memory: number;
  readonly mapAlphas: readonly number[];
  readonly sizes: readonly number[];
  readonly caseBatches: number;
}

/** Runs a lab and everything beside it that the page shows. */
export function recordLab(
  tasks: readonly LabTask[],
  plan: LabPlan,
  settings: RecordSettings,
  say: (sentence: string) => void = () => undefined,
): RecordedLab {
  const lab = new Lab(tasks, { ...plan, parts: true });
  while (!lab.done) lab.advance();
  say('Measured; now maps and cases.');
  const sample = lab.sample();
  const gradients = lab.gradients();
  const K = Math.max(...plan.histories);
  const hgpo = resolveSettings({ ...plan.request, method: 'hgpo' });
  const mean = (of: (task: LabTask) => number) => tasks.reduce((sum, task) => sum + of(task), 0) / tasks.length;
  const hidden = tasks.map(hiddenPart);
  const meanHidden = (name: keyof HiddenPart) => hidden.reduce((sum, part) => sum + part[name], 0) / tasks.length;
  const baselines = tasks.map((task) => exactBaselineBias(task, K).levels);
  const figures = supports.flatMap((support) =>
    [...labFigures(sample, { ...plan, support }, support === 'all' ? gradients : null)].filter(
      ({ target }) => target === 'state' || support === 'all',
    ),
  );
  const map = modes.flatMap((mode) =>
    alphaMap(sample, plan.histories, settings.mapAlphas, {
      ...hgpo,
      mode,
      target: 'state',
      skipZero: hgpo.skipZero,
    }).map(({ K: depth, alpha, rmsBias, variance, mse }): RecordedCell => {
      const column = (of: typeof sample) =>
        combineLevels(
          Array.from({ length: depth + 1 }, (_, k) => of.columns.get(levelColumn(k, mode))!),
          { ...hgpo, alpha },
        );
      const scaled = measureScaled(sample, column(sample), { target: 'state' });
      const g = gradients.gradient.compare(
        gradients.batches,
        column(gradients.batches),
        plan.groupSize,
        gradients.truth,
      );
      return {
        K: depth,
        alpha,
        mode,
        rmsBias: rmsBias.value,
        variance: variance.value,
        mse: mse.value,
        scaledMse: scaled.mse.value,
        correlation: scaled.correlation,
        gradientCosine: g.cosineOfMean,
        gradientMeanCosine: g.meanCosine,
      };
    }),
  );
  const sizes = settings.sizes.map((groupSize) => {
    const other = new Lab(tasks, {
      ...plan,
      groupSize,
      parts: false,
      methods: ['hgpo', 'gigpo'],
      histories: [K],
      alphas: [1],
    });
    while (!other.done) other.advance();
    say(`Measured with N = ${groupSize}.`);
    return {
      groupSize,
      figures: [...other.figures(false)].filter(({ target, skipZero }) => target === 'state' && skipZero !== false),
    };
  });
  return rounded({
    format: 'hgpo-lab',
    version: 1,
    policy: settings.policy,
    memory: settings.memory,
    truth: 'exact',
    groupSize: plan.groupSize,
    repeats: plan.repeats,
    probes: plan.probes * tasks.length,
    tasks: tasks.length,
    seed: plan.seed,
    success: mean(({ values }) => values.successProbability),
    hidden: {
      visits: meanHidden('visits'),
      rms: meanHidden('rms'),
      observationHidesNodes: meanHidden('observationHidesNodes'),
      observationHidesStates: meanHidden('observationHidesStates'),
      inputHidesStates: meanHidden('inputHidesStates'),
    },
    exactBaselineRms: Array.from(
      { length: K + 1 },
      (_, k) => baselines.reduce((sum, levels) => sum + levels[k]!.rms, 0) / tasks.length,
    ),
    discountedGradientCosine: cosine(gradients.truth, gradients.gradient.truth(true)),
    figures,
    parts: Array.from({ length: K + 1 }, (_, k) => estimateParts(sample, k)),
    map,
    proposition: plan.histories.flatMap((depth) =>
      depth === 0 ? [] : plan.alphas.map((alpha) => propositionOnTrial(sample, depth, { ...hgpo, alpha })),
    ),
    sizes,
    cases: findCases(lab, settings.caseBatches),
  });
}

/** Numbers to five significant digits; what is no number becomes null in JSON. */
function rounded<T>(value: T): T {
  if (typeof value === 'number') return (Number.isFinite(value) ? Number(value.toPrecision(5)) : value) as T;
  if (Array.isArray(value)) return value.map(rounded) as T;
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, rounded(part as unknown)])) as T;
  }
  return value;
}
