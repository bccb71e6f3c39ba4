import { appendFile, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import * as z from 'zod';
import { studyCell, studyDifference, type RecordedStudy, type StudyRun } from '../analysis/study/recorded-study.ts';
import { textKey } from '../environments/text-key.ts';
import type { RunSettings } from '../training/run-settings.ts';
import { collect, newCommand, type CommonOptions, type Terminal } from './command.ts';
import { onRequest } from './environment.ts';
import { UsageError } from './errors.ts';
import { findLearner, type LearnerSource } from './learners.ts';
import { openOutputFolder } from './output-folder.ts';
import { fileError } from './rollout-file.ts';
import { readStudyPlan, type StudyMethod, type StudyPlan, type StudySetting } from './study-file.ts';
import {
  carryOutRun,
  earlierState,
  gains,
  openRunFolder,
  runSettingsOf,
  successes,
  type Evaluations,
  type RunRequest,
} from './training-run.ts';

interface StudyOptions extends CommonOptions {
  readonly out?: string;
  readonly only?: readonly string[];
}

/** `hgpo study`: a grid of methods, settings and seeds, resumable; one file of results with intervals. */
export function studyCommand(terminal: Terminal): Command {
  return newCommand(
    'study',
    'Train every method in every setting with every seed of a study, and write one file of results.',
  )
    .argument('<FILE>', 'the study: a JSON file')
    .option(
      '--out <FILE>',
      'the file of results (default: FILE with -results); finished runs are kept in a folder beside it',
    )
    .option(
      '--only <setting>',
      'run the runs of this setting alone; may be repeated, also in processes side by side',
      collect,
    )
    .action((file: string, options: StudyOptions) => onRequest(() => study(file, options, terminal)));
}

/** One run of the grid. */
interface Run {
  readonly setting: number;
  readonly method: number;
  readonly seed: number;
  readonly name: string;
  /** Tells a run from every other by all that decides its outcome. */
  readonly key: string;
  readonly settings: RunSettings;
  readonly request: RunRequest;
}

async function study(file: string, options: StudyOptions, terminal: Terminal): Promise<void> {
  const plan = await readStudyPlan(file);
  const unknown = options.only?.find((name) => !plan.settings.some((setting) => setting.name === name));
  if (unknown !== undefined) {
    throw new UsageError(
      `There is no setting ${JSON.stringify(unknown)} in ${file}; known are ${plan.settings.map(({ name }) => name).join(', ')}.`,
    );
  }
  const runs = await runsOf(plan, terminal);
  const results = options.out ?? file.replace(/(\.json)?$/, '-results.json');
  const kept = await openKeptRuns(results.replace(/(\.json)?$/, '.runs'), terminal);
  const wanted = runs.filter(({ setting }) => options.only?.includes(plan.settings[setting]!.name) ?? true);
  const missing = wanted.filter(({ key }) => !kept.finished.has(key));
  if (missing.length < wanted.length) {
    terminal.say(`${wanted.length - missing.length} of ${wanted.length} runs are finished already.`);
  }
  const start = performance.now();
  const before = new Map<string, Evaluations>();
  for (const [done, run] of missing.entries()) {
    await kept.add(run.key, await finish(plan, run, kept.folder, before, terminal));
    const minutes = (performance.now() - start) / 60_000;
    const left = (minutes / (done + 1)) * (missing.length - done - 1);
    terminal.say(`${done + 1} of ${missing.length}: ${run.name}; about ${left.toFixed(1)} minutes to go.`);
  }
  const unfinished = runs.filter(({ key }) => !kept.finished.has(key));
  if (unfinished.length > 0) {
    terminal.say(`${unfinished.length} runs of other settings are still to be run; there are no results before.`);
    return;
  }
  const recorded = resultsOf(plan, runs, kept.finished);
  const folder = await openOutputFolder(join(results, '..'));
  await folder.replace(results.split('/').at(-1)!, studyText(recorded));
  if (options.json) await terminal.out.line(recorded);
  else terminal.say(`Results of ${runs.length} runs: ${results}.`);
}

/** Every run of the grid, seed by seed, so that an unfinished study has whole seeds; each is checked before any begins. */
async function runsOf({ settings, methods, seeds }: StudyPlan, terminal: Terminal): Promise<Run[]> {
  const runs: Run[] = [];
  const refusals = (name: string) => (error: unknown) => {
    throw error instanceof UsageError ? new UsageError(`${name}: ${error.message}`) : error;
  };
  for (const seed of seeds) {
    for (const [s, setting] of settings.entries()) {
      for (const [m, method] of methods.entries()) {
        const name = `${setting.name}, ${method.name}, seed ${seed}`;
        const request = requestOf(setting, method, seed);
        const source = await findLearner(request, setting.env, terminal).catch(refusals(name));
        const run = await Promise.resolve()
          .then(() => runSettingsOf(request, setting.env, source))
          .catch(refusals(name));
        const { tuning, head, variants } = request;
        const key = textKey(JSON.stringify([2, run, source.weightsKey, tuning, head, variants, setting.evaluate]));
        runs.push({ setting: s, method: m, seed, name, key, settings: run, request });
      }
    }
  }
  return runs;
}

function requestOf(setting: StudySetting, { method, preset, options }: StudyMethod, seed: number): RunRequest {
  const { name: _name, env, preset: size, options: shared, evaluate: _evaluate, variants, ...rest } = setting;
  return {
    ...rest,
    ...(variants === undefined ? {} : { variants }),
    env,
    method,
    preset: [preset, ...(size ? [size] : [])],
    options: JSON.stringify({ ...shared, ...options }),
    seed,
    // Tables of different seeds train on different episodes, so that no result hangs on one set.
    firstEpisode: seed * setting.episodes,
  };
}

/** @param measured success before training, which the methods of a setting and seed share; added to */
async function finish(
  { settings }: StudyPlan,
  run: Run,
  folder: string,
  measured: Map<string, Evaluations>,
  terminal: Terminal,
): Promise<StudyRun> {
  const setting = settings[run.setting]!;
  const source: LearnerSource = await findLearner(run.request, setting.env, terminal);
  // A table is trained in seconds; what takes minutes goes on where it was interrupted.
  const runFolder = source.kind === 'neural' ? await openRunFolder(join(folder, run.key), run.request.policy) : null;
  const earlier = await earlierState(run.settings, runFolder, undefined, 'ignore alarms');
  const opened = await source.open(earlier);
  const start = `${run.setting} ${run.seed}`;
  try {
    const { trainer, before, after } = await carryOutRun(
      run.settings,
      opened.learner,
      { evaluate: setting.evaluate, folder: runFolder, earlier, before: measured.get(start), ignoreAlarms: true },
      { say: source.kind === 'neural' ? terminal.say : () => undefined },
    );
    measured.set(start, before);
    const { history } = trainer;
    const measures = [
      [1, before.warm, after.warm],
      [0.4, before.cool, after.cool],
    ] as const;
    return {
      success: history.map(({ success }) => success),
      final: measures.flatMap(([temperature, first, last]) => {
        const [was, is, gain] = [successes(first), successes(last), gains(first, last)];
        return Object.keys(first).map((set) => {
          const { low, high } = gain[set]!;
          return { set, temperature, before: was[set]!, after: is[set]!, low, high };
        });
      }),
      trajectories: history.reduce(
        (sum, { trajectories, droppedGroups }) => sum + trajectories + droppedGroups * run.settings.settings.groupSize,
        0,
      ),
      optimizerSteps: history.reduce((sum, { optimizerSteps }) => sum + optimizerSteps, 0),
      alarms: trainer.alarms.map(({ kind }) => kind),
    };
  } finally {
    await opened.close();
  }
}

const runShape = z.object({
  key: z.string(),
  run: z.object({
    success: z.array(z.number()).min(1),
    final: z
      .array(
        z.object({
          set: z.string(),
          temperature: z.number(),
          before: z.number(),
          after: z.number(),
          low: z.number(),
          high: z.number(),
        }),
      )
      .min(1),
    trajectories: z.number(),
    optimizerSteps: z.number(),
    alarms: z.array(z.string()),
  }),
});

/** The runs that earlier sittings finished: a line each in `finished.jsonl`. A line that an interruption cut short is left out. */
async function openKeptRuns(folder: string, terminal: Terminal) {
  const path = join(folder, 'finished.jsonl');
  const guarded = async <T>(what: 'read' | 'written', work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      throw fileError(path, what, error);
    }
  };
  await guarded('written', mkdir(folder, { recursive: true }));
  const text = await guarded(
    'read',
    readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return '';
      throw error;
    }),
  );
  const finished = new Map<string, StudyRun>();
  let unreadable = 0;
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const parsed = readLine(line);
    if (parsed) finished.set(parsed.key, parsed.run);
    else unreadable++;
  }
  if (unreadable > 0) terminal.say(`${path}: ${unreadable} unreadable lines are left out; their runs are run again.`);
  // What an interruption cut short must not run into the next line.
  let separator = text === '' || text.endsWith('\n') ? '' : '\n';
  return {
    folder,
    finished,
    add: async (key: string, run: StudyRun) => {
      await guarded('written', appendFile(path, `${separator}${JSON.stringify({ key, run })}\n`));
      separator = '';
      finished.set(key, run);
    },
  };
}

function readLine(line: string): { readonly key: string; readonly run: StudyRun } | undefined {
  try {
    return runShape.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}

function resultsOf(plan: StudyPlan, runs: readonly Run[], finished: ReadonlyMap<string, StudyRun>): RecordedStudy {
  const of = (setting: number, method: number) =>
    runs.filter((run) => run.setting === setting && run.method === method).map(({ key }) => finished.get(key)!);
  const settings = plan.settings.map((setting, s) => {
    const { environment, preset, memory, settings: resolved, episodes } = runs.find((r) => r.setting === s)!.settings;
    return {
      name: setting.name,
      environment,
      preset,
      policy: setting.policy,
      memory,
      iterations: resolved.iterations,
      batch: resolved.groups * resolved.groupSize,
      episodes: episodes?.length ?? null,
    };
  });
  const number = (name: string) => plan.methods.findIndex((method) => method.name === name);
  const pairs = plan.compare.map(([a, b]) => [number(a), number(b)] as const);
  return {
    format: 'hgpo-study',
    version: 1,
    title: plan.title,
    seeds: plan.seeds,
    window: plan.window,
    settings,
    methods: plan.methods.map(({ name, method, preset, options }) => ({ name, method, preset, options })),
    cells: settings.flatMap((_, s) => plan.methods.map((__, m) => studyCell(s, m, of(s, m), plan.window))),
    differences: settings.flatMap((_, s) =>
      pairs.map((pair) => studyDifference(s, pair, of(s, pair[0]), of(s, pair[1]))),
    ),
  };
}

/** JSON with a line for each cell, so that a change of one shows as one. */
function studyText({ cells, differences, ...head }: RecordedStudy): string {
  const lines = (list: readonly unknown[]) => list.map((one) => JSON.stringify(one)).join(',\n');
  const start = JSON.stringify(head).slice(0, -1);
  return `${start},\n"cells":[\n${lines(cells)}\n],\n"differences":[\n${lines(differences)}\n]}\n`;
}
