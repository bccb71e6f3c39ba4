import type {
  Alarm,
  EngineAdapter,
  Phase,
  PhaseReport,
  RunPlan,
  RunStatus,
  StopReason,
  TimeEstimate,
} from '../../workers/training/client.ts';
import { count, number } from '../number.ts';
import type { TrainingChoices } from '../state/fields.ts';

const plural = (n: number, one: string, many: string) => (n === 1 ? one : many);
const percent = (share: number) => `${Math.round(100 * share)} %`;

const duration = (seconds: number): string =>
  seconds < 1
    ? `${Math.max(1, Math.round(1000 * seconds))} ms`
    : seconds < 90
      ? `${number(seconds)} s`
      : seconds < 5400
        ? `${Math.round(seconds / 60)} min`
        : `${number(seconds / 3600)} h`;

const phases: Record<Phase, string> = { 'roll-out': 'Roll out', group: 'Group', compare: 'Compare', update: 'Update' };

const policies: Record<RunPlan['policy'] | 'auto', string> = {
  auto: 'what this device trains in minutes',
  tabular: 'table, from random',
  'tabular-rooms-20': 'table, 20 % success (rooms)',
  'tabular-rooms-50': 'table, 50 % success (rooms)',
  'tabular-rooms-80': 'table, 80 % success (rooms)',
  'tabular-shop-50': 'table, 50 % success (shop)',
  'rooms-novice': 'language model, novice (rooms)',
  'rooms-base': 'language model, better (rooms)',
};

const reportFigures = ({ phase, figures: f }: PhaseReport): string => {
  switch (phase) {
    case 'roll-out':
      return `${count(f.trajectories!)} trajectories of ${count(f.tasks!)} ${plural(f.tasks!, 'task', 'tasks')}, ${count(f.rows!)} steps, ${percent(f.success!)} succeeded.`;
    case 'group':
      return `${Object.values(f)
        .map((groups, k) => `${count(groups)} groups at k = ${k}`)
        .join(', ')}.`;
    case 'compare':
      return `Mean size of an advantage ${number(f.meanSize!)}; ${percent(f.withoutSignal!)} of the steps have none${
        f.penaltyOnly! > 0 ? `, ${percent(f.penaltyOnly!)} have theirs from the invalid-action penalty alone` : ''
      }.`;
    case 'update':
      return '';
  }
};

/** Texts of the section in which policies are trained; loaded with it. */
export const trainingEn = {
  choices: {
    trainPolicy: 'Start from',
    trainEnvironment: 'Environment',
    trainSize: 'Size',
    trainMethod: 'Method',
    trainAblation: 'Ablation',
    trainPreset: 'Preset',
    trainTuning: 'Train',
    trainDecoding: 'Replies',
    trainMemory: 'Memory of the table, steps',
    trainDepth: 'K',
    trainAlpha: 'α',
    trainGamma: 'γ',
    trainNormalisation: 'Normalisation',
    trainPenalty: 'Penalty for invalid actions',
    trainGroups: 'Tasks in a batch',
    trainMembers: 'N, trajectories of each',
    trainStepLimit: 'Step limit',
    trainIterations: 'Iterations',
    trainLearningRate: 'Learning rate',
    trainKl: 'KL coefficient',
    trainEntropy: 'Entropy bonus',
    trainSeed: 'Seed',
    trainValidation: 'Validate every … iterations',
    trainUntil: 'Stop at success, %',
    trainMinutes: 'Stop after minutes',
    trainHidden: 'In a hidden tab',
  } as Record<keyof TrainingChoices, string>,
  options: {
    policies,
    environments: { rooms: 'rooms', shop: 'shop' },
    autoSize: 'usual',
    wholeMethod: 'none',
    presets: { paper: 'paper', reference: 'reference code' },
    tunings: { lora: 'LoRA adapters', full: 'all weights' },
    decodings: { 'generate-admissible': 'admissible commands only', generate: 'free' },
    normalisations: { usual: 'usual', mean_std_norm: '÷ sd', mean_norm: 'mean only' },
    hidden: { pause: 'pause', 'keep going': 'keep going' },
  },
  hyperParameters: 'Hyper-parameters',
  amountsHint: 'An empty field takes the usual value, which stands there in grey.',
  examples: 'Settings to start from',
  fromStrip: 'Method, α, K, γ of the strip above',
  exampleTable: 'A table, quick',
  exampleModel: 'A language model',
  exampleDrowned: 'An entropy bonus that drowns the reward',
  exampleCollapse: 'A penalty that takes over',
  collapseNote:
    'Free replies, division by the standard deviation and the penalty of 0.1: in groups without a success the penalty alone is blown up to the size of a success, and the policy learns to be valid instead of useful. Remedies: mean only, penalty 0, or admissible commands.',
  planSentence: (
    plan: RunPlan,
    run: { groups: number; groupSize: number; stepLimit: number; iterations: number; learningRate: number },
    method: string,
  ) =>
    `${method} from “${policies[plan.policy]}” on ${plan.environment} ${plan.size}: batches of ${run.groups} × ${run.groupSize} trajectories of at most ${run.stepLimit} steps, ${count(run.iterations)} iterations, learning rate ${run.learningRate}.`,
  fixedSet: (episodes: number) =>
    `A table does not transfer, so it trains on a fixed set of ${episodes} episodes, and its success means that set.`,
  everyOption: 'Every option of this run, with its source',
  optionHead: ['Option', 'Value', 'What it does', 'Source'],
  adapter: (adapter: EngineAdapter | null): string =>
    adapter === null
      ? 'Looking for a GPU…'
      : !adapter.available
        ? `Only tables can be trained here. ${adapter.message}`
        : adapter.adapter.software
          ? `The GPU of this device is a processor in disguise (${adapter.adapter.name}): a table trains in seconds, a language model takes long.`
          : `Language models are trained on ${adapter.adapter.name}.`,
  estimate: ({ seconds, probeRows, probeSeconds, rows }: TimeEstimate, iterations: number) =>
    `Measured here: at most about ${duration(seconds)} for an iteration, ${duration(seconds * iterations)} for all ${count(iterations)}. An estimate: a probe of ${count(probeRows)} steps took ${duration(probeSeconds)}, an iteration has at most ${count(rows)}.`,
  measure: 'How long will it take?',
  question: (seconds: number | null) =>
    `A language model learns slowly on this device${seconds === null ? '' : `: up to ${duration(seconds)} for each iteration`}. Train a table first?`,
  trainTable: 'Train a table',
  trainAnyway: 'Train the language model all the same',
  cancel: 'Cancel',
  phases,
  controls: 'Training controls',
  train: 'Train',
  goOn: 'Go on',
  pause: 'Pause',
  stop: 'Stop',
  iteration: 'One iteration',
  startAnew: 'Start a new run',
  onePhase: 'One phase',
  nextPhase: (name: string) => `${name}: run this phase alone`,
  state: {
    none: 'No run is open. “Train” starts one with the settings above.',
    line: (run: number, status: RunStatus, of: number) => {
      const where = `Run ${run}, iteration ${count(status.iteration)} of ${count(of)}`;
      switch (status.activity) {
        case 'running':
          return `${where}: training.`;
        case 'pausing':
          return `${where}: pausing…`;
        case 'waiting':
          return `${where}: paused.`;
        case 'stopping':
          return `${where}: stopping…`;
        case 'preparing':
          return `${where}: preparing…`;
        case 'measuring':
          return 'Measuring how long an iteration takes…';
        case 'playing':
          return `${where}: playing an episode.`;
        case 'idle':
          return `${where}: ${phases[status.phase].toLowerCase()} comes next.`;
      }
    },
    preparing: 'Opening the policy…',
    measuring: 'Measuring how long an iteration takes…',
    reasons: {
      iterations: 'All iterations are done.',
      success: 'The success that was asked for is reached.',
      minutes: 'The minutes that were asked for are over.',
      alarm: 'Stopped by an alarm.',
      stopped: '',
    } as Record<StopReason, string>,
    success: (value: number) => `Success of the last batch: ${percent(value)}.`,
    time: (computing: number, hidden: number) =>
      `${duration(computing)} of computing, pauses not counted${hidden >= 1 ? `; ${duration(hidden)} of it in a hidden tab` : ''}.`,
    hiddenPause: 'Paused because the tab was hidden.',
    devicesLost: (n: number) =>
      `The GPU was lost ${n} ${plural(n, 'time', 'times')}; training went on from the last iteration.`,
    notKept: (reason: string) => `The run is not kept for the next visit. ${reason}`,
    unreadable: (n: number) =>
      `${n} ${plural(n, 'run', 'runs')} of an earlier visit could not be read and ${plural(n, 'was', 'were')} left out.`,
    removeUnreadable: 'Remove from storage',
  },
  progress: {
    'roll-out': 'rolling out',
    group: 'grouping',
    compare: 'comparing',
    update: 'updating',
    validate: 'validating',
    'compare kernels': 'comparing the kernels with their twins',
    measure: 'measuring',
  },
  alarm: (alarm: Alarm) => alarm.sentence,
  alarmTitle: 'Training stopped by an alarm',
  alarmValues: (alarm: Alarm, name: string) =>
    `Last values of “${name}”: ${alarm.values.map((value) => number(value)).join(', ')}.`,
  back: 'Go back, or go on otherwise',
  backTo: {
    best: (iteration: number, success: number) =>
      `Back to the best checkpoint (before iteration ${count(iteration)}, batch success ${percent(success)})`,
    'last good': 'Back to before the last iteration',
  },
  rateFromHere: 'Learning rate from there on',
  goOnAnyway: 'Go on all the same',
  moreIterations: (n: number) => `${n} iterations more`,
  reports: 'This iteration so far',
  report: (report: PhaseReport) => `${phases[report.phase]}: ${reportFigures(report)}`,
  lookAt: 'Look at these rollouts above',
  lookAtHint: 'Shows the batch in the sections above, with the settings of this run',
  curves: 'Curves',
  moreCurves: 'More curves',
  metric: (_name: string, english: string): string => english,
  formula: (_name: string, english: string): string => english,
  unit: (unit: string): string => unit,
  curveSentence: (name: string, runs: readonly { run: number; value: number; iteration: number }[]) =>
    runs.length === 0
      ? `${name}: no iteration yet.`
      : `${runs.map(({ run, value, iteration }) => `Run ${run}: ${number(value)} after iteration ${count(iteration)}`).join('. ')}.`,
  iterationAxis: 'iteration',
  run: (n: number) => `run ${n}`,
  level: (k: number) => `k = ${k}`,
  phaseTimes: 'Time per phase',
  validation: 'Success in validation',
  validationSentence: 'Success on held-out episodes at temperature 1, with its 95 % interval in the table.',
  parts: (name: string, run: number, values: readonly (readonly [string, number])[]) =>
    `${name}, run ${run}: ${values.map(([part, value]) => `${part} ${number(value)}`).join(', ')}.`,
  details: 'Details of run',
  runs: {
    title: 'Runs',
    head: ['Run', 'Curves', 'Method', 'Policy', 'Seed', 'Iterations', 'Success of the last batch', ''],
    show: (n: number) => `Draw the curves of run ${n}`,
    reopen: 'Continue',
    isOpen: 'Close',
    forget: 'Delete',
    forgetHint: (n: number) => `Delete run ${n} from this page and from storage`,
    save: 'Save',
    saveHint: (n: number) => `Files of run ${n}`,
    checkpoint: 'Checkpoint',
    kept: (n: number, iteration: number, of: number) =>
      `Run ${n} was kept from your last visit, at iteration ${count(iteration)} of ${count(of)}.`,
    goOnWithIt: 'Go on with it',
    openFile: 'Open a checkpoint…',
    openHint: 'A checkpoint of this page or of hgpo train. It is read here and sent nowhere.',
  },
  study: {
    title: 'Recorded study',
    which: 'Study',
    studies: { tabular: 'tables from random', neural: 'a language model from rooms-novice' },
    reading: 'Reading the study…',
    failed: (said: string) => `The recorded study could not be read (${said}). Everything else works without it.`,
    sentence: ({ runs, seeds, policy, memory }: { runs: number; seeds: number; policy: string; memory: number }) =>
      `${count(runs)} runs of hgpo study, ${seeds} ${plural(seeds, 'seed', 'paired seeds')}: policy ${policy}, memory ${memory}.`,
    matched: (iterations: number, batch: number) =>
      `Every method had the same ${iterations} batches of ${batch} trajectories, and its default options.`,
    setting: 'Setting',
    outcomes: (place: string) => `Success by method, ${place}`,
    outcomesSentence: (seeds: number, hasIntervals: boolean) =>
      `Mean over ${seeds} ${plural(seeds, 'seed', 'seeds')}${
        hasIntervals ? ' with its 95 % bootstrap interval' : '; too few for an interval'
      }. Tick a method to draw its curve.`,
    measure: 'What is compared',
    method: 'Method',
    low: '95 % low',
    high: '95 % high',
    alarms: 'Runs with an alarm',
    during: 'during training',
    after: (set: string, temperature: number) =>
      `after training, ${set === 'set' ? 'its fixed set' : set}, temperature ${temperature}`,
    everySeed: 'Every seed',
    ownRuns: 'My runs beside them',
    curves: (place: string) => `Success during training, ${place}`,
    noneDrawn: 'No method is ticked.',
    curvesSentence: (last: readonly (readonly [string, number])[]) =>
      `Mean over the seeds, in the last batch: ${last.map(([name, value]) => `${name} ${number(value)}`).join(', ')}.`,
    seed: (seed: number) => `seed ${seed}`,
    differences: 'Differences, seed by seed',
    differencesOfFew: (seeds: number) =>
      `Points of success after training, mean over the seeds. ${seeds} are too few for an interval, so none of this is decided.`,
    differencesSentence: (pairs: number, decided: number) =>
      `Points of success after training, with 95 % intervals: ${decided} of ${pairs} exclude 0. About one in twenty does so by chance.`,
    pair: 'First − second',
    differenceAfter: 'after training',
    differenceDuring: 'during training',
    undecided: 'undecided',
  },
  files: 'Files',
  policyFolder: 'Policy',
  policyHint: 'The open policy as it is now: a table as JSON, a language model as a model folder in a tar file',
  clusterScript: 'Script for verl-agent',
  clusterHint: 'A launch script that trains the same method on a cluster',
  card: (plan: RunPlan, method: string, iteration: number) =>
    `# A policy trained by ${method}\n\nFrom ${plan.policy}, ${plan.tuning} tuning, seed ${plan.seed}, ${iteration} iterations on ${plan.environment} ${plan.size}, in the HGPO Playground.\n`,
  watch: {
    title: 'What the policy does, before and after',
    note: 'One episode, played by the policy before training and by the policy as it is now.',
    split: 'Episodes',
    splits: { set: 'the fixed set', train: 'training', seen: 'seen rooms, new tasks', unseen: 'unseen' },
    episode: 'Number',
    draw: 'Commands',
    draws: { greedy: 'the likeliest', sampled: 'drawn' },
    play: 'Play',
    none: 'Open or start a run first.',
    busy: 'Pause does not reach here: stop the run, or let it come to its end.',
    before: 'Before training',
    now: 'Now',
    outcome: (won: boolean, steps: number) =>
      `${won ? 'Success' : 'Failure'} after ${steps} ${plural(steps, 'step', 'steps')}.`,
    invalid: 'not valid',
  },
};

export type TrainingTexts = typeof trainingEn;
