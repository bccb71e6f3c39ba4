/**
 * From the playground to a cluster: a launch script for the public verl-agent code with the method and the
 * hyper-parameters that were chosen here. What belongs to the method (estimator, γ, K, α, clip, KL, penalty) is carried
 * over; what belongs to the size of the run (learning rate, batch, step limit, iterations) takes the value of the public
 * run scripts, because a toy's does not transfer. Wherever the two differ the script says so in a comment.
 */
import { methods } from '../../estimators/registry.ts';
import { resolveSettings, type OptionName, type Settings } from '../../estimators/settings.ts';

/** A run that verl-agent has no code for; one sentence. */
export class ClusterExportError extends Error {
  override readonly name = 'ClusterExportError';
}

export interface ClusterRun {
  readonly settings: Settings;
  /** History length of the prompt: steps before the current one that the policy sees. */
  readonly memory: number;
  readonly seed: number;
}

/** One Hydra override of the launch script, with the comment that stands above it. */
interface Override {
  readonly key: string;
  readonly value: string | number | boolean;
  readonly remark?: string;
}

/** Options of ours that verl-agent's code does not have, and what it does instead. */
const withoutCounterpart: Partial<Record<OptionName, string>> = {
  crossSteps: 'trajectory-level mean and deviation are taken over rows, so long trajectories count more',
  weightOffset: 'level weights are (k + 2)^alpha: 2, 3, 4 where the paper has 1, 2, 3',
  weights: 'level weights are powers of the depth; there are no inverse-variance weights',
  skipZero: 'levels with advantage 0 are always left out of the weighted mean',
  shortContext: 'a step with fewer than k steps before it has no level k',
  denominator: 'the weighted mean divides by the weights of the levels that count',
  contextActions: 'contexts are compared by observations alone',
  episodeWeight: 'the comparison of whole trajectories always has weight 1',
  omegaEnd: 'omega does not move during training',
  leaveOut: 'a step is always a member of its own groups',
  visits: 'every visit counts in a group',
  logRatioClamp: 'the log ratio is not clamped before the exponential',
  gaeLevel: 'advantages are estimated over tokens with the whole episode reward on the last token of every step',
  valueLossScale: 'the squared error of the critic has no factor one half',
  aggregationLength: 'the constant divisor is the width of the batch',
};

const levelOptions: readonly OptionName[] = [
  'weightOffset',
  'weights',
  'skipZero',
  'shortContext',
  'denominator',
  'contextActions',
  'leaveOut',
  'visits',
];

function relevantOptions(method: Settings['method']): readonly OptionName[] {
  const loss: OptionName[] = ['logRatioClamp', 'aggregationLength'];
  switch (method) {
    case 'hgpo':
      return [...levelOptions, ...loss];
    case 'gigpo':
      return ['crossSteps', 'episodeWeight', 'omegaEnd', 'leaveOut', 'visits', ...loss];
    case 'ppo':
      return ['gaeLevel', 'valueLossScale', ...loss];
    default:
      return ['crossSteps', ...loss];
  }
}

/**
 * The launch script (bash) that trains the same method with verl-agent on ALFWorld (rooms) or WebShop (shop).
 * @throws ClusterExportError when no public code runs the method or variant.
 */
export function verlAgentScript(run: ClusterRun): string {
  const { settings, memory, seed } = run;
  refuseUnknown(settings);
  const published = resolveSettings({
    method: settings.method,
    preset: 'reference',
    environment: settings.environment,
  });
  const alfworld = settings.environment === 'rooms';
  const overrides = [
    ...algorithm(settings),
    ...data(published),
    ...actor(settings, published),
    ...(settings.method === 'ppo' ? critic(settings, published) : []),
    ...environment(settings, published, memory, seed),
    ...trainer(settings, published, alfworld),
  ];
  const module = settings.method === 'hgpo' ? 'recipe.hgpo.main_hgpo' : 'verl.trainer.main_ppo';
  return [
    '#!/usr/bin/env bash',
    `# ${methods[settings.method].name} on ${alfworld ? 'ALFWorld' : 'WebShop'} with verl-agent, exported from the HGPO Playground.`,
    '# Run it in a checkout of verl-agent; further overrides may follow on the command line.',
    '# Values of the method come from the playground, sizes of the run from the public run scripts.',
    ...differences(settings, memory).map((line) => `# Differs: ${line}.`),
    '# Same in both: an invalid action costs its own step alone, after discounting.',
    'set -euo pipefail',
    '',
    'python3 -m examples.data_preprocess.prepare \\',
    "  --mode 'text' \\",
    `  --train_data_size ${trajectoriesPerTask(settings) === 1 ? published.groups * published.groupSize : published.groups} \\`,
    '  --val_data_size 128',
    '',
    'overrides=(',
    ...overrides.flatMap(({ key, value, remark }) => [
      ...(remark ? [`  # ${remark}`] : []),
      `  ${key}=${shellWord(hydraValue(value))}`,
    ]),
    ')',
    '',
    `python3 -m ${module} "\${overrides[@]}" "$@"`,
    '',
  ].join('\n');
}

/** The keys and values of the overrides, for tests and for the page's preview. */
export function overridesOf(script: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const [, key, value] of script.matchAll(/^ {2}([a-z_][\w.]*)=(.*)$/gm)) found.set(key!, value!);
  return found;
}

function refuseUnknown({ method, variant }: Settings): void {
  if (method === 'progpo') {
    throw new ClusterExportError(
      'ProGPO has no public code to launch: export HGPO or GiGPO instead, or keep this run in the playground.',
    );
  }
  if (method === 'hgpo' && variant !== 'full') {
    throw new ClusterExportError(
      `The ablation "${variant}" has no public code to launch: export the full HGPO (variant "full") instead.`,
    );
  }
}

function trajectoriesPerTask(settings: Settings): number {
  return settings.method === 'ppo' ? 1 : settings.groupSize;
}

function differences(settings: Settings, memory: number): string[] {
  const reference = resolveSettings({
    method: settings.method,
    preset: 'reference',
    environment: settings.environment,
  });
  const found = relevantOptions(settings.method)
    .filter((name) => settings[name] !== reference[name])
    .map((name) => `${name} is ${JSON.stringify(settings[name])} here; in verl-agent ${withoutCounterpart[name]}`);
  if (settings.method === 'hgpo' && settings.K !== memory) {
    found.push(
      `K is ${settings.K} with a memory of ${memory} here; in verl-agent the deepest level always equals env.history_length`,
    );
  }
  if (settings.method === 'hgpo' && settings.similarity !== null) {
    found.push('similar observations are grouped here; in verl-agent only equal ones');
  }
  return found;
}

function algorithm(settings: Settings): Override[] {
  const { method } = settings;
  const estimator =
    method === 'ppo' ? 'gae' : method === 'drgrpo' || method === 'dapo' || method === 'gspo' ? 'grpo' : method;
  const list: Override[] = [
    { key: 'algorithm.adv_estimator', value: estimator },
    { key: 'algorithm.gamma', value: method === 'ppo' ? 1 : settings.gamma, ...gammaRemark(settings) },
    { key: 'algorithm.use_kl_in_reward', value: settings.klPlacement === 'reward' },
  ];
  if (settings.klPlacement === 'reward') {
    list.push(
      { key: 'algorithm.kl_penalty', value: klForm(settings) },
      { key: 'algorithm.kl_ctrl.kl_coef', value: settings.klCoefficient },
    );
    if (settings.klTarget !== null) {
      list.push(
        { key: 'algorithm.kl_ctrl.type', value: 'adaptive' },
        { key: 'algorithm.kl_ctrl.target_kl', value: settings.klTarget },
        { key: 'algorithm.kl_ctrl.horizon', value: settings.klHorizon },
      );
    }
  }
  if (method === 'hgpo') {
    list.push(
      { key: 'algorithm.hgpo.mode', value: settings.mode },
      { key: 'algorithm.hgpo.weight_type', value: 'length', remark: 'read by nothing in the recipe' },
      {
        key: 'algorithm.hgpo.length_weight_alpha',
        value: settings.alpha,
        ...(settings.weightOffset === 2 ? {} : { remark: 'the recipe weighs level k by (k + 2)^alpha' }),
      },
      { key: 'algorithm.hgpo.base_group', value: settings.baseGroup },
    );
  } else if (method === 'gigpo') {
    list.push(
      { key: 'algorithm.gigpo.step_advantage_w', value: settings.omega },
      { key: 'algorithm.gigpo.mode', value: settings.mode },
    );
    if (settings.similarity !== null) {
      list.push(
        { key: 'algorithm.gigpo.enable_similarity', value: true },
        {
          key: 'algorithm.gigpo.similarity_thresh',
          value: settings.similarity,
          ...(settings.similarityMeasure === 'sequence-ratio'
            ? {}
            : { remark: 'verl-agent measures similarity by matching blocks, the playground by trigram cosine' }),
        },
      );
    }
  } else if (method !== 'rloo' && method !== 'ppo') {
    list.push({ key: 'algorithm.norm_adv_by_std_in_grpo', value: settings.mode === 'mean_std_norm' });
  }
  if (method === 'ppo') list.push({ key: 'algorithm.lam', value: settings.lambda });
  if (settings.dynamicSampling !== 'off') {
    list.push(
      { key: 'algorithm.filter_groups.enable', value: true },
      {
        key: 'algorithm.filter_groups.max_num_gen_batches',
        value: settings.maxGenerationBatches,
        remark: 'the surplus of the last rollout is not trimmed, so a batch may hold more groups',
      },
    );
  }
  return list;
}

function gammaRemark({ method, gamma }: Settings): { remark?: string } {
  return method === 'ppo' && gamma !== 1
    ? { remark: `γ discounts tokens in verl-agent's PPO; the playground's ${gamma} discounts steps` }
    : {};
}

function data(published: Settings): Override[] {
  const tasks = published.method === 'ppo' ? published.groups * published.groupSize : published.groups;
  return [
    { key: 'data.train_files', value: '$HOME/data/verl-agent/text/train.parquet' },
    { key: 'data.val_files', value: '$HOME/data/verl-agent/text/test.parquet' },
    { key: 'data.train_batch_size', value: tasks, remark: 'tasks of a batch' },
    { key: 'data.val_batch_size', value: 128 },
    { key: 'data.max_prompt_length', value: published.promptTokens },
    { key: 'data.max_response_length', value: published.responseTokens },
    { key: 'data.filter_overlong_prompts', value: true },
    { key: 'data.truncation', value: published.method === 'hgpo' ? 'left' : 'error' },
    { key: 'data.return_raw_chat', value: true },
  ];
}

function klForm({ klForm: form }: Settings): string {
  return { k1: 'kl', abs: 'abs', k2: 'mse', k3: 'low_var_kl' }[form];
}

function actor(settings: Settings, published: Settings): Override[] {
  const inLoss = settings.klPlacement === 'loss' && settings.klCoefficient > 0;
  return [
    { key: 'actor_rollout_ref.model.path', value: 'Qwen/Qwen2.5-1.5B-Instruct' },
    { key: 'actor_rollout_ref.model.use_remove_padding', value: true },
    { key: 'actor_rollout_ref.model.enable_gradient_checkpointing', value: true },
    {
      key: 'actor_rollout_ref.actor.optim.lr',
      value: published.learningRate,
      remark: `the toy's ${settings.learningRate} is for a model ten thousand times smaller`,
    },
    { key: 'actor_rollout_ref.actor.optim.weight_decay', value: settings.weightDecay },
    { key: 'actor_rollout_ref.actor.grad_clip', value: settings.maxGradientNorm },
    { key: 'actor_rollout_ref.actor.ppo_epochs', value: settings.epochs },
    {
      key: 'actor_rollout_ref.actor.ppo_mini_batch_size',
      value: published.miniBatch,
      ...(settings.miniBatch === published.miniBatch ? {} : { remark: `${settings.miniBatch} rows in the toy` }),
    },
    { key: 'actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu', value: 8 },
    ...(settings.ratio === 'sequence' ? [{ key: 'actor_rollout_ref.actor.policy_loss.loss_mode', value: 'gspo' }] : []),
    { key: 'actor_rollout_ref.actor.clip_ratio_low', value: settings.clipLow },
    { key: 'actor_rollout_ref.actor.clip_ratio_high', value: settings.clipHigh },
    {
      key: 'actor_rollout_ref.actor.clip_ratio_c',
      value: settings.dualClip ?? 1e9,
      ...(settings.dualClip === null
        ? { remark: 'the dual clip cannot be switched off; a bound this high never acts' }
        : {}),
    },
    { key: 'actor_rollout_ref.actor.loss_agg_mode', value: settings.aggregation },
    { key: 'actor_rollout_ref.actor.entropy_coeff', value: settings.entropyCoefficient },
    { key: 'actor_rollout_ref.actor.use_kl_loss', value: inLoss },
    ...(inLoss
      ? [
          { key: 'actor_rollout_ref.actor.kl_loss_coef', value: settings.klCoefficient },
          { key: 'actor_rollout_ref.actor.kl_loss_type', value: klForm(settings) },
        ]
      : []),
    { key: 'actor_rollout_ref.actor.use_invalid_action_penalty', value: settings.invalidPenalty > 0 },
    { key: 'actor_rollout_ref.actor.invalid_action_penalty_coef', value: settings.invalidPenalty },
    { key: 'actor_rollout_ref.rollout.name', value: 'vllm' },
    { key: 'actor_rollout_ref.rollout.temperature', value: settings.temperature },
    { key: 'actor_rollout_ref.rollout.tensor_model_parallel_size', value: 2 },
    { key: 'actor_rollout_ref.rollout.gpu_memory_utilization', value: 0.6 },
    { key: 'actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu', value: 8 },
    { key: 'actor_rollout_ref.rollout.val_kwargs.temperature', value: settings.evaluationTemperature },
    { key: 'actor_rollout_ref.rollout.val_kwargs.do_sample', value: true },
    { key: 'actor_rollout_ref.ref.log_prob_micro_batch_size_per_gpu', value: 8 },
    { key: 'actor_rollout_ref.ref.fsdp_config.param_offload', value: true },
  ];
}

function critic(settings: Settings, published: Settings): Override[] {
  return [
    { key: 'critic.optim.lr', value: published.criticLearningRate },
    { key: 'critic.model.path', value: 'Qwen/Qwen2.5-1.5B-Instruct' },
    { key: 'critic.model.use_remove_padding', value: true },
    { key: 'critic.model.enable_gradient_checkpointing', value: true },
    { key: 'critic.ppo_micro_batch_size_per_gpu', value: 8 },
    { key: 'critic.cliprange_value', value: settings.valueClip },
  ];
}

function environment(settings: Settings, published: Settings, memory: number, seed: number): Override[] {
  return [
    { key: 'env.env_name', value: settings.environment === 'rooms' ? 'alfworld/AlfredTWEnv' : 'Webshop' },
    { key: 'env.seed', value: seed },
    {
      key: 'env.history_length',
      value: memory,
      remark: 'steps of the past in the prompt, and the deepest level of HGPO',
    },
    {
      key: 'env.max_steps',
      value: published.stepLimit,
      ...(settings.stepLimit === published.stepLimit ? {} : { remark: `${settings.stepLimit} steps in the toy` }),
    },
    ...(settings.method === 'ppo' ? [] : [{ key: 'env.rollout.n', value: published.groupSize }]),
    { key: 'env.resources_per_worker.num_cpus', value: 0.1 },
  ];
}

function trainer(settings: Settings, published: Settings, alfworld: boolean): Override[] {
  return [
    { key: 'trainer.critic_warmup', value: 0 },
    { key: 'trainer.logger', value: "['console','wandb']" },
    { key: 'trainer.project_name', value: 'hgpo_playground' },
    { key: 'trainer.experiment_name', value: `${settings.method}_${alfworld ? 'alfworld' : 'webshop'}` },
    { key: 'trainer.n_gpus_per_node', value: 2 },
    { key: 'trainer.nnodes', value: 1 },
    { key: 'trainer.save_freq', value: 40 },
    { key: 'trainer.test_freq', value: 5 },
    { key: 'trainer.total_epochs', value: published.iterations },
    { key: 'trainer.val_before_train', value: true },
  ];
}

function hydraValue(value: string | number | boolean): string {
  return typeof value === 'boolean' ? (value ? 'True' : 'False') : String(value);
}

// A word of the shell: quoted where it holds anything but plain characters; $HOME is meant to be expanded.
function shellWord(text: string): string {
  if (/^[\w./:+-]*$/.test(text)) return text;
  return text.startsWith('$HOME/') ? `"${text}"` : `"${text.replace(/(["\\$`])/g, '\\$1')}"`;
}
