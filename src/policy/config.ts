import { z } from 'zod';
import type { DecoderConfig } from '../gpu/decoder.ts';
import { ModelFileError } from './model-file-error.ts';

const count = (most: number) => z.number().int().min(1).max(most);

// The bounds keep a hostile file from asking for gigabytes; the largest size anyone runs here is far below them.
const qwen2Config = z.looseObject({
  model_type: z.literal('qwen2'),
  hidden_size: count(8192),
  num_hidden_layers: count(128),
  num_attention_heads: count(256),
  num_key_value_heads: count(256).optional(),
  head_dim: count(256).nullish(),
  intermediate_size: count(65536),
  vocab_size: count(1_000_000),
  max_position_embeddings: count(32_768),
  rope_theta: z.number().positive().default(10000),
  rms_norm_eps: z.number().positive().max(0.1).default(1e-6),
  // The engine has no output head of its own.
  tie_word_embeddings: z.literal(true),
  hidden_act: z.literal('silu').default('silu'),
  use_sliding_window: z.literal(false).default(false),
  rope_scaling: z.null().optional(),
});

/**
 * Reads a `config.json` of Hugging Face's `Qwen2ForCausalLM`.
 * @param file the name that an error message carries.
 * @throws ModelFileError when the text is no JSON, is not a Qwen2 configuration, or its sizes do not fit each other.
 */
export function parseModelConfig(text: string, file = 'config.json'): DecoderConfig {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new ModelFileError(file, 'it is not valid JSON', { cause });
  }
  const parsed = qwen2Config.safeParse(json);
  if (!parsed.success) {
    const issue = parsed.error.issues[0]!;
    const where = issue.path.length > 0 ? `the field ${issue.path.join('.')}` : 'it';
    throw new ModelFileError(file, `${where} does not fit a Qwen2 decoder (${issue.message})`);
  }
  const raw = parsed.data;
  const config: DecoderConfig = {
    hiddenSize: raw.hidden_size,
    layers: raw.num_hidden_layers,
    heads: raw.num_attention_heads,
    kvHeads: raw.num_key_value_heads ?? raw.num_attention_heads,
    headSize: raw.head_dim ?? raw.hidden_size / raw.num_attention_heads,
    ffnSize: raw.intermediate_size,
    vocabSize: raw.vocab_size,
    contextLength: raw.max_position_embeddings,
    ropeTheta: raw.rope_theta,
    normEpsilon: raw.rms_norm_eps,
  };
  const misfit = sizesThatDoNotFit(config);
  if (misfit) throw new ModelFileError(file, misfit);
  return config;
}

/** Why the sizes contradict each other, or null. */
export function sizesThatDoNotFit(config: DecoderConfig): string | null {
  const { hiddenSize, heads, kvHeads, headSize } = config;
  if (!Number.isInteger(headSize)) return `hidden_size ${hiddenSize} is not a multiple of num_attention_heads ${heads}`;
  if (headSize % 2 !== 0) return `the head size ${headSize} is odd, and rotary positions need an even one`;
  if (heads % kvHeads !== 0) return `num_attention_heads ${heads} is not a multiple of num_key_value_heads ${kvHeads}`;
  return null;
}

/** Token ids that a runner outside this program needs to know. */
export interface SpecialTokenIds {
  readonly pad: number;
  /** Ends a reply. */
  readonly end: number;
}

/**
 * The text of `config.json`, as Transformers and Transformers.js read it.
 * @param extra further fields, which they keep and ignore
 */
export function modelConfigJson(config: DecoderConfig, tokens: SpecialTokenIds, extra: object = {}): string {
  const json = {
    architectures: ['Qwen2ForCausalLM'],
    model_type: 'qwen2',
    hidden_size: config.hiddenSize,
    num_hidden_layers: config.layers,
    num_attention_heads: config.heads,
    num_key_value_heads: config.kvHeads,
    head_dim: config.headSize,
    intermediate_size: config.ffnSize,
    hidden_act: 'silu',
    vocab_size: config.vocabSize,
    max_position_embeddings: config.contextLength,
    rope_theta: config.ropeTheta,
    rms_norm_eps: config.normEpsilon,
    tie_word_embeddings: true,
    use_sliding_window: false,
    attention_dropout: 0,
    initializer_range: 0.02,
    use_cache: true,
    torch_dtype: 'float32',
    pad_token_id: tokens.pad,
    eos_token_id: tokens.end,
    ...extra,
  };
  return `${JSON.stringify(json, null, 2)}\n`;
}
