import type { LevelDiagnostics } from '../../analysis/groups.ts';
import type { CaseKind } from '../../analysis/lab/cases.ts';
import type { AdvantagePart } from '../../estimators/explain.ts';
import { count, number, share, signed } from '../number.ts';
import type { FieldName, Method, Settings } from '../state/fields.ts';
import type { paperUtilisation } from '../steps/paper-utilisation.ts';
import { truthEn } from './truth-en.ts';

type LevelUtilisation = Pick<LevelDiagnostics, 'k' | 'utilisation'>;

/** Whole numbers up to twelve as words, the way a teacher reads them out. */
const words = 'no one two three four five six seven eight nine ten eleven twelve'.split(' ');
const inWords = (n: number) => words[n] ?? count(n);
const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
const plural = (n: number, one: string, many: string) => (n === 1 ? one : many);
const list = new Intl.ListFormat('en', { type: 'conjunction' });
const steps = (n: number) => `${count(n)} ${plural(n, 'step', 'steps')}`;

const reason = (why: AdvantagePart): string => {
  switch (why.kind) {
    case 'episode':
      return `its trajectory scored ${number(why.value)}, the task’s mean is ${number(why.mean)}`;
    case 'level':
      return `its return ${number(why.value)} against a mean of ${number(why.mean)} over the ${count(why.members.length)} ${
        why.k === 0 ? 'steps in this state' : `that share ${steps(why.k ?? 0)} of history`
      }`;
    case 'peers':
      return `its return ${number(why.value)} against a mean of ${number(why.mean)} over the ${count(why.members.length)} with the same full history`;
    case 'credit':
      return `the estimated value ${why.advantage > 0 ? 'rose' : 'fell'} by ${number(Math.abs(why.advantage * why.divisor))} over this step`;
    case 'critic':
      return `the critic expected ${number(why.value)} here and ${number(why.target)} followed`;
  }
};

const exampleNames: Record<CaseKind, string> = {
  'hgpo right, gigpo wrong': 'HGPO has the sign right and GiGPO wrong',
  'hgpo wrong, gigpo right': 'HGPO has the sign wrong and GiGPO right',
  'alpha 0 right, alpha 1 wrong': 'with α = 0 the sign is right, with α = 1 wrong',
  'deepest level absent': 'the deepest level is absent',
};

const fieldNames: Record<FieldName, string> = {
  method: 'method',
  against: 'compared method',
  preset: 'preset',
  alpha: 'α',
  depth: 'K',
  members: 'N',
  gamma: 'γ',
  normalisation: 'normalisation',
  colour: 'cell colour',
  sizeUnit: 'what group sizes count',
  sizeBins: 'bins of group sizes',
  task: 'task',
  trajectory: 'trajectory',
  step: 'step',
  source: 'source of the rollouts',
  policy: 'policy',
  environment: 'environment',
  size: 'size',
  kind: 'kind of task',
  groups: 'groups',
  each: 'trajectories of each group',
  seed: 'seed',
  temperature: 'temperature',
  play: 'played environment',
  playSize: 'played size',
  playSeed: 'played seed',
  playSplit: 'played set',
  playTask: 'played kind of task',
  playLimit: 'step limit of play',
  moves: 'moves of play',
  lesson: 'lesson',
  stage: 'stage of the lesson',
  theme: 'theme',
  language: 'language',
  trainEnvironment: 'environment to train in',
  trainSize: 'size to train on',
  trainPolicy: 'policy to train',
  trainTuning: 'what is trained',
  trainDecoding: 'replies in training',
  trainMethod: 'method to train with',
  trainAblation: 'ablation',
  trainPreset: 'preset to train with',
  trainMemory: 'memory of the table',
  trainDepth: 'K in training',
  trainAlpha: 'α in training',
  trainGamma: 'γ in training',
  trainNormalisation: 'normalisation in training',
  trainPenalty: 'penalty in training',
  trainGroups: 'tasks in a batch',
  trainMembers: 'N in training',
  trainStepLimit: 'step limit',
  trainIterations: 'iterations',
  trainLearningRate: 'learning rate',
  trainKl: 'KL coefficient',
  trainEntropy: 'entropy bonus',
  trainSeed: 'seed',
  trainValidation: 'validation interval',
  trainUntil: 'success to stop at',
  trainMinutes: 'minutes to stop after',
  trainHidden: 'hidden tab',
  example: 'case',
  labPlace: 'policy of the lab',
  labMemory: 'K_mem in the lab',
  labDepth: 'K_group in the lab',
  labMembers: 'N in the lab',
  labSupport: 'rows judged in the lab',
  labMeasure: 'measure of the map',
  arithmetic: 'opened arithmetic',
  numbers: 'figures shown as numbers',
  unfolded: 'unfolded parts',
  labQuantity: 'what methods are compared by',
  watchSplit: 'set of the episode to watch',
  watchEpisode: 'episode to watch',
  study: 'recorded study',
  studySetting: 'environment of the study',
  studyOutcome: 'outcome of the study',
  studyMethods: 'curves of the study',
  word: 'glossary',
  kernel: 'kernel whose source is shown',
};

/** Every text of the interface, in English. Other languages have the same shape, checked by the compiler. */
export const en = {
  title: 'HGPO Playground',
  tagline: 'Same state, different past: who gets the credit?',
  tryThis: 'Choose a step in the grid, then drag α: watch its advantage follow the groups that share its past.',
  skip: 'Skip to the rollouts',
  /** What each method compares, where the registry’s own sentence is not in this language. */
  sentences: {} as Partial<Record<Method, string>>,
  theme: { label: 'Theme', auto: 'Auto', light: 'Light', dark: 'Dark' },
  language: 'Language',
  learn: { button: 'Learn', lessons: 'Lessons', opening: 'Opening the lesson…' },
  lessonTitles: {
    grpo: 'One score for everything: GRPO',
    gigpo: 'Same state: GiGPO',
    hgpo: 'Same state, different past: HGPO',
    progpo: 'Nobody shares my past: ProGPO',
    bias: 'Wrong or noisy: bias and variance',
    collapse: 'When nothing is learnt: collapse',
  },
  glossary: {
    title: 'Glossary',
    close: 'Close',
    explain: (word: string) => `What “${word}” means`,
    words: {
      trajectory: 'trajectory',
      step: 'step',
      state: 'state',
      history: 'history',
      return: 'return',
      group: 'group',
      advantage: 'advantage',
      level: 'level',
      weight: 'weight',
      signal: 'signal',
      utilisation: 'utilisation',
      signFlip: 'sign flip',
      truth: 'truth',
      oracle: 'Oracle',
      bias: 'bias',
      variance: 'variance',
      policy: 'policy',
    },
  },
  link: { button: 'Copy link', copied: 'Link copied', failed: 'The address of this page is the link' },
  gpu: {
    found: (name: string) => `GPU found: ${name}.`,
    software: (name: string) => `No GPU: ${name} stands in for one; neural policies run on the processor.`,
    noAdapter: 'No GPU that WebGPU can use; neural policies run on the processor.',
    noApi: 'No WebGPU in this browser; neural policies run on the processor.',
  },
  keys: {
    button: 'Keyboard',
    title: 'Keys',
    close: 'Close',
    list: [
      ['← →', 'previous, next step'],
      ['↑ ↓', 'trajectory above, below'],
      ['Home End', 'first, last step'],
      ['Esc', 'clear the choice, close a panel'],
      ['g', 'go to the grid'],
      ['1 – 5', 'GRPO, RLOO, GiGPO, HGPO, ProGPO'],
      ['n', 'next step on which the two methods disagree'],
      ['?', 'this list'],
    ] as readonly (readonly [string, string])[],
  },
  method: 'Method',
  controls: {
    title: 'Controls',
    alpha: 'α',
    alphaMeaning: (value: number, w: readonly number[]) =>
      value === 0
        ? '0: every level counts the same'
        : `${number(value)}: level weights ${w.map((x) => number(x)).join(' : ')}`,
    depth: 'K',
    depthMeaning: (value: number) =>
      value === 0 ? '0: the state alone, no history' : `${value}: groups share up to ${steps(value)} of history`,
    members: 'N',
    membersMeaning: (value: number) => `${value} trajectories of each task`,
    gamma: 'γ',
    gammaMeaning: (value: number) =>
      value === 1 ? '1: no discount' : `${number(value)}: a reward ten steps away counts ${number(value ** 10)}`,
    normalisation: 'Norm',
    normalisationLong: 'Normalisation inside a group',
    normalisations: { mean_std_norm: '÷ sd', mean_norm: 'mean only' } as Record<Settings['normalisation'], string>,
    preset: 'Preset',
    presets: { paper: 'paper', reference: 'reference code' } as Record<Settings['preset'], string>,
    presetHint: 'How the paper and its public code differ',
    topic: 'Topic',
    meaning: 'What it means here',
    close: 'Close',
    moved: (flips: number, changed: number) =>
      flips > 0
        ? `${capital(inWords(flips))} ${plural(flips, 'sign', 'signs')} flipped`
        : changed > 0
          ? `${count(changed)} ${plural(changed, 'advantage', 'advantages')} moved, no sign flipped`
          : 'No advantage moved',
  },
  origin: {
    recorded: 'recorded',
    live: 'live',
    training: 'in training',
    own: 'your file',
    measured: 'measured here',
    paper: 'paper',
  },
  source: {
    title: 'Rollouts on screen',
    task: 'Task',
    recordedFrom: 'Small rooms, played by rooms-base, a small language model.',
    made: 'How they were made',
    madeBy: (policy: string, seed: number) => `Played by the shipped policy ${policy} (4-bit weights), seed ${seed}:`,
    truthMade: (known: number, tasks: readonly number[], low: number, high: number) =>
      `The truth of ${steps(known)} of ${plural(tasks.length, 'task', 'tasks')} ${list.format(tasks.map(String))}, by playing on 48 times for each command that was chosen; standard errors of A* from ${number(low)} to ${number(high)}, a win is worth 10:`,
    live: 'Run it live',
    liveFrom: (policy: string, environment: string) => `${environment}, played just now by ${policy}.`,
    trainingFrom: (run: number, iteration: number) =>
      `Rolled out by training run ${run} in iteration ${count(iteration)}.`,
    policies: { random: 'uniform chance' } as Record<string, string>,
    environments: { rooms: 'Rooms', shop: 'Shop' },
    example: (kind: CaseKind) => `An instructive case, found by search: ${exampleNames[kind]}.`,
    open: 'Open rollouts…',
    drop: 'Drop a rollout JSONL file anywhere. It is read here and sent nowhere.',
    back: 'Back to the recorded rollouts',
    instructive: 'Show a telling step',
    reading: (file: string) => `Reading ${file}…`,
    failed: 'The rollouts could not be read.',
    retry: 'Try again',
    report: 'Import report',
    save: 'Save',
    saveHint: 'Rollouts as JSONL, rows with every advantage as CSV, or a launch script for verl-agent',
    script: 'verl-agent',
  },
  rollOut: {
    title: 'Roll out',
    sentence: (n: number, won: number, said: boolean) =>
      said
        ? `${capital(inWords(n))} attempts at one task, ${won === 0 ? 'none' : inWords(won)} succeeded.`
        : `${capital(inWords(n))} attempts at one task.`,
    grid: 'Rollout grid',
    gridTable: [
      'Trajectory',
      'Step',
      'State',
      'Observation',
      'Action',
      'Reward',
      'Success',
      'Return',
    ] as readonly string[],
    colour: 'Colour',
    colours: { state: 'State', return: 'Return', advantage: 'Advantage' } as Record<Settings['colour'], string>,
    stateKey: 'Equal letter, equal observation. A cell without a letter is a state that nobody else visits.',
    pastKey: 'An outline reaches back over the past that a step shares with the chosen one.',
    discounted: 'discounted return',
    below: 'below',
    above: 'above',
    transcript: (n: number) => `Trajectory ${n}`,
    transcriptNone: 'Choose a step to read its trajectory.',
    invalid: 'not a valid reply',
    reward: 'reward',
    hover: (trajectory: number, step: number, letter: string, ret: number, advantage: number, method: string) =>
      `Trajectory ${trajectory}, step ${step}${letter ? `, state ${letter}` : ''}: return ${number(ret)}, ${method} ${signed(advantage)}`,
  },
  grid: {
    name: (n: number, longest: number) =>
      `Rollout grid: ${n} trajectories, up to ${steps(longest)}. Arrow keys move the choice.`,
    row: (n: number, success: boolean | null) =>
      `Trajectory ${n}${success === null ? '' : success ? ', success' : ', failure'}`,
    cell: (trajectory: number, step: number, observation: string) =>
      `Trajectory ${trajectory}, step ${step}: ${observation}`,
  },
  group: {
    title: 'Group',
    groups: 'Groups of the chosen step',
    none: 'Choose a step: its groups appear here.',
    state: (letter: string) => `state ${letter}`,
    where: (trajectory: number, step: number) => `Trajectory ${trajectory}, step ${step}`,
    /**
     * Sizes of G_0, G_1, … as one sentence. Levels of equal size are one group: only the longest past that it shares is
     * said. From level `step` on the past is the whole episode.
     */
    sentence: (sizes: readonly number[], step: number) => {
      if (sizes[0] === 1) return 'No other step stands here: there is nobody to compare it with.';
      const parts = [`${inWords(sizes[0]!)} steps stand here`];
      for (let k = 1; k < sizes.length; k++) {
        const n = sizes[k]!;
        if (n > 1 && n === sizes[k + 1]) continue;
        const who = n === 1 ? 'none of the others' : n === sizes[0] ? 'all' : inWords(n);
        const past =
          k >= step
            ? `${n === 1 ? 'shares' : 'share'} the whole past`
            : k === 1
              ? 'came the same way'
              : `${n === 1 ? 'shares' : 'share'} the last ${inWords(k)} steps`;
        parts.push(`${who} ${past}`);
        // Who is alone stays alone.
        if (n === 1) break;
      }
      return `${capital(parts.join(', '))}.`;
    },
    began: 'episode began here',
    icicle: (sizes: readonly number[]) =>
      `Nested groups of the chosen step: ${sizes.map((n, k) => `G${k} ${n}`).join(', ')}`,
    taskBand: (n: number, all: number) => `${count(n)} of the task’s ${count(all)} steps`,
    node: (k: number, n: number, what: string) =>
      k === 0
        ? `${count(n)} steps in state “${what}”`
        : `${count(n)} with “${what}” ${k === 1 ? 'one step' : `${k} steps`} before`,
    meanReturn: (value: number) => `mean return ${number(value)}`,
    table: ['Level', 'Steps', 'Split by the state', 'On a success', 'Mean return'],
    successKey: 'filled: step of a success · open: step of a failure',
  },
  compare: {
    title: 'Compare',
    none: 'Choose a step: its advantage appears here.',
    ofStep: 'Advantage of this step',
    compared: 'Compared with',
    weight: 'weight',
    levelName: (k: number) => (k === 0 ? 'same state' : k === 1 ? '+ last step' : `+ last ${inWords(k)}`),
    pending: 'computing…',
    parts: {
      episode: 'whole trajectories',
      peers: 'same full history',
      credit: 'rise of potential',
      critic: 'critic',
    },
    states: { absent: 'no level', alone: 'alone', zero: 'no signal', unused: 'unused' },
    sum: (method: string) => `${method}, summed`,
    methods: 'Every method on one axis',
    oracleMeaning: (k: number) =>
      `The comparison with those who share the state and ${k === 0 ? 'no history' : steps(k)} alone (G${k}); most steps have nobody there`,
    opposite: 'opposite sign',
    sentence: (value: number, method: string) =>
      value === 0
        ? `${method} gives this step no signal.`
        : `${method} ${value > 0 ? 'reinforces' : 'discourages'} this step: ${signed(value)}.`,
    disagree: (names: readonly string[]) =>
      `${list.format(names)} ${plural(names.length, 'has', 'have')} the opposite sign.`,
    agree: 'No method has the opposite sign.',
    truth: truthEn,
    open: 'Show the arithmetic',
    arithmetic: 'The arithmetic',
    close: 'Close',
    member: 'Member',
    return: 'Return Q',
    score: 'Score S',
    deviation: 'Deviation',
    memberStep: (trajectory: number, step: number) => `trajectory ${trajectory}, step ${step}`,
    memberTrajectory: (trajectory: number) => `trajectory ${trajectory}`,
    groupNumbers: (n: number, mean: number, sd: number) =>
      `n = ${count(n)}, mean ${number(mean)}, standard deviation ${number(sd)}`,
    moreMembers: (n: number) => `${count(n)} more are not listed.`,
    potentialMean: 'Value estimate',
    samples: 'Effective samples',
    lenders: 'Similar contexts',
    share: 'Share in Φ',
  },
  allSteps: {
    title: 'All steps',
    sizes: 'Group sizes',
    sizesSentence: (k: number, alone: number) => `At k = ${k}, ${share(alone)} of the steps are alone.`,
    sizesCount: 'What is counted',
    sizeUnits: { rows: 'per step', groups: 'per group' } as Record<Settings['sizeUnit'], string>,
    sizesBins: 'Bins',
    sizeBins: { doubling: 'doubling bins', single: 'every size, as verl-agent logs' } as Record<
      Settings['sizeBins'],
      string
    >,
    sizesAxis: {
      doubling: 'Group size in doubling bins (1, 2, 3–4, 5–8, …); height: share of all. Grey: alone.',
      single: 'Group size, a bin for each up to 32 and one for the rest; height: share of all. Grey: alone.',
    } as Record<Settings['sizeBins'], string>,
    utilisation: 'Utilisation',
    utilisationSentence: (first: number, deepest: LevelUtilisation, [from, to]: typeof paperUtilisation) =>
      `${share(first)} of the steps share their state with another step; ${share(deepest.utilisation)} still do with ${steps(deepest.k)} of history. In the paper ${share(from.utilisation)} at k = ${from.k} falls to ${share(to.utilisation)} at k = ${to.k}.`,
    utilisationLine: 'Utilisation, steps with company:',
    utilisationAt: (utilisation: number, k: number) => `${share(utilisation)} at k = ${k}`,
    utilisationMore: 'All steps ↓',
    utilisationAxis: 'share of steps in a group of two or more',
    noSignal: 'Share without signal',
    noSignalSentence: (method: string, none: number) => `${method} gives ${share(none)} of all steps no signal.`,
    flips: 'Sign flips',
    flipsSentence: (n: number, a: string, b: string, all: number) =>
      n === 0
        ? `${a} and ${b} agree about the sign of every step.`
        : `${a} and ${b} disagree about the sign of ${count(n)} of ${count(all)} steps.`,
    against: 'against',
    step: 'Step',
    method: 'Method',
    reason: (names: readonly [string, string], a: AdvantagePart, b: AdvantagePart) =>
      `${names[0]}: ${reason(a)}. ${names[1]}: ${reason(b)}.`,
    more: (n: number) => `Show ${count(n)} more`,
    flipWhere: (task: string, trajectory: number, step: number) => `${task} · trajectory ${trajectory}, step ${step}`,
  },
  lab: {
    title: 'How wrong, how noisy',
    note: 'Every method against the truth: bias, variance, and what the paper says of them.',
  },
  play: {
    title: 'Be the policy',
    note: 'Play an episode yourself, or step into a recorded one and act otherwise.',
    replay: 'Step into it',
    replayHint: 'Play this trajectory again up to the chosen step, then act otherwise',
    planHere: (at: string | null, hand: string | null) =>
      `${at === null ? 'In the middle of the room' : `At ${at}`}, ${hand === null ? 'hand empty' : `holding ${hand}`}.`,
    showHiddenShort: 'Show the hidden state',
    showHidden: 'Show the hidden state, which no policy sees',
    planSentence: (at: string | null, hand: string | null) =>
      `Floor plan: the agent stands ${at === null ? 'in the middle of the room' : `at ${at}`}, ${hand === null ? 'its hand is empty as far as known' : `holding ${hand}`}.`,
    plan: 'Floor plan',
    planTable: ['Place', 'Door', 'Contents'] as readonly string[],
    planPlace: (name: string, door: 'open' | 'shut' | null, objects: readonly string[] | null) =>
      `${name}${door === null ? '' : `, ${door}`}: ${objects === null ? 'not seen' : objects.length === 0 ? 'nothing' : objects.join(', ')}.`,
    empty: 'nothing',
    more: (n: number) => `and ${n} more`,
    holds: (object: string) => `holds ${object}`,
    knownKey: 'As seen so far; “?”: not seen. Thick edge: shut door.',
    hiddenKey: 'The hidden state: all that is true, seen or not. Thick edge: shut door.',
  },
  update: {
    title: 'Update',
    note: 'Train a policy here and watch it learn; stop between any two phases.',
  },
  engine: {
    title: 'Engine room',
    subtitle: 'adapter, kernels and their WGSL, self-test',
    looking: 'Looking for a GPU…',
  },
  table: {
    show: 'Table',
    hide: 'Picture',
    save: 'Save',
    lastRows: (shown: number, all: number) =>
      `The last ${count(shown)} of ${count(all)} rows; the CSV file has them all.`,
  },
  notice: {
    repaired: (
      from: 'link' | 'storage',
      changes: readonly { field: FieldName; taken: string | number; reason: string }[],
    ) =>
      `${from === 'link' ? 'This link' : 'What was kept from last time'} held values that cannot be used: ${changes
        .map(({ field, taken }) => `${fieldNames[field]} is now ${taken === -1 ? 'unset' : taken}`)
        .join(', ')}.`,
    newerLink: 'This link was made by a newer version of this page; what could be read of it was used.',
    liveAwaited:
      'This link shows rollouts that a policy plays here. The settings are filled in: press “Roll out” to see them.',
    storageStartedClean: 'What was kept from last time could not be read, so the page starts fresh.',
    selectionNotThere: 'The chosen step is not in these rollouts; the nearest one is shown.',
    rolloutsFailed: (reason: string) => `The file could not be used. ${reason}`,
    workerFailed: (reason: string) => `Some numbers could not be computed. ${reason} Open the rollouts again to retry.`,
    notSaved: (reason: string) => `Nothing was saved. ${reason}`,
    dismiss: 'Dismiss',
  },
};

export type Texts = typeof en;
