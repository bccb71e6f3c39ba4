import type { CaseKind } from '../../analysis/lab/cases.ts';
import type { AdvantagePart } from '../../estimators/explain.ts';
import { count, number, share, signed } from '../number.ts';
import type { FieldName } from '../state/fields.ts';
import type { Texts } from './en.ts';
import { truthZh } from './truth-zh.ts';

const list = new Intl.ListFormat('zh-Hans', { type: 'conjunction' });
const steps = (n: number) => `${count(n)} 步`;

const reason = (why: AdvantagePart): string => {
  switch (why.kind) {
    case 'episode':
      return `所在轨迹得分 ${number(why.value)}，该任务的均值为 ${number(why.mean)}`;
    case 'level':
      return why.k === 0
        ? `回报 ${number(why.value)}，处于同一状态的 ${count(why.members.length)} 步的均值为 ${number(why.mean)}`
        : `回报 ${number(why.value)}，共享 ${why.k ?? 0} 步历史的 ${count(why.members.length)} 步的均值为 ${number(why.mean)}`;
    case 'peers':
      return `回报 ${number(why.value)}，完整历史相同的 ${count(why.members.length)} 步的均值为 ${number(why.mean)}`;
    case 'credit':
      return `这一步使估计的价值${why.advantage > 0 ? '上升' : '下降'} ${number(Math.abs(why.advantage * why.divisor))}`;
    case 'critic':
      return `评论家在此预期 ${number(why.value)}，实际为 ${number(why.target)}`;
  }
};

const exampleNames: Record<CaseKind, string> = {
  'hgpo right, gigpo wrong': 'HGPO 符号正确而 GiGPO 错误',
  'hgpo wrong, gigpo right': 'HGPO 符号错误而 GiGPO 正确',
  'alpha 0 right, alpha 1 wrong': 'α = 0 时符号正确，α = 1 时错误',
  'deepest level absent': '缺少最深层级',
};

const fieldNames: Record<FieldName, string> = {
  method: '方法',
  against: '对照方法',
  preset: '预设',
  alpha: 'α',
  depth: 'K',
  members: 'N',
  gamma: 'γ',
  normalisation: '归一化',
  colour: '格子颜色',
  sizeUnit: '组大小的计数对象',
  sizeBins: '组大小的区间',
  task: '任务',
  trajectory: '轨迹',
  step: '步',
  source: '轨迹来源',
  policy: '策略',
  environment: '环境',
  size: '大小',
  kind: '任务种类',
  groups: '组数',
  each: '每组轨迹数',
  seed: '种子',
  temperature: '温度',
  play: '游玩的环境',
  playSize: '游玩的大小',
  playSeed: '游玩的种子',
  playSplit: '游玩的集合',
  playTask: '游玩的任务种类',
  playLimit: '游玩的步数上限',
  moves: '游玩的动作',
  lesson: '课程',
  stage: '课程的进度',
  theme: '主题',
  language: '语言',
  trainEnvironment: '训练环境',
  trainSize: '训练规模',
  trainPolicy: '起始策略',
  trainTuning: '训练内容',
  trainDecoding: '训练时的回复',
  trainMethod: '训练方法',
  trainAblation: '消融',
  trainPreset: '训练预设',
  trainMemory: '表的记忆',
  trainDepth: '训练的 K',
  trainAlpha: '训练的 α',
  trainGamma: '训练的 γ',
  trainNormalisation: '训练的归一化',
  trainPenalty: '训练的惩罚',
  trainGroups: '每批任务数',
  trainMembers: '训练的 N',
  trainStepLimit: '步数上限',
  trainIterations: '迭代次数',
  trainLearningRate: '学习率',
  trainKl: 'KL 系数',
  trainEntropy: '熵奖励',
  trainSeed: '种子',
  trainValidation: '验证间隔',
  trainUntil: '停止的成功率',
  trainMinutes: '停止的分钟数',
  trainHidden: '隐藏的标签页',
  example: '案例',
  labPlace: '实验室的策略',
  labMemory: '实验室的 K_mem',
  labDepth: '实验室的 K_group',
  labMembers: '实验室的 N',
  labSupport: '实验室所评的行',
  labMeasure: '热图的量',
  arithmetic: '展开的算式',
  numbers: '以数字显示的图',
  unfolded: '展开的部分',
  labQuantity: '方法比较的量',
  watchSplit: '观看的片段所属集合',
  watchEpisode: '观看的片段',
  study: '记录的研究',
  studySetting: '研究的环境',
  studyOutcome: '研究的结果量',
  studyMethods: '研究的曲线',
  word: '词汇表',
  kernel: '显示源码的内核',
};

/** 界面文字，简体中文。方法名与公式保持原样。 */
export const zh: Texts = {
  title: 'HGPO Playground',
  tagline: '同样的状态，不同的过去：功劳归谁？',
  tryThis: '在格子图中选一步，再拖动 α：看它的优势如何跟随与它共享过去的组。',
  skip: '跳到轨迹',
  sentences: {
    grpo: '把一条轨迹的总奖励与同一任务的其他轨迹比较；同一轨迹的每一步得到相同的功劳。',
    rloo: '把一条轨迹的总奖励与同一任务其余轨迹的均值比较，不含它自己。',
    gigpo: 'GRPO 加上第二种比较：同一任务中看到相同观测的各步，按其后的回报互相比较。',
    hgpo: '比较看到相同观测、相同的最近两次观测……直到 K 的各步；共享历史越长，权重越大。',
    progpo: '比较历史完全相同的各步；同伴太少时，按这一步使状态估计价值上升了多少来记功。',
  },
  theme: { label: '主题', auto: '自动', light: '浅色', dark: '深色' },
  language: '语言',
  learn: { button: '学习', lessons: '课程', opening: '正在打开课程…' },
  lessonTitles: {
    grpo: '一个分数评一切：GRPO',
    gigpo: '同一状态：GiGPO',
    hgpo: '同样的状态，不同的过去：HGPO',
    progpo: '没有谁与我共享过去：ProGPO',
    bias: '偏还是吵：偏差与方差',
    collapse: '什么也学不到：坍缩',
  },
  glossary: {
    title: '术语',
    close: '关闭',
    explain: (word) => `“${word}”是什么`,
    words: {
      trajectory: '轨迹',
      step: '步',
      state: '状态',
      history: '历史',
      return: '回报',
      group: '组',
      advantage: '优势',
      level: '层',
      weight: '权重',
      signal: '信号',
      utilisation: '利用率',
      signFlip: '符号翻转',
      truth: '真值',
      oracle: 'Oracle',
      bias: '偏差',
      variance: '方差',
      policy: '策略',
    },
  },
  link: { button: '复制链接', copied: '已复制链接', failed: '本页的地址就是链接' },
  gpu: {
    found: (name) => `找到 GPU：${name}。`,
    software: (name) => `没有 GPU：由 ${name} 代替；神经策略在处理器上运行。`,
    noAdapter: '没有 WebGPU 可用的 GPU；神经策略在处理器上运行。',
    noApi: '此浏览器没有 WebGPU；神经策略在处理器上运行。',
  },
  keys: {
    button: '键盘',
    title: '按键',
    close: '关闭',
    list: [
      ['← →', '上一步、下一步'],
      ['↑ ↓', '上一条、下一条轨迹'],
      ['Home End', '第一步、最后一步'],
      ['Esc', '取消选择，关闭面板'],
      ['g', '到格子图'],
      ['1 – 5', 'GRPO、RLOO、GiGPO、HGPO、ProGPO'],
      ['n', '两种方法意见相反的下一步'],
      ['?', '本列表'],
    ],
  },
  method: '方法',
  controls: {
    title: '设置',
    alpha: 'α',
    alphaMeaning: (value, w) =>
      value === 0 ? '0：各层权重相同' : `${number(value)}：各层权重 ${w.map((x) => number(x)).join(' : ')}`,
    depth: 'K',
    depthMeaning: (value) => (value === 0 ? '0：只看状态，不看历史' : `${value}：组内至多共享 ${steps(value)}历史`),
    members: 'N',
    membersMeaning: (value) => `每个任务 ${value} 条轨迹`,
    gamma: 'γ',
    gammaMeaning: (value) =>
      value === 1 ? '1：不折扣' : `${number(value)}：十步之后的奖励折为 ${number(value ** 10)}`,
    normalisation: '归一化',
    normalisationLong: '组内归一化',
    normalisations: { mean_std_norm: '÷ 标准差', mean_norm: '只减均值' },
    preset: '预设',
    presets: { paper: '论文', reference: '参考代码' },
    presetHint: '论文与公开代码的不同之处',
    topic: '主题',
    meaning: '在这里的含义',
    close: '关闭',
    moved: (flips, changed) =>
      flips > 0
        ? `${count(flips)} 个符号翻转`
        : changed > 0
          ? `${count(changed)} 个优势改变，符号都未翻转`
          : '没有优势改变',
  },
  origin: {
    recorded: '已录制',
    live: '现场',
    training: '训练中',
    own: '你的文件',
    measured: '此处测得',
    paper: '论文',
  },
  source: {
    title: '屏幕上的轨迹',
    task: '任务',
    recordedFrom: '小房间，由小型语言模型 rooms-base 游玩。',
    made: '如何制作',
    madeBy: (policy, seed) => `由附带的策略 ${policy}（4 位权重）游玩，种子 ${seed}：`,
    truthMade: (known, tasks, low, high) =>
      `任务 ${list.format(tasks.map(String))} 中 ${steps(known)}的真值：每个所选命令续玩 48 次；A* 的标准误为 ${number(low)} 到 ${number(high)}，成功值 10：`,
    live: '现场运行',
    liveFrom: (policy, environment) => `${environment}，刚由 ${policy} 游玩。`,
    trainingFrom: (run, iteration) => `由训练运行 ${run} 在第 ${count(iteration)} 次迭代采样。`,
    policies: { random: '均匀随机' },
    environments: { rooms: '房间', shop: '商店' },
    example: (kind) => `搜索所得的典型案例：${exampleNames[kind]}。`,
    open: '打开轨迹文件…',
    drop: '把轨迹 JSONL 文件拖到页面任意处。文件只在这里读取，不会发送到任何地方。',
    back: '回到已录制的轨迹',
    instructive: '看一个典型的步',
    reading: (file) => `正在读取 ${file}…`,
    failed: '无法读取轨迹。',
    retry: '重试',
    report: '导入报告',
    save: '保存',
    saveHint: '轨迹存为 JSONL，每一行及其各方法的优势存为 CSV，或 verl-agent 的启动脚本',
    script: 'verl-agent',
  },
  rollOut: {
    title: '采样',
    sentence: (n, won, said) =>
      said
        ? `同一任务尝试 ${count(n)} 次，${won === 0 ? '无一' : `${count(won)} 次`}成功。`
        : `同一任务尝试 ${count(n)} 次。`,
    grid: '轨迹格子图',
    gridTable: ['轨迹', '步', '状态', '观测', '动作', '奖励', '成功', '回报'],
    colour: '颜色',
    colours: { state: '状态', return: '回报', advantage: '优势' },
    stateKey: '字母相同即观测相同。没有字母的格子是别的步都没到过的状态。',
    pastKey: '轮廓向左延伸，覆盖某一步与所选步共享的过去。',
    discounted: '折扣回报',
    below: '低于组',
    above: '高于组',
    transcript: (n) => `轨迹 ${n}`,
    transcriptNone: '选一步，即可阅读它的轨迹。',
    invalid: '回复无效',
    reward: '奖励',
    hover: (trajectory, step, letter, ret, advantage, method) =>
      `轨迹 ${trajectory}，第 ${step} 步${letter ? `，状态 ${letter}` : ''}：回报 ${number(ret)}，${method} ${signed(advantage)}`,
  },
  grid: {
    name: (n, longest) => `轨迹格子图：${n} 条轨迹，最长 ${steps(longest)}。用方向键移动选择。`,
    row: (n, success) => `轨迹 ${n}${success === null ? '' : success ? '，成功' : '，失败'}`,
    cell: (trajectory, step, observation) => `轨迹 ${trajectory}，第 ${step} 步：${observation}`,
  },
  group: {
    title: '分组',
    groups: '所选步的组',
    none: '选一步：它的组会显示在这里。',
    state: (letter) => `状态 ${letter}`,
    where: (trajectory, step) => `轨迹 ${trajectory}，第 ${step} 步`,
    sentence: (sizes, step) => {
      if (sizes[0] === 1) return '没有别的步到过这里：无从比较。';
      const parts = [`有 ${count(sizes[0]!)} 步处于这里`];
      for (let k = 1; k < sizes.length; k++) {
        const n = sizes[k]!;
        if (n > 1 && n === sizes[k + 1]) continue;
        const who = n === 1 ? '没有别的步' : n === sizes[0] ? '全部' : `其中 ${count(n)} 步`;
        parts.push(who + (k >= step ? '共享全部过去' : k === 1 ? '来路相同' : `共享最近 ${k} 步`));
        if (n === 1) break;
      }
      return `${parts.join('，')}。`;
    },
    began: '回合在此开始',
    icicle: (sizes) => `所选步的嵌套组：${sizes.map((n, k) => `G${k} ${n}`).join('、')}`,
    taskBand: (n, all) => `该任务 ${count(all)} 步中的 ${count(n)} 步`,
    node: (k, n, what) => (k === 0 ? `${count(n)} 步处于状态“${what}”` : `${count(n)} 步在此前第 ${k} 步处于“${what}”`),
    meanReturn: (value) => `平均回报 ${number(value)}`,
    table: ['层', '步数', '按此状态划分', '属于成功轨迹', '平均回报'],
    successKey: '实心：成功轨迹中的步 · 空心：失败轨迹中的步',
  },
  compare: {
    title: '比较',
    none: '选一步：它的优势会显示在这里。',
    ofStep: '这一步的优势',
    compared: '比较对象',
    weight: '权重',
    levelName: (k) => (k === 0 ? '同一状态' : `且前 ${k} 步相同`),
    pending: '计算中…',
    parts: { episode: '整条轨迹', peers: '完整历史相同', credit: '势的上升', critic: '评论家' },
    states: { absent: '无此层', alone: '独自', zero: '无信号', unused: '未用' },
    sum: (method) => `${method} 求和`,
    methods: '同一坐标轴上的各方法',
    oracleMeaning: (k) =>
      `只与共享状态${k === 0 ? '（不看历史）' : `及最近 ${steps(k)}`}的各步（G${k}）比较；多数步在此没有同伴`,
    opposite: '符号相反',
    sentence: (value, method) =>
      value === 0
        ? `${method} 对这一步没有信号。`
        : `${method} ${value > 0 ? '鼓励' : '抑制'}这一步：${signed(value)}。`,
    disagree: (names) => `${list.format(names)} 的符号相反。`,
    agree: '没有方法给出相反的符号。',
    truth: truthZh,
    open: '显示算式',
    arithmetic: '算式',
    close: '关闭',
    member: '成员',
    return: '回报 Q',
    score: '得分 S',
    deviation: '偏差',
    memberStep: (trajectory, step) => `轨迹 ${trajectory}，第 ${step} 步`,
    memberTrajectory: (trajectory) => `轨迹 ${trajectory}`,
    groupNumbers: (n, mean, sd) => `n = ${count(n)}，均值 ${number(mean)}，标准差 ${number(sd)}`,
    moreMembers: (n) => `另有 ${count(n)} 个未列出。`,
    potentialMean: '价值估计',
    samples: '有效样本数',
    lenders: '相似上下文',
    share: '在 Φ 中的份额',
  },
  allSteps: {
    title: '所有步',
    sizes: '组的大小',
    sizesSentence: (k, alone) => `在 k = ${k} 层，${share(alone)} 的步是独自一组。`,
    sizesCount: '计数对象',
    sizeUnits: { rows: '按步', groups: '按组' },
    sizesBins: '区间',
    sizeBins: { doubling: '逐次加倍', single: '每种大小，如 verl-agent 的日志' },
    sizesAxis: {
      doubling: '组的大小，区间逐次加倍（1、2、3–4、5–8……）；高度：占全体的份额。灰色：独自。',
      single: '组的大小，到 32 为止各占一格，其余合为一格；高度：占全体的份额。灰色：独自。',
    },
    utilisation: '利用率',
    utilisationSentence: (first, deepest, [from, to]) =>
      `${share(first)} 的步与别的步处于同一状态；要求 ${steps(deepest.k)}历史也相同时为 ${share(deepest.utilisation)}。论文中 k = ${from.k} 时为 ${share(from.utilisation)}，k = ${to.k} 时降到 ${share(to.utilisation)}。`,
    utilisationLine: '利用率，即有同伴的步：',
    utilisationAt: (utilisation, k) => `k = ${k} 时 ${share(utilisation)}`,
    utilisationMore: '所有步 ↓',
    utilisationAxis: '处于两步或更多步的组中的步的份额',
    noSignal: '无信号的份额',
    noSignalSentence: (method, none) => `${method} 对 ${share(none)} 的步没有信号。`,
    flips: '符号翻转',
    flipsSentence: (n, a, b, all) =>
      n === 0
        ? `${a} 与 ${b} 对每一步的符号都一致。`
        : `${count(all)} 步中有 ${count(n)} 步，${a} 与 ${b} 的符号相反。`,
    against: '对照',
    step: '步',
    method: '方法',
    reason: (names, a, b) => `${names[0]}：${reason(a)}。${names[1]}：${reason(b)}。`,
    more: (n) => `再显示 ${count(n)} 个`,
    flipWhere: (task, trajectory, step) => `${task} · 轨迹 ${trajectory}，第 ${step} 步`,
  },
  lab: {
    title: '多偏，多噪',
    note: '各方法与真值对照：偏差、方差，以及论文的说法。',
  },
  play: {
    title: '亲自当策略',
    note: '自己玩一个回合，或走进一条已录制的轨迹，换一种做法。',
    replay: '走进去',
    replayHint: '把这条轨迹重演到所选的步，然后换一种做法',
    planHere: (at, hand) =>
      `${at === null ? '在房间中央' : `在 ${at}`}，${hand === null ? '手中无物' : `拿着 ${hand}`}。`,
    showHiddenShort: '显示隐藏状态',
    showHidden: '显示隐藏状态（策略看不到）',
    planSentence: (at, hand) =>
      `平面图：智能体${at === null ? '在房间中央' : `在 ${at}`}，${hand === null ? '就所知手中无物' : `手中拿着 ${hand}`}。`,
    plan: '平面图',
    planTable: ['地点', '门', '内容'],
    planPlace: (name, door, objects) =>
      `${name}${door === null ? '' : door === 'open' ? '（开着）' : '（关着）'}：${objects === null ? '未见' : objects.length === 0 ? '空' : objects.join('、')}。`,
    empty: '空',
    more: (n) => `还有 ${n} 件`,
    holds: (object) => `拿着 ${object}`,
    knownKey: '至今所见；“?”：没见过。粗边：关着的门。',
    hiddenKey: '隐藏状态：无论见过与否，一切为真。粗边：关着的门。',
  },
  update: {
    title: '更新',
    note: '在这里训练一个策略，看它学习；可在任意两个阶段之间停下。',
  },
  engine: {
    title: '机房',
    subtitle: '适配器、计算核及其 WGSL、自检',
    looking: '正在寻找 GPU…',
  },
  table: {
    show: '表格',
    hide: '图',
    save: '保存',
    lastRows: (shown, all) => `共 ${count(all)} 行，此处为最后 ${count(shown)} 行；CSV 文件含全部。`,
  },
  notice: {
    repaired: (from, changes) =>
      `${from === 'link' ? '此链接' : '上次保存的设置'}中有不可用的值：${changes
        .map(({ field, taken }) => `${fieldNames[field]} 现为 ${taken === -1 ? '未设' : taken}`)
        .join('，')}。`,
    newerLink: '此链接由本页的较新版本生成；能读懂的部分已采用。',
    liveAwaited: '此链接显示由策略在此现场游玩的轨迹。设置已填好：按“采样”即可看到。',
    storageStartedClean: '上次保存的设置无法读取，页面从默认值开始。',
    selectionNotThere: '这些轨迹中没有所选的步；显示最近的一步。',
    rolloutsFailed: (why) => `此文件不能使用。${why}`,
    workerFailed: (why) => `有些数字未能算出。${why} 重新打开轨迹即可重试。`,
    notSaved: (why) => `没有保存。${why}`,
    dismiss: '知道了',
  },
};
