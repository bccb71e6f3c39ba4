/** The results of a study: methods × settings × seeds, in one file that the page reads; shares are in thousandths. */
import * as z from 'zod';
import { randomStream } from '../../random/stream.ts';
import { bootstrapMean, type SeedMean } from '../bootstrap.ts';

/** Bytes that are no results of a study, or of another version; one sentence. */
export class StudyFileError extends Error {
  override readonly name = 'StudyFileError';
}

const thousandths = z.int().min(-1000).max(1000);
const seedMean = z.strictObject({ mean: z.number(), low: z.number().nullable(), high: z.number().nullable() });

const measureShape = z.strictObject({
  /** Which episodes: `set`, the fixed set of a table, or a split. */
  set: z.string(),
  temperature: z.number(),
  /** [seeds] thousandths won before training. */
  before: z.array(thousandths),
  /** [seeds] thousandths won by the policy that the run kept. */
  after: z.array(thousandths),
  /** [seeds] after less before: 95 % interval over the episodes, which both play. Studies recorded before it was kept lack it. */
  paired: z.array(z.tuple([z.int(), z.int()])).optional(),
  /** Over the seeds, thousandths. */
  success: seedMean,
  /** After less before, by seed. */
  gain: seedMean,
});

const cellShape = z.strictObject({
  /** Numbers in `settings` and `methods`. */
  setting: z.int(),
  method: z.int(),
  /** [seeds][windows] thousandths of the training episodes won, mean over `window` iterations. */
  curves: z.array(z.array(thousandths)),
  /** Mean over all iterations of a run: how soon it learnt. */
  training: seedMean,
  final: z.array(measureShape),
  /** Means over the seeds, for a whole run: trajectories rolled out (those that dynamic sampling dropped included), optimizer steps. */
  trajectories: z.number(),
  optimizerSteps: z.number(),
  /** Runs in which each kind of alarm was raised. */
  alarms: z.record(z.string(), z.int()),
});

const differenceShape = z.strictObject({
  setting: z.int(),
  /** Numbers of methods: the first less the second, paired by seed. */
  methods: z.tuple([z.int(), z.int()]),
  training: seedMean,
  /** As in `final` of the cells. */
  final: z.array(seedMean),
});

const studyShape = z.strictObject({
  format: z.literal('hgpo-study'),
  version: z.literal(1),
  title: z.string(),
  seeds: z.array(z.int()).min(1),
  /** Iterations that a point of a curve is the mean of. */
  window: z.int().min(1),
  settings: z.array(
    z.strictObject({
      name: z.string(),
      environment: z.string(),
      preset: z.string(),
      policy: z.string(),
      memory: z.int(),
      iterations: z.int(),
      /** Trajectories of a batch. */
      batch: z.int(),
      /** Episodes of the fixed set that a table trains on; null where every batch is fresh. */
      episodes: z.int().nullable(),
    }),
  ),
  methods: z.array(
    z.strictObject({
      name: z.string(),
      method: z.string(),
      preset: z.string(),
      options: z.record(z.string(), z.unknown()),
    }),
  ),
  cells: z.array(cellShape),
  differences: z.array(differenceShape),
});

export type RecordedStudy = z.infer<typeof studyShape>;
export type StudyCell = z.infer<typeof cellShape>;
export type StudyDifference = z.infer<typeof differenceShape>;

/**
 * Reads the results of a study.
 * @throws StudyFileError
 */
export function readStudy(text: string): RecordedStudy {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    throw new StudyFileError('These are no results of a study: the file is not JSON.');
  }
  const parsed = studyShape.safeParse(data);
  if (!parsed.success) {
    const { path, message } = parsed.error.issues[0]!;
    throw new StudyFileError(`These are no results of a study: ${path.join('.') || 'the file'}: ${message}.`);
  }
  const { seeds, settings, methods, cells, differences } = parsed.data;
  const fits = (length: number) => length === seeds.length;
  const exists = (setting: number, ...chosen: number[]) =>
    setting in settings && chosen.every((method) => method in methods);
  const sound =
    cells.every(({ setting, method, curves, final }) => {
      const measured = final.every(
        ({ before, after, paired }) =>
          fits(before.length) && fits(after.length) && fits(paired?.length ?? seeds.length),
      );
      return exists(setting, method) && fits(curves.length) && measured;
    }) && differences.every(({ setting, methods: pair }) => exists(setting, ...pair));
  if (!sound) throw new StudyFileError('These are no results of a study: seeds, settings and methods do not fit.');
  return parsed.data;
}

/** One finished run, as the study keeps it. Shares are fractions. */
export interface StudyRun {
  /** [iterations] success of each training batch */
  readonly success: readonly number[];
  /** What was measured before and after, in the same order in all runs of a setting. */
  readonly final: readonly {
    readonly set: string;
    readonly temperature: number;
    readonly before: number;
    readonly after: number;
    /** Ends of the 95 % interval of after less before, paired by episode. */
    readonly low: number;
    readonly high: number;
  }[];
  readonly trajectories: number;
  readonly optimizerSteps: number;
  readonly alarms: readonly string[];
}

const perMille = (share: number) => Math.round(1000 * share);
const rounded = ({ mean, low, high }: SeedMean): SeedMean => {
  const digit = (value: number) => Math.round(10_000 * value) / 10;
  return { mean: digit(mean), low: low === null ? null : digit(low), high: high === null ? null : digit(high) };
};
const average = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/**
 * What one method did in one setting.
 * @param runs [seeds]
 */
export function studyCell(setting: number, method: number, runs: readonly StudyRun[], window: number): StudyCell {
  const random = (what: string) => randomStream(0, 'bootstrap', setting, method, what);
  const alarms: Record<string, number> = {};
  for (const run of runs) for (const kind of new Set(run.alarms)) alarms[kind] = (alarms[kind] ?? 0) + 1;
  return {
    setting,
    method,
    curves: runs.map(({ success }) => windows(success, window).map(perMille)),
    training: rounded(bootstrapMean(runs.map(training), random('training'))),
    final: runs[0]!.final.map(({ set, temperature }, i) => {
      const before = runs.map(({ final }) => final[i]!.before);
      const after = runs.map(({ final }) => final[i]!.after);
      const gain = after.map((value, seed) => value - before[seed]!);
      return {
        set,
        temperature,
        before: before.map(perMille),
        after: after.map(perMille),
        paired: runs.map(({ final }) => [perMille(final[i]!.low), perMille(final[i]!.high)] as [number, number]),
        success: rounded(bootstrapMean(after, random(`success ${i}`))),
        gain: rounded(bootstrapMean(gain, random(`gain ${i}`))),
      };
    }),
    trajectories: Math.round(average(runs.map(({ trajectories }) => trajectories))),
    optimizerSteps: Math.round(average(runs.map(({ optimizerSteps }) => optimizerSteps))),
    alarms,
  };
}

/**
 * The difference of two methods in one setting, paired by seed.
 * @param first [seeds], in the order of `second`
 */
export function studyDifference(
  setting: number,
  methods: readonly [number, number],
  first: readonly StudyRun[],
  second: readonly StudyRun[],
): StudyDifference {
  const paired = (what: string, read: (run: StudyRun) => number) =>
    rounded(
      bootstrapMean(
        first.map((run, seed) => read(run) - read(second[seed]!)),
        randomStream(0, 'bootstrap', setting, ...methods, what),
      ),
    );
  return {
    setting,
    methods: [...methods],
    training: paired('training', training),
    final: first[0]!.final.map((_, i) => paired(`success ${i}`, ({ final }) => final[i]!.after)),
  };
}

function training({ success }: StudyRun): number {
  return average(success);
}

function windows(success: readonly number[], window: number): number[] {
  const means: number[] = [];
  for (let at = 0; at < success.length; at += window) means.push(average(success.slice(at, at + window)));
  return means;
}
