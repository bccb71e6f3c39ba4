/**
 * Generation: many prompts of different lengths at once, without padding. The prompts' tokens go through the decoder together
 * (prefill), leaving their keys and values in a cache; then one token of every sequence is drawn at a time until each has
 * ended. The kernels are those of training, so a log-probability that is kept from here is the one that training computes.
 *
 * What a sequence gets depends on its prompt, its stream and its tree alone, never on the rest of the batch.
 */
import type { RandomStream } from '../random/stream.ts';
import type { Binding, GpuBuffer } from './buffer.ts';
import type { DecoderLayer, DecoderWeights } from './decoder.ts';
import type { Gpu } from './device.ts';
import { attention, cachedAttention, type AttentionShape } from './kernels/attention.ts';
import { embedding } from './kernels/embedding.ts';
import { gatherRows } from './kernels/gather-rows.ts';
import { linear } from './kernels/linear.ts';
import { rmsNorm } from './kernels/rms-norm.ts';
import { rotary, rotaryTable } from './kernels/rotary.ts';
import { DRAWN, DRAWN_WORDS, ENDED, sample, SEQUENCE_STATE_WORDS, type SamplingSettings } from './kernels/sample.ts';
import { swiglu } from './kernels/swiglu.ts';
import { hiddenWidth, linearForward } from './linear-layer.ts';
import { packTrees, type PrefixTree } from './prefix-tree.ts';
import { Program, type Count, type Dispatch } from './program.ts';
import { longestSequence, placeOfTokens, raggedBatch, type RaggedBatch } from './ragged.ts';
import type { KernelVariants } from './variants.ts';

/** What buffers are planned for, once. */
export interface GenerationPlan {
  /** Most sequences at once; more are generated one group after another. */
  readonly sequences: number;
  /** Most prompt tokens in one prefill; longer groups are prefilled in parts. At least `capacity`. */
  readonly promptTokens: number;
  /** Most tokens of a prompt and its reply together; at most the decoder's context. */
  readonly capacity: number;
  /**
   * Steps between two read-backs, which tell what sequences have ended and need no more work. Default: 1 on a software adapter,
   * which answers at once, 4 on a GPU, which is better kept busy by queueing a few steps.
   */
  readonly stepsPerRead?: number;
}

export interface GenerationRequest extends SamplingSettings {
  readonly prompts: readonly ArrayLike<number>[];
  /** One stream for each prompt; a reply's draws come from its part `reply`, the stream itself is not moved on. */
  readonly streams: readonly RandomStream[];
  /** What each reply may be; null, or no list, where every token may come. */
  readonly trees?: readonly (PrefixTree | null)[] | undefined;
  /** Most tokens of a reply. */
  readonly replyTokens: number;
  readonly signal?: AbortSignal | undefined;
}

export interface Reply {
  /** The tokens drawn, with the end token where the reply came to its end. */
  readonly tokens: Uint32Array;
  /** Log-probability of each token, at the temperature and within the tokens that it was drawn from. */
  readonly logProbs: Float32Array;
  /** Entropy of the distribution that each token was drawn from. */
  readonly entropies: Float32Array;
  /** False where `replyTokens` cut it off. */
  readonly ended: boolean;
}

/** A request that cannot be carried out, or a model whose outputs are no numbers. */
export class GenerationError extends Error {
  override readonly name = 'GenerationError';
}

const STEPS_PER_READ = { software: 1, hardware: 4 };

/** Generates with one decoder. Owns its buffers; the weights belong to the caller. */
export class Generator {
  private readonly owned: GpuBuffer[] = [];
  private readonly shape: AttentionShape;
  private readonly stepsPerRead: number;
  private readonly buffers: ReturnType<Generator['allocate']>;
  private tree: GpuBuffer;
  private prefill!: Program;
  private decode!: Program;

  // What the programs read at each run.
  private prompts: RaggedBatch = { tokens: new Uint32Array(0), sequenceStart: new Uint32Array(1) };
  private rows = 0;
  /** Tokens that each sequence has drawn: `place` holds its last prompt token, `step` positions before the new one. */
  private step = 0;
  private drawnAt = 0;
  private settings: SamplingSettings = { temperature: 1, endToken: 0 };
  private busy = false;

  private constructor(
    private readonly gpu: Gpu,
    private readonly variants: KernelVariants,
    private readonly weights: DecoderWeights,
    readonly plan: GenerationPlan,
  ) {
    const { config } = weights;
    if (plan.capacity > config.contextLength) {
      throw new GenerationError(
        `A prompt and reply of ${plan.capacity} tokens exceed the model's context of ${config.contextLength}.`,
      );
    }
    if (plan.promptTokens < plan.capacity) {
      throw new GenerationError(
        `A prefill of ${plan.promptTokens} tokens cannot hold one prompt of up to ${plan.capacity}.`,
      );
    }
    this.shape = { heads: config.heads, kvHeads: config.kvHeads, headSize: config.headSize };
    this.stepsPerRead = plan.stepsPerRead ?? STEPS_PER_READ[gpu.adapter.software ? 'software' : 'hardware'];
    this.buffers = this.allocate();
    this.tree = gpu.buffer('prefix trees', 4096);
    this.planPrograms();
  }

  /**
   * Plans generation on the device.
   * @throws GenerationError when the plan exceeds the model's context or a binding's size, GpuMemoryError when the device has too
   * little memory.
   */
  static async create(
    gpu: Gpu,
    variants: KernelVariants,
    weights: DecoderWeights,
    plan: GenerationPlan,
  ): Promise<Generator> {
    let generator: Generator | undefined;
    try {
      return await gpu.allocating(() => (generator = new Generator(gpu, variants, weights, plan)));
    } catch (error) {
      generator?.destroy();
      throw error;
    }
  }

  private allocate() {
    const { sequences, promptTokens, capacity } = this.plan;
    const { config, layers } = this.weights;
    const { hiddenSize, heads, kvHeads, headSize, ffnSize, vocabSize } = config;
    const tokens = Math.max(promptTokens, sequences);
    const largest = this.gpu.adapter.limits.maxStorageBufferBindingSize!;
    const words = (label: string, count: number) => {
      if (count * 4 > largest) {
        for (const buffer of this.owned.splice(0)) buffer.destroy();
        throw new GenerationError(
          `Generating ${sequences} sequences of ${capacity} tokens needs ${count * 4} bytes for ${label}, and one buffer holds ${largest}: plan fewer or shorter sequences.`,
        );
      }
      const buffer = this.gpu.buffer(label, count * 4);
      this.owned.push(buffer);
      return buffer;
    };
    const table = words('rotary table', capacity * headSize);
    table.write(rotaryTable(capacity, headSize, config.ropeTheta));
    return {
      table,
      // Inputs of prefill and decode.
      promptTokens: words('prompt tokens', tokens),
      promptPlace: words('prompt places', tokens * 2),
      sequenceStart: words('prompt starts', sequences + 1),
      lastToken: words('last prompt tokens', sequences),
      lastQkv: words('queries, keys, values of the last prompt tokens', sequences * (heads + 2 * kvHeads) * headSize),
      lastResidual: words('residual of the last prompt tokens', sequences * hiddenSize),
      tokens: words('new tokens', sequences),
      place: words('places', sequences * 2),
      state: words('sequence states', sequences * SEQUENCE_STATE_WORDS),
      // Activations, shared by all layers.
      residual: words('residual', tokens * hiddenSize),
      middle: words('residual after attention', tokens * hiddenSize),
      normed: words('normed', tokens * hiddenSize),
      inverseRms: words('inverse root mean squares', tokens),
      qkv: words('queries, keys, values', tokens * (heads + 2 * kvHeads) * headSize),
      attended: words('attended', tokens * heads * headSize),
      logSumExp: words('attention sums', tokens * heads),
      gateUp: words('gate and up', tokens * 2 * ffnSize),
      activated: words('activated', tokens * ffnSize),
      hidden: words(
        'adapter activations',
        tokens * Math.max(0, ...layers.flatMap((layer) => linearsOf(layer).map(hiddenWidth))),
      ),
      caches: layers.map((_, layer) =>
        words(`keys and values ${layer}`, sequences * capacity * 2 * kvHeads * headSize),
      ),
      logits: words('logits', sequences * vocabSize),
      drawn: words('drawn', this.stepsPerRead * sequences * DRAWN_WORDS),
    };
  }

  private planPrograms(): void {
    this.prefill = new Program(this.gpu, 'prefill', this.prefillDispatches());
    this.decode = new Program(this.gpu, 'decode', this.decodeDispatches());
  }

  /**
   * The last layer is needed at each prompt's last token alone: the other tokens only leave their keys and values there, which
   * spares two fifths of the work of a model with two layers.
   */
  private prefillDispatches(): Dispatch[] {
    const { buffers, shape, variants, weights } = this;
    const { config, layers } = weights;
    const { capacity } = this.plan;
    const { hiddenSize: width } = config;
    const rows = () => this.prompts.tokens.length;
    const sequences = () => this.prompts.sequenceStart.length - 1;
    const { residual, qkv, attended: out, logSumExp, sequenceStart, table, promptPlace, place } = buffers;
    const { lastToken: index, lastQkv, lastResidual } = buffers;
    const rowOfQkv = (config.heads + 2 * config.kvHeads) * config.headSize;
    const dispatches = [
      embedding({ tokens: buffers.promptTokens, weight: weights.embedding, x: residual, rows, width }),
    ];
    layers.forEach((layer, l) => {
      const cache = { keyValues: buffers.caches[l]!, capacity };
      dispatches.push(
        ...this.queryKeyValue(layer, residual, rows),
        rotary({ qkv, table, place: promptPlace, rows, shape, cache: { ...cache, step: 0 } }),
      );
      if (l + 1 < layers.length) {
        const longest = () => longestSequence(this.prompts.sequenceStart);
        dispatches.push(
          attention(variants, { qkv, sequenceStart, out, logSumExp, sequences, longest, shape }),
          ...this.afterAttention(layer, residual, rows),
        );
      } else {
        dispatches.push(
          gatherRows({ x: qkv, index, y: lastQkv, rows: sequences, width: rowOfQkv }),
          gatherRows({ x: residual, index, y: lastResidual, rows: sequences, width }),
          cachedAttention({ qkv: lastQkv, place, step: 0, cache, out, rows: sequences, shape }),
          ...this.afterAttention(layer, lastResidual, sequences),
        );
      }
    });
    return [...dispatches, ...this.head(lastResidual, sequences)];
  }

  private decodeDispatches(): Dispatch[] {
    const { buffers, shape, weights } = this;
    const rows = () => this.rows;
    const step = () => this.step;
    const { residual, qkv, attended: out, table, place, tokens, caches } = buffers;
    return [
      embedding({ tokens, weight: weights.embedding, x: residual, rows, width: weights.config.hiddenSize }),
      ...weights.layers.flatMap((layer, l) => {
        const cache = { keyValues: caches[l]!, capacity: this.plan.capacity };
        return [
          ...this.queryKeyValue(layer, residual, rows),
          rotary({ qkv, table, place, rows, shape, cache: { ...cache, step } }),
          cachedAttention({ qkv, place, step, cache, out, rows, shape }),
          ...this.afterAttention(layer, residual, rows),
        ];
      }),
      ...this.head(residual, rows),
    ];
  }

  private norm(x: Binding, weight: Binding, rows: Count): Dispatch {
    const { normed: y, inverseRms } = this.buffers;
    const { hiddenSize: width, normEpsilon: epsilon } = this.weights.config;
    return rmsNorm(this.variants, { x, weight, y, inverseRms, rows, width, epsilon });
  }

  private queryKeyValue(layer: DecoderLayer, residual: Binding, rows: Count): Dispatch[] {
    const { normed, qkv, hidden } = this.buffers;
    return [
      this.norm(residual, layer.inputNorm.weight, rows),
      ...linearForward(this.variants, layer.qkv, { x: normed, y: qkv, rows, hidden }),
    ];
  }

  /** Output projection and SwiGLU: reads `attended` and moves the residual on. */
  private afterAttention(layer: DecoderLayer, residual: Binding, rows: Count): Dispatch[] {
    const { variants } = this;
    const { middle, normed, attended, gateUp, activated, hidden } = this.buffers;
    return [
      ...linearForward(variants, layer.output, { x: attended, y: middle, rows, hidden, residual }),
      this.norm(middle, layer.postNorm.weight, rows),
      ...linearForward(variants, layer.gateUp, { x: normed, y: gateUp, rows, hidden }),
      swiglu({ gateUp, y: activated, rows, width: this.weights.config.ffnSize }),
      ...linearForward(variants, layer.down, { x: activated, y: residual, rows, hidden, residual: middle }),
    ];
  }

  /** Logits of the rows of x, and a token drawn from each. */
  private head(x: Binding, rows: Count): Dispatch[] {
    const { buffers, variants, weights } = this;
    const { hiddenSize: inner, vocabSize } = weights.config;
    const { normed, logits, place, state, drawn, tokens } = buffers;
    return [
      this.norm(x, weights.finalNorm.weight, rows),
      linear(variants, { x: normed, weight: weights.embedding, y: logits, rows, inner, columns: vocabSize }),
      sample(variants, {
        logits,
        place,
        state,
        tree: this.tree,
        nextToken: tokens,
        drawn,
        drawnAt: () => this.drawnAt,
        rows,
        vocabulary: vocabSize,
        step: () => this.step,
        settings: () => this.settings,
      }),
    ];
  }

  /**
   * One reply to each prompt, in order.
   * @throws GenerationError when a prompt is empty, leaves no room for its reply or names unknown tokens, or the model gives no numbers; the signal's
   * reason when it is aborted.
   */
  async generate(request: GenerationRequest): Promise<Reply[]> {
    const { prompts, streams, trees, replyTokens } = request;
    if (streams.length !== prompts.length || (trees && trees.length !== prompts.length)) {
      throw new GenerationError(`There are ${prompts.length} prompts but not as many streams or trees.`);
    }
    if (!(replyTokens >= 1)) throw new GenerationError('A reply needs room for at least one token.');
    if (!(request.temperature >= 0)) {
      throw new GenerationError(`A temperature is 0 or more, not ${request.temperature}.`);
    }
    prompts.forEach((prompt, i) => {
      if (prompt.length < 1 || prompt.length + replyTokens > this.plan.capacity) {
        throw new GenerationError(
          `Prompt ${i} has ${prompt.length} tokens; with a reply of up to ${replyTokens} there is room for 1 to ${this.plan.capacity - replyTokens}.`,
        );
      }
    });
    const { vocabSize } = this.weights.config;
    const known = (tokens: ArrayLike<number>) =>
      Array.prototype.every.call(tokens, (token: number) => token < vocabSize);
    if (!prompts.every(known) || !(trees ?? []).every((tree) => !tree || known(tree.edgeToken))) {
      throw new GenerationError(`A prompt or tree names a token that the vocabulary of ${vocabSize} does not have.`);
    }
    if (this.busy) throw new GenerationError('This generator is still at work on another request.');
    this.busy = true;
    try {
      const replies: Reply[] = [];
      for (let first = 0; first < prompts.length; first += this.plan.sequences) {
        const end = first + this.plan.sequences;
        const group = {
          ...request,
          prompts: prompts.slice(first, end),
          streams: streams.slice(first, end),
          trees: trees?.slice(first, end),
        };
        replies.push(...(await this.generateGroup(group)));
      }
      return replies;
    } finally {
      this.busy = false;
    }
  }

  private async generateGroup(request: GenerationRequest): Promise<Reply[]> {
    const { prompts, replyTokens, signal } = request;
    const { buffers } = this;
    const replies = prompts.map(() => new ReplyRecord(replyTokens));
    this.settings = { temperature: request.temperature, endToken: request.endToken };
    this.writeStates(request);

    signal?.throwIfAborted();
    this.step = 0;
    this.runPrefill(prompts);
    await this.collect(
      prompts.map((_, sequence) => sequence),
      1,
      replies,
    );

    let steps = 1;
    while (steps < replyTokens) {
      const active = replies.flatMap((reply, sequence) => (reply.ended ? [] : [sequence]));
      if (active.length === 0) break;
      signal?.throwIfAborted();
      this.rows = active.length;
      buffers.tokens.write(Uint32Array.from(active, (sequence) => replies[sequence]!.last));
      buffers.place.write(Uint32Array.from(active.flatMap((s) => [s, prompts[s]!.length - 1])));
      const window = Math.min(this.stepsPerRead, replyTokens - steps);
      for (let i = 0; i < window; i++) {
        this.step = steps + i;
        this.drawnAt = i * this.rows;
        this.decode.run();
      }
      await this.collect(active, window, replies);
      steps += window;
    }
    return replies.map((reply) => reply.finish());
  }

  /** Random keys and roots of the trees. */
  private writeStates({ streams, trees }: GenerationRequest): void {
    const { words, roots } = packTrees(streams.map((_, i) => trees?.[i] ?? null));
    if (words.byteLength > this.tree.bytes) {
      this.prefill.destroy();
      this.decode.destroy();
      this.tree.destroy();
      this.tree = this.gpu.buffer('prefix trees', 2 ** Math.ceil(Math.log2(words.byteLength)));
      this.planPrograms();
    }
    this.tree.write(words);
    const state = new Uint32Array(streams.length * SEQUENCE_STATE_WORDS);
    streams.forEach((stream, i) => {
      const { key0, key1 } = stream.split('reply').save();
      state.set([key0, key1, roots[i]!, 0], i * SEQUENCE_STATE_WORDS);
    });
    this.buffers.state.write(state);
  }

  /** Prompts into the cache, and the first token of each reply; in parts where they exceed the plan. */
  private runPrefill(prompts: GenerationRequest['prompts']): void {
    const { buffers, plan } = this;
    let first = 0;
    while (first < prompts.length) {
      let end = first;
      let tokens = 0;
      while (end < prompts.length && tokens + prompts[end]!.length <= plan.promptTokens)
        tokens += prompts[end++]!.length;
      this.prompts = raggedBatch(prompts.slice(first, end));
      const { sequenceStart } = this.prompts;
      const place = placeOfTokens(sequenceStart);
      for (let token = 0; token < tokens; token++) place[token * 2]! += first;
      buffers.promptTokens.write(this.prompts.tokens);
      buffers.promptPlace.write(place);
      buffers.sequenceStart.write(sequenceStart);
      buffers.lastToken.write(sequenceStart.slice(1).map((start) => start - 1));
      buffers.place.write(Uint32Array.from(prompts.slice(first, end).flatMap((p, i) => [first + i, p.length - 1])));
      this.drawnAt = first;
      this.prefill.run();
      first = end;
    }
  }

  /** Reads what was drawn since the last read-back: `steps` tokens of each of these sequences. */
  private async collect(sequences: readonly number[], steps: number, replies: readonly ReplyRecord[]): Promise<void> {
    const drawn = await this.gpu.readWords(this.buffers.drawn, 0, steps * sequences.length * DRAWN_WORDS);
    const floats = new Float32Array(drawn.buffer);
    for (let i = 0; i < steps * sequences.length; i++) {
      const at = i * DRAWN_WORDS;
      const flags = drawn[at + 3]!;
      if (!(flags & DRAWN)) continue;
      const [logProb, entropy] = [floats[at + 1]!, floats[at + 2]!];
      if (!Number.isFinite(logProb) || !Number.isFinite(entropy)) {
        throw new GenerationError(
          'The model gave outputs that are no numbers: its weights have overflowed; go back to an earlier checkpoint.',
        );
      }
      replies[sequences[i % sequences.length]!]!.add(drawn[at]!, logProb, entropy, (flags & ENDED) !== 0);
    }
  }

  destroy(): void {
    this.prefill.destroy();
    this.decode.destroy();
    this.tree.destroy();
    for (const buffer of this.owned.splice(0)) buffer.destroy();
  }
}

/** A reply while it grows. */
class ReplyRecord {
  ended = false;
  private count = 0;
  private readonly tokens: Uint32Array;
  private readonly logProbs: Float32Array;
  private readonly entropies: Float32Array;

  constructor(replyTokens: number) {
    this.tokens = new Uint32Array(replyTokens);
    this.logProbs = new Float32Array(replyTokens);
    this.entropies = new Float32Array(replyTokens);
  }

  get last(): number {
    return this.tokens[this.count - 1]!;
  }

  add(token: number, logProb: number, entropy: number, ended: boolean): void {
    this.tokens[this.count] = token;
    this.logProbs[this.count] = logProb;
    this.entropies[this.count] = entropy;
    this.count++;
    this.ended = ended;
  }

  finish(): Reply {
    return {
      tokens: this.tokens.slice(0, this.count),
      logProbs: this.logProbs.slice(0, this.count),
      entropies: this.entropies.slice(0, this.count),
      ended: this.ended,
    };
  }
}

function linearsOf({ qkv, output, gateUp, down }: DecoderLayer) {
  return [qkv, output, gateUp, down];
}
