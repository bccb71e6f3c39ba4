import type { ModelConfig } from './config.ts';
import { dequantize, quantize, type QuantizedMatrix, type QuantizeOptions } from './quantization.ts';
import { UnfitWeightsError, weightSpecs, weightsThatDoNotFit, type Tensor, type Weights } from './weights.ts';

/** A weight as a file holds it: dense, or cut into quantized blocks. */
export type StoredWeight = Tensor | QuantizedMatrix;

/** All weights of a model as its file holds them, by their Qwen2 names; norms and biases are always dense. */
export type StoredWeights = ReadonlyMap<string, StoredWeight>;

export function isQuantized(weight: StoredWeight): weight is QuantizedMatrix {
  return 'codes' in weight;
}

/**
 * Quantizes every matrix, the embedding included; norms and biases stay floats.
 * @throws UnfitWeightsError when a weight is missing, misshapen, NaN or infinite, naming it.
 */
export function quantizeWeights(config: ModelConfig, weights: Weights, options: QuantizeOptions): StoredWeights {
  const misfit = weightsThatDoNotFit(config, weights);
  if (misfit) throw new UnfitWeightsError(`These weights cannot be quantized: ${misfit}.`);
  const stored = new Map<string, StoredWeight>();
  for (const { name, shape, role } of weightSpecs(config)) {
    const tensor = weights.get(name)!;
    const isMatrix = role === 'linear' || role === 'embedding';
    stored.set(name, isMatrix ? quantize(tensor.data, shape[0]!, shape[1]!, options) : tensor);
  }
  return stored;
}

/** The floats that stored weights stand for. */
export function denseWeights(stored: StoredWeights): Weights {
  const weights = new Map<string, Tensor>();
  for (const [name, weight] of stored) {
    weights.set(
      name,
      isQuantized(weight) ? { shape: [weight.rows, weight.columns], data: dequantize(weight) } : weight,
    );
  }
  return weights;
}
