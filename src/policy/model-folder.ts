import { z } from 'zod';
import { environmentNames, type EnvironmentName } from '../environments/environment.ts';
import type { DecoderConfig, ModelWeights } from '../gpu/decoder.ts';
import { modelConfigJson, parseModelConfig } from './config.ts';
import { ModelFileError } from './model-file-error.ts';
import { readDecoder, writeDecoder } from './onnx/decoder-file.ts';
import { LONGEST_HISTORY, type PromptFormat } from './prompt.ts';
import { quantizeWeights } from './quantization.ts';
import { Tokenizer } from './tokenizer.ts';
import type { Weights } from './weights.ts';

/**
 * The three files of weights in a model folder and how they are cut: dense floats; int8 and int4 blocks of 32 with a float
 * scale each, the int4 ones with a zero point too. The embedding is quantized like every matrix and, being tied, serves
 * as the output head as well; norms and biases are floats.
 */
export const weightFiles = {
  float32: { path: 'onnx/model.onnx', quantize: null },
  int8: { path: 'onnx/model_int8.onnx', quantize: { bits: 8, zeroPoints: false } },
  q4: { path: 'onnx/model_q4.onnx', quantize: { bits: 4, zeroPoints: true } },
} as const;
export type WeightFormat = keyof typeof weightFiles;
export const weightFormats = Object.keys(weightFiles) as WeightFormat[];

/** A policy's model without its weights: what every file of weights in its folder shares. */
export interface ModelDescription {
  readonly config: DecoderConfig;
  readonly tokenizer: Tokenizer;
  /** The environments whose texts the vocabulary covers. */
  readonly environments: readonly EnvironmentName[];
  /** The prompts that the policy was trained on. */
  readonly promptFormat: PromptFormat;
  /** Tokens of a context that prompts leave free for the reply. */
  readonly replyTokens: number;
}

export interface ModelFolder extends ModelDescription {
  /** The weights that were asked for. */
  readonly weights: ModelWeights;
  /** The bytes that they came from, for ONNX Runtime. */
  readonly bytes: Uint8Array;
  /** Where they came from, for messages. */
  readonly file: string;
}

/** The content of a file of the folder, or null where it has no such file. */
export type ReadFile = (path: string) => Promise<Uint8Array | null>;

const promptFormat = z.looseObject({
  environments: z.array(z.enum(environmentNames)).min(1),
  history_length: z.int().min(0).max(LONGEST_HISTORY),
  receptacles: z.boolean(),
  admissible: z.boolean(),
  think: z.boolean(),
  reply_tokens: z.int().min(1),
});

/**
 * All files of a model folder in the layout of a causal language model on Hugging Face, by path. Transformers.js, ONNX
 * Runtime and Netron read it as it is; only `hgpo_prompt` in `config.json` is our own.
 * @param card the README: data, seeds, size, success for each task, the command that made it
 * @throws UnfitWeightsError when weights and configuration contradict each other.
 */
export function modelFolderFiles(model: ModelDescription, weights: Weights, card: string): Map<string, Uint8Array> {
  const { config, tokenizer, promptFormat: format } = model;
  const tokens = { pad: tokenizer.special('<pad>'), end: tokenizer.special('<end>') };
  const extra = {
    hgpo_prompt: {
      environments: model.environments,
      history_length: format.historyLength,
      receptacles: format.receptacles,
      admissible: format.admissible,
      think: format.think,
      reply_tokens: model.replyTokens,
    },
  };
  const generation = {
    eos_token_id: tokens.end,
    pad_token_id: tokens.pad,
    max_new_tokens: model.replyTokens,
    do_sample: false,
  };
  const text = (content: string) => new TextEncoder().encode(content);
  const files = new Map<string, Uint8Array>([
    ['README.md', text(card)],
    ['config.json', text(modelConfigJson(config, tokens, extra))],
    ['generation_config.json', text(`${JSON.stringify(generation, null, 2)}\n`)],
    ['tokenizer.json', text(tokenizer.json())],
    ['tokenizer_config.json', text(tokenizer.configJson(config.contextLength))],
  ]);
  for (const { path, quantize } of Object.values(weightFiles)) {
    files.set(path, writeDecoder(config, quantize === null ? weights : quantizeWeights(config, weights, quantize)));
  }
  return files;
}

/**
 * Reads a model folder and one of its files of weights.
 * @throws ModelFileError naming the file and the reason: missing, truncated, not fitting the others, not finite.
 */
export async function readModelFolder(read: ReadFile, format: WeightFormat): Promise<ModelFolder> {
  const { path } = weightFiles[format];
  const [description, bytes] = await Promise.all([readDescription(read), required(read, path)]);
  return { ...description, weights: readDecoder(bytes, description.config, path), bytes, file: path };
}

/** Reads all but the weights. */
export async function readDescription(read: ReadFile): Promise<ModelDescription> {
  const [configText, tokenizerText] = await Promise.all(
    ['config.json', 'tokenizer.json'].map(async (path) => new TextDecoder().decode(await required(read, path))),
  );
  const config = parseModelConfig(configText!);
  const tokenizer = Tokenizer.parse(tokenizerText!);
  if (tokenizer.size !== config.vocabSize) {
    throw new ModelFileError(
      'tokenizer.json',
      `it has ${tokenizer.size} tokens where config.json has a vocab_size of ${config.vocabSize}`,
    );
  }
  const parsed = promptFormat.safeParse((JSON.parse(configText!) as { hgpo_prompt?: unknown }).hgpo_prompt);
  if (!parsed.success) {
    const issue = parsed.error.issues[0]!;
    const field = ['hgpo_prompt', ...issue.path].join('.');
    throw new ModelFileError('config.json', `the field ${field} does not say how prompts look (${issue.message})`);
  }
  const { environments, history_length, receptacles, admissible, think, reply_tokens } = parsed.data;
  if (reply_tokens >= config.contextLength) {
    throw new ModelFileError('config.json', 'hgpo_prompt.reply_tokens leaves no room for a prompt');
  }
  return {
    config,
    tokenizer,
    environments,
    promptFormat: { historyLength: history_length, receptacles, admissible, think },
    replyTokens: reply_tokens,
  };
}

async function required(read: ReadFile, path: string): Promise<Uint8Array> {
  const bytes = await read(path);
  if (bytes === null) throw new ModelFileError(path, 'it is missing');
  return bytes;
}

/** Reads from a folder on a web server. A server that answers a missing file with a page is told apart by its type. */
export function folderOnServer(address: string, signal?: AbortSignal): ReadFile {
  const base = address.endsWith('/') ? address : `${address}/`;
  return async (path) => {
    let response: Response;
    try {
      response = await fetch(base + path, signal ? { signal } : {});
    } catch (cause) {
      signal?.throwIfAborted();
      throw new ModelFileError(path, `it could not be fetched from ${base}`, { cause });
    }
    const isPage = response.headers.get('content-type')?.startsWith('text/html') ?? false;
    if (response.status === 404 || (response.ok && isPage)) return null;
    if (!response.ok) throw new ModelFileError(path, `the server answered ${response.status}`);
    return new Uint8Array(await response.arrayBuffer());
  };
}
