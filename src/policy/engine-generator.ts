import type { Gpu } from '../gpu/device.ts';
import { Generator } from '../gpu/generate.ts';
import { replyBatch, type PromptedReply } from '../gpu/reply-batch.ts';
import type { ModelSession } from '../gpu/session.ts';
import type { GenerationLimits, Reply, ReplyGenerator, ReplyRequest } from './text-policy.ts';

/** Prompts that are answered together: enough to fill a GPU, few enough for its cache. */
const SEQUENCES = 128;

/**
 * Generates replies with the engine, from the weights that a session has on the device: in training these are the ones being trained,
 * so a policy on top of it always acts with the newest. A reply depends on its own prompt, tree and stream alone.
 */
export class EngineGenerator implements ReplyGenerator {
  private constructor(
    private readonly session: ModelSession,
    private readonly generator: Generator,
  ) {}

  /** @throws GpuMemoryError or GenerationError where the device has too little room. */
  static async create(gpu: Gpu, session: ModelSession, sequences = SEQUENCES): Promise<EngineGenerator> {
    const { contextLength } = session.config;
    const generator = await Generator.create(gpu, session.variants, session.weights, {
      sequences,
      promptTokens: Math.max(contextLength, 32 * sequences),
      capacity: contextLength,
    });
    return new EngineGenerator(session, generator);
  }

  async generate(requests: readonly ReplyRequest[], limits: GenerationLimits): Promise<readonly Reply[]> {
    const { temperature, maxTokens, endToken, signal } = limits;
    const trees = requests.map(({ tree }) => tree ?? null);
    // No reply can be longer than the longest that its tree allows.
    const longest = trees.reduce((most, tree) => Math.max(most, tree?.depth ?? maxTokens), 0);
    const replies = await this.generator.generate({
      prompts: requests.map(({ prompt }) => prompt),
      streams: requests.map(({ stream }) => stream),
      trees,
      replyTokens: Math.min(maxTokens, longest),
      temperature,
      endToken,
      ...(signal ? { signal } : {}),
    });
    return replies.map(({ tokens, logProbs }) => ({ tokens: [...tokens], logProbs: [...logProbs] }));
  }

  async score(
    requests: readonly { readonly prompt: readonly number[]; readonly sequences: readonly (readonly number[])[] }[],
    signal?: AbortSignal,
  ): Promise<readonly (readonly number[])[]> {
    const rows = requests.flatMap(({ prompt, sequences }) =>
      sequences.map((reply): PromptedReply => ({ prompt, reply, tree: null })),
    );
    const scores: number[] = [];
    for (const part of partsThatFit(rows, this.session.capacity)) {
      signal?.throwIfAborted();
      const batch = replyBatch(part, this.session.config.vocabSize);
      this.session.load(batch);
      this.session.forward();
      const { logProb } = await this.session.readHead();
      part.forEach((_, row) => {
        scores.push(logProb.slice(batch.rowStart[row], batch.rowStart[row + 1]).reduce((sum, value) => sum + value, 0));
      });
    }
    let next = 0;
    return requests.map(({ sequences }) => sequences.map(() => scores[next++]!));
  }

  close(): Promise<void> {
    this.generator.destroy();
    return Promise.resolve();
  }
}

/** Rows in their order, cut into parts that a session takes at once. A row alone must fit. */
export function partsThatFit<Row extends Pick<PromptedReply, 'prompt' | 'reply'>>(
  rows: readonly Row[],
  capacity: ModelSession['capacity'],
): Row[][] {
  const parts: Row[][] = [];
  let part: Row[] = [];
  let tokens = 0;
  let responses = 0;
  for (const row of rows) {
    const length = row.prompt.length + row.reply.length - 1;
    const isFull =
      part.length === capacity.sequences ||
      tokens + length > capacity.tokens ||
      responses + row.reply.length > capacity.responses;
    if (isFull && part.length > 0) {
      parts.push(part);
      part = [];
      tokens = 0;
      responses = 0;
    }
    part.push(row);
    tokens += length;
    responses += row.reply.length;
  }
  if (part.length > 0) parts.push(part);
  return parts;
}
