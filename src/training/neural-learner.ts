import type { Settings } from '../estimators/settings.ts';
import { textKey } from '../environments/text-key.ts';
import { effectiveWeights, type DenseTensor, type TrainingMode } from '../gpu/decoder.ts';
import type { Gpu } from '../gpu/device.ts';
import { DEFAULT_OPTIMIZER } from '../gpu/kernels/adamw.ts';
import { PrefixTree } from '../gpu/prefix-tree.ts';
import type { QuantizedMatrix } from '../gpu/quantized.ts';
import { replyBatch, type PromptedReply } from '../gpu/reply-batch.ts';
import { ModelSession, type OptimizerState } from '../gpu/session.ts';
import { chooseVariants } from '../gpu/tune.ts';
import {
  formatVariants,
  recordedVariants,
  requireSameVariants,
  VariantsError,
  type KernelVariants,
} from '../gpu/variants.ts';
import { EngineGenerator, partsThatFit } from '../policy/engine-generator.ts';
import type { ModelFolder } from '../policy/model-folder.ts';
import { PromptWriter } from '../policy/prompt.ts';
import { TextPolicy, type Head, type TextDecision } from '../policy/text-policy.ts';
import { LAYER_LINEARS, type Weights } from '../policy/weights.ts';
import type { RandomStream } from '../random/stream.ts';
import type { Policy, PolicyInput } from '../rollouts/policy.ts';
import {
  LearnerStateError,
  type Learner,
  type LearnerState,
  type UpdateFigures,
  type UpdateRequest,
} from './learner.ts';
import { objectiveOf, objectiveWeights } from './objective.ts';
import { PolicyUpdate, type ValueColumns } from './policy-update.ts';
import { tuningModes, type TuningMode } from './run-settings.ts';
import { FigureSums } from './tabular-learner.ts';

/** `full`: all weights, in f32. `lora`: adapters of rank 8 on every linear map, over the weights as they are stored. */
const trainingModes: Readonly<Record<TuningMode, TrainingMode>> = {
  // 17,000 parameters of a policy of the shipped size.
  lora: { kind: 'lora', rank: 8, alpha: 16, targets: LAYER_LINEARS },
  full: { kind: 'full' },
};

export interface NeuralLearnerOptions {
  readonly tuning?: TuningMode;
  /** A critic on the same body, for PPO. */
  readonly valueHead?: boolean;
  /** How commands are given; `choose` cannot be trained, its log-probabilities are of whole commands. */
  readonly head?: Exclude<Head, 'choose'>;
  /** In training; replies count under it in the loss too. */
  readonly temperature?: number;
  /** Seed of the adapters' first values. */
  readonly seed?: number;
  /** Kernel variants to run; what is left out is measured. A run that goes on takes those of its state (`variantsOfState`). */
  readonly variants?: Partial<KernelVariants>;
}

interface NeuralLearnerState {
  readonly origin: string;
  /** As `formatVariants` writes them. */
  readonly variants: string;
  readonly optimizer: OptimizerState;
}

/**
 * The kernel variants that a state was trained with: a learner that is to go on from it must be made with them.
 * @throws LearnerStateError where the state names none that exist.
 */
export function variantsOfState(state: LearnerState): KernelVariants {
  try {
    return recordedVariants((state as Partial<NeuralLearnerState>).variants);
  } catch (error) {
    if (error instanceof VariantsError) throw new LearnerStateError(error.message);
    throw error;
  }
}

/** What cannot change within a run. */
export type TrainingWay = Required<Pick<NeuralLearnerOptions, 'tuning' | 'valueHead' | 'head'>>;

/**
 * The weights of the policy that a state holds, adapters added in; needs no device.
 * @param model what the run began with: the 4-bit weights for `lora`, the float32 ones for `full`
 * @returns null where the run began with another model or trained it in another way
 */
export function weightsOfState(
  state: LearnerState,
  model: Pick<LearnerModel, 'config' | 'weights'>,
  way: TrainingWay,
): Weights | null {
  const { origin, optimizer } = state as Partial<NeuralLearnerState>;
  if (origin !== originOf(model, way) || !optimizer) return null;
  const options = { mode: trainingModes[way.tuning], valueHead: way.valueHead };
  return effectiveWeights(model.config, model.weights, options, optimizer.weight);
}

type LearnerModel = Pick<ModelFolder, 'config' | 'tokenizer' | 'promptFormat' | 'replyTokens' | 'weights'>;

/** Rows that go through the model together, and the tokens that they may have: bounds the memory for activations. */
const MICRO_BATCH = { rows: 64, tokensPerRow: 96 };

/**
 * A text policy as a learner, on the engine. Replies are drawn with the weights that are being trained, and their log-probabilities
 * are kept as those of π_old: no second forward. Decoding adds in another order than the training pass, so the first importance ratio
 * is 1 within 1e-4 and not to the last bit. The reference policy is the model as it was when the learner was made.
 */
export class NeuralLearner implements Learner<TextDecision> {
  readonly kind = 'neural';
  readonly policy: Policy<TextDecision>;

  private constructor(
    private readonly gpu: Gpu,
    private readonly session: ModelSession,
    private readonly generator: EngineGenerator,
    private readonly writer: PromptWriter,
    private readonly head: Head,
    private readonly temperature: number,
    /** Says which weights training began with, and how. */
    private readonly origin: string,
  ) {
    const acting = this.policyAt(temperature);
    this.policy = {
      name: acting.name,
      memory: acting.memory,
      act: async (inputs: readonly PolicyInput[], streams: readonly RandomStream[], signal?: AbortSignal) => {
        const decisions = await acting.act(inputs, streams, signal);
        if (!session.weights.value) return decisions;
        const values = await this.valuesOf(decisions);
        return decisions.map((decision, i) => ({ ...decision, value: values[i]! }));
      },
    };
  }

  /**
   * @throws DecoderWeightsError, GpuMemoryError, GenerationError when the model does not fit the device; VariantsError when the device cannot
   * run a pinned variant.
   */
  static async create(gpu: Gpu, model: LearnerModel, options: NeuralLearnerOptions = {}): Promise<NeuralLearner> {
    const {
      tuning = tuningModes[0],
      valueHead = false,
      head = 'generate-admissible',
      temperature = 1,
      seed = 0,
    } = options;
    const { config, tokenizer, promptFormat, replyTokens, weights } = model;
    const { rows, tokensPerRow } = MICRO_BATCH;
    const session = await ModelSession.create(gpu, config, weights, {
      mode: trainingModes[tuning],
      variants: await chooseVariants(gpu, options.variants),
      valueHead,
      seed,
      capacity: {
        tokens: Math.max(config.contextLength, rows * tokensPerRow),
        sequences: rows,
        responses: rows * replyTokens,
      },
    });
    await session.freezeReference();
    const generator = await EngineGenerator.create(gpu, session);
    const writer = new PromptWriter(tokenizer, promptFormat, config.contextLength, replyTokens);
    const origin = originOf(model, { tuning, valueHead, head });
    return new NeuralLearner(gpu, session, generator, writer, head, temperature, origin);
  }

  /** What the engine runs here, chosen or pinned. */
  get variants(): KernelVariants {
    return this.session.variants;
  }

  policyAt(temperature: number): TextPolicy {
    const { writer, generator, head } = this;
    return new TextPolicy({ name: 'neural', writer, generator, head, temperature });
  }

  async update(request: UpdateRequest<TextDecision>): Promise<UpdateFigures> {
    const { settings, decisions, advantage, valueTarget, miniBatches, signal } = request;
    const rows = decisions.map(promptedReply);
    const largest = { rows: 0, responses: 0 };
    for (const numbers of miniBatches) {
      largest.rows = Math.max(largest.rows, numbers.length);
      largest.responses = Math.max(largest.responses, replyTokensOf(rows, numbers));
    }
    const objective = objectiveOf(settings, request.klCoefficient);
    const update = new PolicyUpdate(this.gpu, this.session, objective, largest, settings.valueClip);
    const sums = new FigureSums();
    try {
      for (const [done, numbers] of miniBatches.entries()) {
        signal?.throwIfAborted();
        const weights = this.weightsOf(settings, rows, numbers);
        let at = 0;
        for (const part of this.parts(rows, numbers)) {
          const head = this.batchOf(rows, part);
          const tokens = head.targets.length;
          const perToken = (read: (row: number, k: number) => number) =>
            Float32Array.from(part.flatMap((row) => Array.from(rows[row]!.reply, (_, k) => read(row, k))));
          const first = (read: (row: number) => number) => perToken((row, k) => (k === 0 ? read(row) : 0));
          const value: ValueColumns | undefined = valueTarget
            ? {
                mask: first(() => 1),
                oldValue: first((row) => decisions[row]!.value!),
                returns: first((row) => valueTarget[row]!),
                weights: first(() => settings.valueLossScale / numbers.length),
              }
            : undefined;
          update.accumulate({
            head,
            oldLogProb: perToken((row, k) => decisions[row]!.tokenLogProbs[k]!),
            advantage: perToken((row) => advantage[row]!),
            weights: weights.subarray(at, at + tokens),
            value,
          });
          at += tokens;
        }
        const figures = await update.readFigures();
        const { learningRate, criticLearningRate, weightDecay, maxGradientNorm } = settings;
        const rates = { learningRate, criticLearningRate };
        this.session.step({ ...DEFAULT_OPTIMIZER, ...rates, weightDecay, maxGradientNorm });
        const { gradientNorm } = await this.session.readOutcome();
        // Per token in every aggregation: Dr.GRPO's weights, for one, do not sum to 1.
        const weightSum = weights.reduce((a, b) => a + b, 0) || 1;
        sums.add({
          ...figures,
          entropy: figures.entropy / weightSum,
          kl: figures.kl / weightSum,
          gradientNorm,
          withoutAdvantage: numbers.every((row) => advantage[row] === 0),
        });
        await request.onProgress?.(done + 1, miniBatches.length);
      }
    } finally {
      update.destroy();
    }
    return sums.figures();
  }

  async save(): Promise<LearnerState> {
    const optimizer = (await this.session.saveOptimizer())!;
    return { origin: this.origin, variants: formatVariants(this.variants), optimizer } satisfies NeuralLearnerState;
  }

  load(state: LearnerState): void {
    const { origin, optimizer } = state as Partial<NeuralLearnerState>;
    if (origin !== this.origin || !optimizer) {
      throw new LearnerStateError(
        'this run began with another policy, or trained it in another way: name the same policy and tuning again',
      );
    }
    try {
      requireSameVariants('This run', variantsOfState(state), this.variants);
    } catch (error) {
      if (error instanceof VariantsError) throw new LearnerStateError(error.message);
      throw error;
    }
    this.session.restoreOptimizer(optimizer);
  }

  /** The policy's weights as they act now, adapters added in. */
  weights(): Promise<Weights> {
    return this.session.weights.readEffective();
  }

  async close(): Promise<void> {
    await this.generator.close();
    this.session.destroy();
  }

  /** [decisions] what the critic says where a prompt ends. */
  private async valuesOf(decisions: readonly TextDecision[]): Promise<number[]> {
    const rows = decisions.map(promptedReply);
    const values: number[] = [];
    for (const part of this.parts(rows, rows.keys())) {
      const { rowStart, ...batch } = this.batchOf(rows, part);
      this.session.load(batch);
      this.session.forward();
      const { value } = await this.session.readHead();
      part.forEach((_, i) => values.push(value[rowStart[i]!]!));
    }
    return values;
  }

  private batchOf(rows: readonly PromptedReply[], numbers: readonly number[]) {
    return replyBatch(
      numbers.map((row) => rows[row]!),
      this.session.config.vocabSize,
      this.temperature,
    );
  }

  /** Row numbers in their order, in parts that go through the model together. */
  private parts(rows: readonly PromptedReply[], numbers: Iterable<number>): number[][] {
    const listed = Array.from(numbers, (row) => ({ row, prompt: rows[row]!.prompt, reply: rows[row]!.reply }));
    return partsThatFit(listed, this.session.capacity).map((part) => part.map(({ row }) => row));
  }

  /** [tokens] the weight of each reply token in the loss of a mini-batch. */
  private weightsOf(settings: Settings, rows: readonly PromptedReply[], numbers: Int32Array): Float64Array {
    const rowStart = new Int32Array(numbers.length + 1);
    numbers.forEach((row, i) => (rowStart[i + 1] = rowStart[i]! + rows[row]!.reply.length));
    return objectiveWeights(settings, { rowStart, mask: new Uint8Array(rowStart.at(-1)!).fill(1) });
  }
}

/** Says which weights a run began with, and how it trains them. */
function originOf({ config, weights }: Pick<LearnerModel, 'config' | 'weights'>, way: TrainingWay): string {
  const { tuning, valueHead, head } = way;
  return textKey(JSON.stringify([tuning, valueHead, head, config, [...weights].map(firstNumbers)]));
}

/** Enough of a weight to tell it from that of another training run. */
function firstNumbers([name, weight]: [string, DenseTensor | QuantizedMatrix]): unknown {
  return [name, [...('codes' in weight ? weight.scales : weight.data).subarray(0, 64)]];
}

function promptedReply({ promptTokens, replyTokens, sequences }: TextDecision): PromptedReply {
  return { prompt: promptTokens, reply: replyTokens, tree: sequences && new PrefixTree(sequences) };
}

function replyTokensOf(rows: readonly PromptedReply[], numbers: Int32Array): number {
  let tokens = 0;
  for (const row of numbers) tokens += rows[row]!.reply.length;
  return tokens;
}
