import type { Alarm, Phase, PhaseReport, RunPlan, RunStatus } from '../../workers/training/client.ts';
import { count, number } from '../number.ts';
import type { TrainingTexts } from './training-en.ts';

const percent = (share: number) => `${Math.round(100 * share)} %`;

const duration = (seconds: number): string =>
  seconds < 1
    ? `${Math.max(1, Math.round(1000 * seconds))} 毫秒`
    : seconds < 90
      ? `${number(seconds)} 秒`
      : seconds < 5400
        ? `${Math.round(seconds / 60)} 分钟`
        : `${number(seconds / 3600)} 小时`;

const phases: Record<Phase, string> = { 'roll-out': '采样', group: '分组', compare: '比较', update: '更新' };

const policies: Record<RunPlan['policy'] | 'auto', string> = {
  auto: '此设备几分钟内能训练的',
  tabular: '表格，随机起点',
  'tabular-rooms-20': '表格，成功率 20 %（房间）',
  'tabular-rooms-50': '表格，成功率 50 %（房间）',
  'tabular-rooms-80': '表格，成功率 80 %（房间）',
  'tabular-shop-50': '表格，成功率 50 %（商店）',
  'rooms-novice': '语言模型，新手（房间）',
  'rooms-base': '语言模型，较好（房间）',
};

const environments: Record<RunPlan['environment'], string> = { rooms: '房间', shop: '商店' };

const reportFigures = ({ phase, figures: f }: PhaseReport): string => {
  switch (phase) {
    case 'roll-out':
      return `${count(f.tasks!)} 个任务的 ${count(f.trajectories!)} 条轨迹，${count(f.rows!)} 步，成功 ${percent(f.success!)}。`;
    case 'group':
      return `${Object.values(f)
        .map((groups, k) => `k = ${k} 时 ${count(groups)} 组`)
        .join('，')}。`;
    case 'compare':
      return `优势的平均大小 ${number(f.meanSize!)}；${percent(f.withoutSignal!)} 的步没有优势${
        f.penaltyOnly! > 0 ? `，${percent(f.penaltyOnly!)} 的步其优势只来自无效动作惩罚` : ''
      }。`;
    case 'update':
      return '';
  }
};

const metrics: Record<string, string> = {
  meanAdvantage: '平均优势',
  policyLoss: '策略梯度损失',
  kl: '与参考策略的 KL',
  clipFraction: '截断比例',
  meanReward: '平均奖励',
  success: '回合成功率',
  loss: '损失',
  valueLoss: '价值损失',
  entropy: '熵',
  gradientNorm: '梯度范数',
  invalidShare: '无效动作',
  episodeLength: '回合长度',
  score: '得分',
  withoutSignal: '无信号的步',
  penaltyOnly: '优势只来自惩罚',
  failedGroups: '全部失败的组',
  klOnlyUpdates: '只有 KL 的更新',
  ratioSpread: '重要性比率的离散',
  successByTask: '各任务成功率',
  groupSize: '各层组大小',
  utilisation: '各层利用率',
  levelWithoutSignal: '各层无信号的步',
};

const units: Record<string, string> = {
  share: '比例',
  steps: '步',
  return: '回报',
  'return²': '回报²',
  'nat/token': 'nat/词元',
  s: '秒',
};

const alarm = ({ kind, iteration, quantity, values }: Alarm): string => {
  const last = number(values.at(-1) ?? NaN);
  const where = `第 ${iteration} 次迭代：`;
  switch (kind) {
    case 'not-finite':
      return `${where}${metrics[quantity] ?? quantity}不是有限数；请回到上一个好的检查点并降低学习率。`;
    case 'kl-explosion':
      return `${where}策略离起点每词元 ${last} nat；请回退，然后增大 KL 系数或降低学习率。`;
    case 'entropy-collapse':
      return `${where}策略几乎不再变化（熵 ${last}）；请回退，并加入熵奖励或降低学习率。`;
    case 'reward-collapse':
      return `${where}成功率大幅下降，现为 ${last}；请回到最好的检查点并降低学习率。`;
    case 'penalty-drives':
      return `${where}${percent(values.at(-1) ?? NaN)} 的步其优势只来自无效动作惩罚；请用“仅减均值”、惩罚 0，或只在可行命令中解码。`;
  }
};

/** 训练部分的文字。 */
export const trainingZh: TrainingTexts = {
  choices: {
    trainPolicy: '起点',
    trainEnvironment: '环境',
    trainSize: '规模',
    trainMethod: '方法',
    trainAblation: '消融',
    trainPreset: '预设',
    trainTuning: '训练',
    trainDecoding: '回复',
    trainMemory: '表格的记忆（步）',
    trainDepth: 'K',
    trainAlpha: 'α',
    trainGamma: 'γ',
    trainNormalisation: '归一化',
    trainPenalty: '无效动作惩罚',
    trainGroups: '每批任务数',
    trainMembers: 'N，每个任务的轨迹数',
    trainStepLimit: '步数上限',
    trainIterations: '迭代次数',
    trainLearningRate: '学习率',
    trainKl: 'KL 系数',
    trainEntropy: '熵奖励',
    trainSeed: '种子',
    trainValidation: '每多少次迭代验证一次',
    trainUntil: '到此成功率停止，%',
    trainMinutes: '多少分钟后停止',
    trainHidden: '标签页隐藏时',
  },
  options: {
    policies,
    environments,
    autoSize: '通常',
    wholeMethod: '无',
    presets: { paper: '论文', reference: '参考代码' },
    tunings: { lora: 'LoRA 适配器', full: '全部权重' },
    decodings: { 'generate-admissible': '只限可行命令', generate: '自由' },
    normalisations: { usual: '通常', mean_std_norm: '÷ 标准差', mean_norm: '仅减均值' },
    hidden: { pause: '暂停', 'keep going': '继续' },
  },
  hyperParameters: '超参数',
  amountsHint: '空栏取通常值，以灰色显示。',
  examples: '可从这些设置开始',
  fromStrip: '采用上方的方法、α、K、γ',
  exampleTable: '表格，很快',
  exampleModel: '语言模型',
  exampleDrowned: '淹没奖励的熵奖励',
  exampleCollapse: '喧宾夺主的惩罚',
  collapseNote:
    '自由回复、除以标准差、惩罚 0.1：在没有成功的组里，仅惩罚就被放大到与成功一样大，策略学会“有效”而不是“有用”。对策：仅减均值、惩罚 0，或只限可行命令。',
  planSentence: (plan, run, method) =>
    `${method}，起点“${policies[plan.policy]}”，${environments[plan.environment]} ${plan.size}：每批 ${run.groups} × ${run.groupSize} 条轨迹，每条至多 ${run.stepLimit} 步，${count(run.iterations)} 次迭代，学习率 ${run.learningRate}。`,
  fixedSet: (episodes) => `表格不能迁移，因此在固定的 ${episodes} 个回合上训练，其成功率也只指这些回合。`,
  everyOption: '本次运行的全部选项及其出处',
  optionHead: ['选项', '值', '作用（英文）', '出处'],
  adapter: (adapter) =>
    adapter === null
      ? '正在寻找 GPU…'
      : !adapter.available
        ? `此处只能训练表格。${adapter.message}`
        : adapter.adapter.software
          ? `此设备的 GPU 由处理器模拟（${adapter.adapter.name}）：表格几秒即可训练，语言模型需要很久。`
          : `语言模型在 ${adapter.adapter.name} 上训练。`,
  estimate: ({ seconds, probeRows, probeSeconds, rows }, iterations) =>
    `本机实测：每次迭代至多约 ${duration(seconds)}，全部 ${count(iterations)} 次约 ${duration(seconds * iterations)}。这是估计：试跑 ${count(probeRows)} 步用了 ${duration(probeSeconds)}，一次迭代至多 ${count(rows)} 步。`,
  measure: '需要多久？',
  question: (seconds) =>
    `语言模型在此设备上学得很慢${seconds === null ? '' : `：每次迭代可达 ${duration(seconds)}`}。先训练表格吗？`,
  trainTable: '训练表格',
  trainAnyway: '仍然训练语言模型',
  cancel: '取消',
  phases,
  controls: '训练控制',
  train: '训练',
  goOn: '继续',
  pause: '暂停',
  stop: '停止',
  iteration: '一次迭代',
  startAnew: '开始新的运行',
  onePhase: '一个阶段',
  nextPhase: (name) => `${name}：只运行这个阶段`,
  state: {
    none: '没有打开的运行。“训练”按上面的设置开始一个。',
    line: (run: number, status: RunStatus, of: number) => {
      const where = `运行 ${run}，迭代 ${count(status.iteration)} / ${count(of)}`;
      switch (status.activity) {
        case 'running':
          return `${where}：训练中。`;
        case 'pausing':
          return `${where}：正在暂停…`;
        case 'waiting':
          return `${where}：已暂停。`;
        case 'stopping':
          return `${where}：正在停止…`;
        case 'preparing':
          return `${where}：准备中…`;
        case 'measuring':
          return '正在测量一次迭代需要多久…';
        case 'playing':
          return `${where}：正在演示一个回合。`;
        case 'idle':
          return `${where}：下一步是${phases[status.phase]}。`;
      }
    },
    preparing: '正在打开策略…',
    measuring: '正在测量一次迭代需要多久…',
    reasons: {
      iterations: '全部迭代已完成。',
      success: '已达到所要求的成功率。',
      minutes: '所给的分钟数已用完。',
      alarm: '因警报停止。',
      stopped: '',
    },
    success: (value) => `上一批的成功率：${percent(value)}。`,
    time: (computing, hidden) =>
      `已计算 ${duration(computing)}，不含暂停${hidden >= 1 ? `；其中 ${duration(hidden)} 在隐藏的标签页中` : ''}。`,
    hiddenPause: '因标签页隐藏而暂停。',
    devicesLost: (n) => `GPU 丢失过 ${n} 次；训练已从上一次迭代继续。`,
    notKept: (reason) => `此运行不会保留到下次访问。${reason}`,
    unreadable: (n) => `以前访问的 ${n} 个运行无法读取，已略过。`,
    removeUnreadable: '从存储中删除',
  },
  progress: {
    'roll-out': '采样中',
    group: '分组中',
    compare: '比较中',
    update: '更新中',
    validate: '验证中',
    'compare kernels': '正在将各内核与其对照实现比较',
    measure: '测量中',
  },
  alarm,
  alarmTitle: '训练因警报停止',
  alarmValues: (raised, name) => `“${name}”最近的值：${raised.values.map((value) => number(value)).join('，')}。`,
  back: '回退，或以别的设置继续',
  backTo: {
    best: (iteration, success) =>
      `回到最好的检查点（第 ${count(iteration)} 次迭代之前，该批成功率 ${percent(success)}）`,
    'last good': '回到上一次迭代之前',
  },
  rateFromHere: '此后的学习率',
  goOnAnyway: '仍然继续',
  moreIterations: (n) => `再加 ${n} 次迭代`,
  reports: '本次迭代至今',
  report: (report) => `${phases[report.phase]}：${reportFigures(report)}`,
  lookAt: '在上方查看这些轨迹',
  lookAtHint: '在上面各部分显示这一批，并采用此运行的设置',
  curves: '曲线',
  moreCurves: '更多曲线',
  metric: (name, english) => metrics[name] ?? english,
  formula: (_name, english) => english,
  unit: (unit) => units[unit] ?? unit,
  curveSentence: (name, runs) =>
    runs.length === 0
      ? `${name}：还没有迭代。`
      : `${runs.map(({ run, value, iteration }) => `运行 ${run}：第 ${count(iteration)} 次迭代后为 ${number(value)}`).join('。')}。`,
  iterationAxis: '迭代',
  run: (n) => `运行 ${n}`,
  level: (k) => `k = ${k}`,
  phaseTimes: '各阶段用时',
  validation: '验证成功率',
  validationSentence: '温度 1 时在留出回合上的成功率；95 % 区间见表格。',
  parts: (name, run, values) =>
    `${name}，运行 ${run}：${values.map(([part, value]) => `${part} ${number(value)}`).join('，')}。`,
  details: '运行的细节',
  runs: {
    title: '运行',
    head: ['运行', '曲线', '方法', '策略', '种子', '迭代', '上一批成功率', ''],
    show: (n) => `绘制运行 ${n} 的曲线`,
    reopen: '继续',
    isOpen: '关闭',
    forget: '删除',
    forgetHint: (n) => `从本页与存储中删除运行 ${n}`,
    save: '保存',
    saveHint: (n) => `运行 ${n} 的文件`,
    checkpoint: '检查点',
    kept: (n, iteration, of) => `运行 ${n} 保留自您上次的访问，停在第 ${count(iteration)} / ${count(of)} 次迭代。`,
    goOnWithIt: '接着训练',
    openFile: '打开检查点…',
    openHint: '本页或 hgpo train 的检查点。只在此处读取，不会发送。',
  },
  study: {
    title: '已记录的研究',
    which: '研究',
    studies: { tabular: '从随机开始的表格', neural: '从 rooms-novice 开始的语言模型' },
    reading: '正在读取研究…',
    failed: (said) => `无法读取已记录的研究（${said}）。其余部分不受影响。`,
    sentence: ({ runs, seeds, policy, memory }) =>
      `hgpo study 的 ${count(runs)} 次运行，${seeds} 个配对种子：策略 ${policy}，记忆 ${memory}。`,
    matched: (iterations, batch) =>
      `每种方法都有同样的 ${iterations} 个批次，每批 ${batch} 条轨迹，使用各自的默认选项。`,
    setting: '环境',
    outcomes: (place) => `各方法的成功率，${place}`,
    outcomesSentence: (seeds, hasIntervals) =>
      `${seeds} 个种子的平均值${hasIntervals ? '及其 95 % 自助法区间' : '；种子太少，没有区间'}。勾选一种方法即可画出它的曲线。`,
    measure: '比较什么',
    method: '方法',
    low: '95 % 下界',
    high: '95 % 上界',
    alarms: '出现警报的运行',
    during: '训练期间',
    after: (set, temperature) => `训练后，${set === 'set' ? '固定的一组' : set}，温度 ${temperature}`,
    everySeed: '每个种子',
    ownRuns: '并列显示我的运行',
    curves: (place) => `训练期间的成功率，${place}`,
    noneDrawn: '没有勾选方法。',
    curvesSentence: (last) =>
      `各种子的平均值，最后一批：${last.map(([name, value]) => `${name} ${number(value)}`).join('，')}。`,
    seed: (seed) => `种子 ${seed}`,
    differences: '逐种子的差异',
    differencesOfFew: (seeds) =>
      `训练后成功率相差的百分点，各种子的平均值。${seeds} 个种子不足以给出区间，因此都未定。`,
    differencesSentence: (pairs, decided) =>
      `训练后成功率相差的百分点，带 95 % 区间：${pairs} 个中有 ${decided} 个不含 0。约二十个中会有一个出于偶然。`,
    pair: '前者 − 后者',
    differenceAfter: '训练后',
    differenceDuring: '训练期间',
    undecided: '未定',
  },
  files: '文件',
  policyFolder: '策略',
  policyHint: '打开的策略的当前状态：表格为 JSON，语言模型为 tar 文件中的模型文件夹',
  clusterScript: 'verl-agent 脚本',
  clusterHint: '在集群上训练同一方法的启动脚本',
  card: (plan, method, iteration) =>
    `# 由 ${method} 训练的策略\n\n起点 ${plan.policy}，${plan.tuning}，种子 ${plan.seed}，${plan.environment} ${plan.size} 上 ${iteration} 次迭代，HGPO Playground。\n`,
  watch: {
    title: '策略在训练前后的表现',
    note: '同一回合，由训练前的策略与现在的策略各演示一次。',
    split: '回合',
    splits: { set: '固定的一组', train: '训练', seen: '见过的房间，新任务', unseen: '未见过的' },
    episode: '编号',
    draw: '命令',
    draws: { greedy: '最可能的', sampled: '抽取的' },
    play: '演示',
    none: '请先打开或开始一个运行。',
    busy: '请先停止运行，或等它结束。',
    before: '训练前',
    now: '现在',
    outcome: (won, n) => `${n} 步后${won ? '成功' : '失败'}。`,
    invalid: '无效',
  },
};
