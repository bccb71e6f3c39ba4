import type { DecoderConfig, DenseTensor, LinearName } from '../gpu/decoder.ts';
import { randomStream } from '../random/stream.ts';

/** All weights of a model, dense, under the names of Hugging Face's Qwen2 (`model.layers.0.self_attn.q_proj.weight`, …). */
export type Weights = ReadonlyMap<string, DenseTensor>;

/** What a weight is for; decides its initial values, its weight decay and whether it may be quantized. */
export type WeightRole = 'embedding' | 'linear' | 'bias' | 'norm';

export interface WeightSpec {
  readonly name: string;
  /** Linear weights are [outputs, inputs], the embedding is [tokens, d]. */
  readonly shape: readonly number[];
  readonly role: WeightRole;
}

export const EMBEDDING = 'model.embed_tokens.weight';
export const FINAL_NORM = 'model.norm.weight';

/** The seven linear maps of a layer, in the order in which the forward pass meets them. */
export const LAYER_LINEARS = [
  'self_attn.q_proj',
  'self_attn.k_proj',
  'self_attn.v_proj',
  'self_attn.o_proj',
  'mlp.gate_proj',
  'mlp.up_proj',
  'mlp.down_proj',
] as const satisfies readonly LinearName[];

/** `layerWeight(0, 'self_attn.q_proj.bias')` is `model.layers.0.self_attn.q_proj.bias`. */
export function layerWeight(layer: number, part: string): string {
  return `model.layers.${layer}.${part}`;
}

/** [outputs, inputs] of a linear map of a layer. */
export function linearShape(config: DecoderConfig, linear: LinearName): readonly [number, number] {
  const { hiddenSize, ffnSize } = config;
  const query = config.heads * config.headSize;
  const keyValue = config.kvHeads * config.headSize;
  switch (linear) {
    case 'self_attn.q_proj':
      return [query, hiddenSize];
    case 'self_attn.k_proj':
    case 'self_attn.v_proj':
      return [keyValue, hiddenSize];
    case 'self_attn.o_proj':
      return [hiddenSize, query];
    case 'mlp.gate_proj':
    case 'mlp.up_proj':
      return [ffnSize, hiddenSize];
    case 'mlp.down_proj':
      return [hiddenSize, ffnSize];
  }
}

const hasBias = (linear: LinearName) =>
  linear === 'self_attn.q_proj' || linear === 'self_attn.k_proj' || linear === 'self_attn.v_proj';

/** Every weight that a model of this configuration has, in a fixed order. */
export function weightSpecs(config: DecoderConfig): WeightSpec[] {
  const { hiddenSize, vocabSize } = config;
  const specs: WeightSpec[] = [{ name: EMBEDDING, shape: [vocabSize, hiddenSize], role: 'embedding' }];
  for (let layer = 0; layer < config.layers; layer++) {
    const norm = (part: string) => specs.push({ name: layerWeight(layer, part), shape: [hiddenSize], role: 'norm' });
    const linear = (part: LinearName) => {
      const shape = linearShape(config, part);
      specs.push({ name: layerWeight(layer, `${part}.weight`), shape, role: 'linear' });
      if (hasBias(part)) specs.push({ name: layerWeight(layer, `${part}.bias`), shape: [shape[0]], role: 'bias' });
    };
    norm('input_layernorm.weight');
    for (const part of LAYER_LINEARS.slice(0, 4)) linear(part);
    norm('post_attention_layernorm.weight');
    for (const part of LAYER_LINEARS.slice(4)) linear(part);
  }
  specs.push({ name: FINAL_NORM, shape: [hiddenSize], role: 'norm' });
  return specs;
}

/** Number of parameters; a tied embedding counts once. */
export function parameterCount(config: DecoderConfig): number {
  return weightSpecs(config).reduce((sum, spec) => sum + spec.shape.reduce((product, n) => product * n, 1), 0);
}

/**
 * Fresh weights: normal with standard deviation `spread`, the two maps that write into the residual stream
 * (`o_proj`, `down_proj`) divided by √(2·layers) as in GPT-2 (Radford et al. 2019), biases 0, norm gains 1.
 * The same seed gives the same weights, and a weight does not depend on which others the model has.
 */
export function initialWeights(config: DecoderConfig, seed: number, spread = 0.02): Weights {
  const residualScale = 1 / Math.sqrt(2 * config.layers);
  const weights = new Map<string, DenseTensor>();
  for (const { name, shape, role } of weightSpecs(config)) {
    const data = new Float32Array(shape.reduce((product, n) => product * n, 1));
    if (role === 'norm') data.fill(1);
    else if (role !== 'bias') {
      const stream = randomStream(seed, 'weights', name);
      const writesResidual = name.endsWith('o_proj.weight') || name.endsWith('down_proj.weight');
      const deviation = writesResidual ? spread * residualScale : spread;
      for (let i = 0; i < data.length; i++) data[i] = deviation * stream.nextNormal();
    }
    weights.set(name, { shape, data });
  }
  return weights;
}

/** Weights that no model of the configuration can have. */
export class UnfitWeightsError extends Error {
  override readonly name = 'UnfitWeightsError';
}

/** The first contradiction between weights and configuration (missing, misshapen, not finite), or null. */
export function weightsThatDoNotFit(config: DecoderConfig, weights: Weights): string | null {
  for (const { name, shape } of weightSpecs(config)) {
    const tensor = weights.get(name);
    if (!tensor) return `the weight ${name} is missing`;
    if (tensor.shape.length !== shape.length || tensor.shape.some((size, i) => size !== shape[i])) {
      return `the weight ${name} has shape [${tensor.shape.join(', ')}] where config.json asks for [${shape.join(', ')}]`;
    }
    const bad = firstNotFinite(tensor.data);
    if (bad >= 0) return `the weight ${name} holds ${tensor.data[bad]} at element ${bad}`;
  }
  return null;
}

/** Index of the first NaN or infinity, or −1. */
export function firstNotFinite(values: ArrayLike<number>): number {
  for (let i = 0; i < values.length; i++) if (!Number.isFinite(values[i])) return i;
  return -1;
}
