/**
 * Twin of the whole decoder in plain f64: the forward and backward pass as a composition of the kernels' twins. Slow and obvious; the
 * model tests hold the device to it, tensor by tensor.
 */
import type { DecoderConfig, DenseTensor, LinearName, ModelWeights, TrainingMode } from './decoder.ts';
import { attentionBackwardTwin, attentionTwin } from './kernels/attention.ts';
import { embeddingGradientTwin, embeddingTwin } from './kernels/embedding.ts';
import { gatherRowsTwin, inverseIndex } from './kernels/gather-rows.ts';
import { linearBackwardTwin, linearTwin } from './kernels/linear.ts';
import { logSoftmaxBackwardTwin, logSoftmaxTwin, type LogSoftmaxOptions } from './kernels/log-softmax.ts';
import { rmsNormBackwardTwin, rmsNormTwin } from './kernels/rms-norm.ts';
import { rotaryTwin } from './kernels/rotary.ts';
import { swigluBackwardTwin, swigluTwin } from './kernels/swiglu.ts';
import { dequantize } from './quantized.ts';
import type { HeadBatch } from './session.ts';

type Values = ArrayLike<number>;

export interface DecoderTwinOutput {
  /** [responses, vocabulary] */
  readonly logits: Float64Array;
  /** [responses] */
  readonly logProb: Float64Array;
  /** [responses] */
  readonly entropy: Float64Array;
  /** [responses], 0 without a value head */
  readonly value: Float64Array;
  /**
   * Gradients of every trainable weight, by name, from ∂loss/∂(logProb, entropy) [responses, 2] and ∂loss/∂value [responses].
   */
  backward(gradient: Values, valueGradient?: Values): Map<string, Float64Array>;
}

/** Trainable weights by name; weights that are missing here come from `weights`. */
export type TwinWeights = ReadonlyMap<string, { readonly data: Values }>;

/** Runs the decoder on a batch. `trained` overrides `weights` and holds adapters and value head, where there are any. */
export function decoderTwin(
  config: DecoderConfig,
  weights: ModelWeights,
  trained: TwinWeights,
  mode: TrainingMode,
  batch: HeadBatch,
): DecoderTwinOutput {
  const { hiddenSize: width, heads, kvHeads, headSize, ffnSize, vocabSize, normEpsilon, ropeTheta } = config;
  const shape = { heads, kvHeads, headSize };
  const rows = batch.tokens.length;
  const responses = batch.responseIndex.length;
  const cache = new Map<string, Values>();
  const get = (name: string): Values => {
    const own = trained.get(name)?.data;
    if (own) return own;
    let values = cache.get(name);
    if (!values) {
      const stored = weights.get(name)!;
      values = 'codes' in stored ? dequantize(stored) : stored.data;
      cache.set(name, values);
    }
    return values;
  };
  const gradients = new Map<string, Float64Array>();
  const addGradient = (name: string, gradient: Float64Array) => {
    const sum = gradients.get(name);
    gradients.set(name, sum ? sum.map((value, i) => value + gradient[i]!) : gradient);
  };

  const linear = (layer: number, name: LinearName, x: Values, count: number, inner: number, columns: number) => {
    const stem = `model.layers.${layer}.${name}`;
    const a = trained.get(`${stem}.lora_A.weight`)?.data;
    const b = trained.get(`${stem}.lora_B.weight`)?.data;
    const hasBias = /[qkv]_proj$/.test(name);
    const operands = {
      x,
      weight: get(`${stem}.weight`),
      rows: count,
      inner,
      columns,
      bias: hasBias ? get(`${stem}.bias`) : undefined,
      lora:
        a && b && mode.kind === 'lora'
          ? { a, b, rank: mode.rank, scale: mode.alpha / mode.rank, sections: [0] }
          : undefined,
    };
    return {
      y: linearTwin(operands),
      backward(dy: Values): Float64Array {
        const { dx, dWeight, dBias, dA, dB } = linearBackwardTwin(operands, dy);
        addGradient(`${stem}.weight`, dWeight);
        if (hasBias) addGradient(`${stem}.bias`, dBias);
        if (operands.lora) {
          addGradient(`${stem}.lora_A.weight`, dA);
          addGradient(`${stem}.lora_B.weight`, dB);
        }
        return dx;
      },
    };
  };
  const norm = (name: string, x: Values, count: number) => ({
    y: rmsNormTwin(x, get(name), count, width, normEpsilon),
    backward(dy: Values): Float64Array {
      const { dx, dWeight } = rmsNormBackwardTwin(x, get(name), dy, count, width, normEpsilon);
      addGradient(name, dWeight);
      return dx;
    },
  });
  const plus = (a: Values, b: Values) => Float64Array.from(a, (value, i) => value + b[i]!);

  const table = get('model.embed_tokens.weight');
  let x: Float64Array = embeddingTwin(table, batch.tokens, width);
  const backwards: ((dx: Float64Array) => Float64Array)[] = [];
  for (let layer = 0; layer < config.layers; layer++) {
    const input = x;
    const normed = norm(`model.layers.${layer}.input_layernorm.weight`, input, rows);
    const q = linear(layer, 'self_attn.q_proj', normed.y, rows, width, heads * headSize);
    const k = linear(layer, 'self_attn.k_proj', normed.y, rows, width, kvHeads * headSize);
    const v = linear(layer, 'self_attn.v_proj', normed.y, rows, width, kvHeads * headSize);
    const qkv = rotaryTwin(joinRows([q.y, k.y, v.y], rows), batch.sequenceStart, shape, ropeTheta);
    const attended = attentionTwin(qkv, batch.sequenceStart, shape).out;
    const output = linear(layer, 'self_attn.o_proj', attended, rows, heads * headSize, width);
    const middle = plus(input, output.y);
    const normed2 = norm(`model.layers.${layer}.post_attention_layernorm.weight`, middle, rows);
    const gate = linear(layer, 'mlp.gate_proj', normed2.y, rows, width, ffnSize);
    const up = linear(layer, 'mlp.up_proj', normed2.y, rows, width, ffnSize);
    const gateUp = joinRows([gate.y, up.y], rows);
    const down = linear(layer, 'mlp.down_proj', swigluTwin(gateUp, rows, ffnSize), rows, ffnSize, width);
    x = plus(middle, down.y);
    backwards.push((dx) => {
      const dGateUp = swigluBackwardTwin(gateUp, down.backward(dx), rows, ffnSize);
      const [dGate, dUp] = splitRows(dGateUp, [ffnSize, ffnSize], rows) as [Float64Array, Float64Array];
      const dMiddle = plus(dx, normed2.backward(plus(gate.backward(dGate), up.backward(dUp))));
      const dTurned = attentionBackwardTwin(qkv, output.backward(dMiddle), batch.sequenceStart, shape);
      const dQkv = rotaryTwin(dTurned, batch.sequenceStart, shape, ropeTheta, true);
      const [dQ, dK, dV] = splitRows(
        dQkv,
        [heads, kvHeads, kvHeads].map((n) => n * headSize),
        rows,
      ) as [Float64Array, Float64Array, Float64Array];
      return plus(dMiddle, normed.backward(plus(plus(q.backward(dQ), k.backward(dK)), v.backward(dV))));
    });
  }
  const final = norm('model.norm.weight', gatherRowsTwin(x, batch.responseIndex, width), responses);
  const head = { x: final.y, weight: table, rows: responses, inner: width, columns: vocabSize };
  const logits = linearTwin(head);
  const options: LogSoftmaxOptions = {
    rows: responses,
    vocabulary: vocabSize,
    temperature: batch.temperature ?? 1,
    allowed: batch.allowed,
  };
  const { logProb, entropy } = logSoftmaxTwin(logits, batch.targets, options);
  const valueWeight = trained.get('value_head.weight')?.data;
  const valueHead = valueWeight && {
    x: final.y,
    weight: valueWeight,
    rows: responses,
    inner: width,
    columns: 1,
    bias: get('value_head.bias'),
  };
  return {
    logits,
    logProb,
    entropy,
    value: valueHead ? linearTwin(valueHead) : new Float64Array(responses),
    backward(gradient, valueGradient) {
      gradients.clear();
      const dLogits = logSoftmaxBackwardTwin(logits, batch.targets, gradient, options);
      const headBackward = linearBackwardTwin(head, dLogits);
      addGradient('model.embed_tokens.weight', headBackward.dWeight);
      let dHidden: Float64Array = headBackward.dx;
      if (valueHead && valueGradient) {
        const { dx, dWeight, dBias } = linearBackwardTwin(valueHead, valueGradient);
        addGradient('value_head.weight', dWeight);
        addGradient('value_head.bias', dBias);
        dHidden = plus(dHidden, dx);
      }
      let dx: Float64Array = gatherRowsTwin(final.backward(dHidden), inverseIndex(batch.responseIndex, rows), width);
      for (const backward of backwards.toReversed()) dx = backward(dx);
      addGradient('model.embed_tokens.weight', embeddingGradientTwin(dx, batch.tokens, vocabSize, width));
      return new Map(gradients);
    },
  };
}

/** Matrices of the same number of rows, side by side. */
function joinRows(parts: readonly Float64Array[], rows: number): Float64Array {
  const widths = parts.map((part) => part.length / rows);
  const total = widths.reduce((sum, width) => sum + width, 0);
  const joined = new Float64Array(rows * total);
  for (let row = 0; row < rows; row++) {
    let at = row * total;
    parts.forEach((part, p) => {
      joined.set(part.subarray(row * widths[p]!, (row + 1) * widths[p]!), at);
      at += widths[p]!;
    });
  }
  return joined;
}

function splitRows(joined: Float64Array, widths: readonly number[], rows: number): Float64Array[] {
  const total = widths.reduce((sum, width) => sum + width, 0);
  let first = 0;
  return widths.map((width) => {
    const part = new Float64Array(rows * width);
    for (let row = 0; row < rows; row++) {
      part.set(joined.subarray(row * total + first, row * total + first + width), row * width);
    }
    first += width;
    return part;
  });
}

/** Random weights of a decoder, for tests: large enough that every part matters. */
export function randomWeights(config: DecoderConfig, draw: () => number): Map<string, DenseTensor> {
  const { hiddenSize, heads, kvHeads, headSize, ffnSize, vocabSize } = config;
  const weights = new Map<string, DenseTensor>();
  const add = (name: string, shape: readonly number[], spread: number, centre = 0) => {
    const size = shape.reduce((product, n) => product * n, 1);
    weights.set(name, { shape, data: Float32Array.from({ length: size }, () => centre + spread * draw()) });
  };
  add('model.embed_tokens.weight', [vocabSize, hiddenSize], 0.3);
  for (let layer = 0; layer < config.layers; layer++) {
    const stem = `model.layers.${layer}`;
    const linear = (name: string, rows: number, inner: number) => {
      add(`${stem}.${name}.weight`, [rows, inner], 0.7 / Math.sqrt(inner));
    };
    add(`${stem}.input_layernorm.weight`, [hiddenSize], 0.2, 1);
    linear('self_attn.q_proj', heads * headSize, hiddenSize);
    linear('self_attn.k_proj', kvHeads * headSize, hiddenSize);
    linear('self_attn.v_proj', kvHeads * headSize, hiddenSize);
    add(`${stem}.self_attn.q_proj.bias`, [heads * headSize], 0.2);
    add(`${stem}.self_attn.k_proj.bias`, [kvHeads * headSize], 0.2);
    add(`${stem}.self_attn.v_proj.bias`, [kvHeads * headSize], 0.2);
    linear('self_attn.o_proj', hiddenSize, heads * headSize);
    add(`${stem}.post_attention_layernorm.weight`, [hiddenSize], 0.2, 1);
    linear('mlp.gate_proj', ffnSize, hiddenSize);
    linear('mlp.up_proj', ffnSize, hiddenSize);
    linear('mlp.down_proj', hiddenSize, ffnSize);
  }
  add('model.norm.weight', [hiddenSize], 0.2, 1);
  return weights;
}
