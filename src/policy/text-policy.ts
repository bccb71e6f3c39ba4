import { projectReply } from '../environments/text-projection.ts';
import { PrefixTree } from '../gpu/prefix-tree.ts';
import type { RandomStream } from '../random/stream.ts';
import { PolicyInputError, type Decision, type Policy, type PolicyInput } from '../rollouts/policy.ts';
import { addCuts, noCuts, promptKey, type PromptCuts, type PromptWriter } from './prompt.ts';

/**
 * How a policy turns its prompt into a command. `generate-admissible`: token by token on the prefix tree of the
 * admissible commands, so that every reply is one of them. `generate`: freely. `choose`: each admissible command gets the
 * log-probability of its tokens as a score, and one is drawn from the softmax of the scores.
 */
export const heads = ['generate-admissible', 'generate', 'choose'] as const;
export type Head = (typeof heads)[number];

/** One prompt to be answered. */
export interface ReplyRequest {
  readonly prompt: readonly number[];
  /** Limits the reply to one of these sequences, each of which ends with the end token. */
  readonly tree?: PrefixTree;
  readonly stream: RandomStream;
}

export interface Reply {
  /** Ends with the end token unless the limit came first. */
  readonly tokens: readonly number[];
  /** [tokens] log-probability of each under the distribution it was drawn from: tree and temperature applied. */
  readonly logProbs: readonly number[];
}

export interface GenerationLimits {
  /** Logits are divided by it; 0 takes the likeliest token. */
  readonly temperature: number;
  readonly maxTokens: number;
  readonly endToken: number;
  readonly signal?: AbortSignal;
}

/** Whatever runs a decoder: the engine on WebGPU, or ONNX Runtime. */
export interface ReplyGenerator {
  /** Answers in the order of the requests. */
  generate(requests: readonly ReplyRequest[], limits: GenerationLimits): Promise<readonly Reply[]>;
  /** [requests][sequences] log-probability of each sequence as the answer to its prompt (temperature 1, no tree). */
  score(
    requests: readonly { readonly prompt: readonly number[]; readonly sequences: readonly (readonly number[])[] }[],
    signal?: AbortSignal,
  ): Promise<readonly (readonly number[])[]>;
}

/** A decision with all that training needs to know of how it came about. */
export interface TextDecision extends Decision {
  readonly promptTokens: readonly number[];
  readonly replyTokens: readonly number[];
  /** [replyTokens] under the distribution they were drawn from. With the head `choose`: the command's log-probability, at its last token. */
  readonly tokenLogProbs: readonly number[];
  /** Token sequences of the admissible commands, where the reply was limited to them. */
  readonly sequences: readonly (readonly number[])[] | null;
}

export interface TextPolicySettings {
  readonly name: string;
  readonly writer: PromptWriter;
  readonly generator: ReplyGenerator;
  readonly head: Head;
  readonly temperature: number;
}

/** A policy that reads prompts and writes commands, whatever computes its logits. */
export class TextPolicy implements Policy<TextDecision> {
  readonly name: string;
  readonly memory: number;
  head: Head;
  temperature: number;

  private readonly writer: PromptWriter;
  private readonly generator: ReplyGenerator;
  private cutsSoFar = noCuts;
  private promptsSoFar = 0;

  constructor({ name, writer, generator, head, temperature }: TextPolicySettings) {
    this.name = name;
    this.writer = writer;
    this.generator = generator;
    this.head = head;
    this.temperature = temperature;
    this.memory = writer.format.historyLength;
  }

  /** Prompts written so far, and what had to be left out of them. */
  get cuts(): PromptCuts & { readonly prompts: number } {
    return { prompts: this.promptsSoFar, ...this.cutsSoFar };
  }

  async act(
    inputs: readonly PolicyInput[],
    streams: readonly RandomStream[],
    signal?: AbortSignal,
  ): Promise<readonly TextDecision[]> {
    const { writer, head, temperature } = this;
    const asked = inputs.map((input) => {
      const { tokens, cuts } = writer.write(input);
      this.cutsSoFar = addCuts(this.cutsSoFar, cuts);
      this.promptsSoFar++;
      if (head === 'generate') return { input, prompt: tokens, sequences: null };
      if (input.admissible.length === 0) {
        throw new PolicyInputError(`There is no admissible command to choose after ${input.observation.text}.`);
      }
      // Reasoning has no list of its own: where the format has it, it is supplied, empty.
      const sequences = input.admissible.map((command) => writer.replyTokensFor(command, input.observation));
      return { input, prompt: tokens, sequences };
    });
    const replies =
      head === 'choose'
        ? await this.choose(asked, streams, signal)
        : await this.generator.generate(
            asked.map(({ prompt, sequences }, i) => ({
              prompt,
              stream: streams[i]!,
              ...(sequences === null ? {} : { tree: new PrefixTree(sequences) }),
            })),
            {
              temperature,
              maxTokens: writer.replyTokens,
              endToken: writer.tokenizer.special('<end>'),
              ...(signal ? { signal } : {}),
            },
          );
    return asked.map(({ input, prompt, sequences }, i): TextDecision => {
      const { tokens, logProbs } = replies[i]!;
      const reply = writer.replyText(tokens, input.observation);
      const { command, formatValid } = projectReply(reply, input.environment);
      return {
        command,
        formatValid,
        reply,
        logProb: logProbs.reduce((sum, value) => sum + value, 0),
        tokenCount: tokens.length,
        prompt: writer.text(prompt),
        promptKey: promptKey(prompt, sequences),
        promptTokens: prompt,
        replyTokens: tokens,
        tokenLogProbs: logProbs,
        sequences,
      };
    });
  }

  private async choose(
    asked: readonly { readonly prompt: readonly number[]; readonly sequences: readonly (readonly number[])[] | null }[],
    streams: readonly RandomStream[],
    signal: AbortSignal | undefined,
  ): Promise<Reply[]> {
    const requests = asked.map(({ prompt, sequences }) => ({ prompt, sequences: sequences! }));
    const scores = await this.generator.score(requests, signal);
    return requests.map(({ sequences }, i) => {
      const { index, logProb } = drawFromLogits(scores[i]!, this.temperature, streams[i]!);
      const tokens = sequences[index]!;
      return { tokens, logProbs: tokens.map((_, t) => (t === tokens.length - 1 ? logProb : 0)) };
    });
  }
}

/**
 * Draws an index from softmax(logits / temperature) by inverting its cumulative sum; temperature 0 takes the largest
 * logit, the first of equal ones, with log-probability 0.
 */
export function drawFromLogits(
  logits: ArrayLike<number>,
  temperature: number,
  stream: RandomStream,
): { readonly index: number; readonly logProb: number } {
  let best = 0;
  for (let i = 1; i < logits.length; i++) if (logits[i]! > logits[best]!) best = i;
  if (temperature === 0) return { index: best, logProb: 0 };
  const weight = (i: number) => Math.exp((logits[i]! - logits[best]!) / temperature);
  let total = 0;
  for (let i = 0; i < logits.length; i++) total += weight(i);
  let left = stream.nextFloat() * total;
  let index = logits.length - 1;
  for (let i = 0; i < logits.length; i++) {
    left -= weight(i);
    if (left < 0) {
      index = i;
      break;
    }
  }
  return { index, logProb: (logits[index]! - logits[best]!) / temperature - Math.log(total) };
}
