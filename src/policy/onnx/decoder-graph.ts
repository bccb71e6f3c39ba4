import type { DecoderConfig, LinearName, ModelWeights } from '../../gpu/decoder.ts';
import { BLOCK, blocksPerRow, type QuantizedMatrix } from '../../gpu/quantized.ts';
import { isQuantized, zeroPointBytesPerRow } from '../quantization.ts';
import { EMBEDDING, FINAL_NORM, layerWeight } from '../weights.ts';
import { GraphBuilder, MICROSOFT_DOMAIN } from './graph.ts';

const microsoft = { domain: MICROSOFT_DOMAIN } as const;

// Added to the score of a padded column: far below any score, and finite, so that a row of padding alone has a softmax.
const MASKED = -1e9;

/**
 * The decoder as an ONNX graph with the inputs and outputs that Transformers.js and Optimum expect: `input_ids`,
 * `attention_mask`, `position_ids`, `past_key_values.{i}.key|value` → `logits`, `present.{i}.key|value`. The names of free
 * dimensions matter too: Transformers.js makes an empty cache from `batch_size`.
 * Dense weights keep Hugging Face's names and [outputs, inputs] order; a quantized weight W is three constants,
 * `W_Q4` or `W_Q8` (codes), `W_scales` and `W_zero_points`.
 *
 * Attention is one GroupQueryAttention per layer. It is told that every row is as long as the mask, and padding is taken
 * out by a bias on the scores, so that padded prompts come out right. Rotary positions are nodes of their own because
 * the attention node counts positions by column in a prompt and by `position_ids` behind it, which differ where a prompt
 * is padded.
 */
export function decoderGraph(config: DecoderConfig, weights: ModelWeights): GraphBuilder {
  const g = new GraphBuilder();
  const cache = ['batch_size', config.kvHeads, 'past_sequence_length', config.headSize];
  const ids = g.input('input_ids', 'int64', ['batch_size', 'sequence_length']);
  const mask = g.input('attention_mask', 'int64', ['batch_size', 'total_sequence_length']);
  const positions = g.input('position_ids', 'int64', ['batch_size', 'sequence_length']);
  for (let i = 0; i < config.layers; i++) {
    g.input(`past_key_values.${i}.key`, 'float32', cache);
    g.input(`past_key_values.${i}.value`, 'float32', cache);
  }

  const attention = sharedByLayers(g, config, ids, mask);
  let hidden = embeddingLookup(g, config, weights, ids);
  // The residual stream before the norm that is due; each norm adds the last branch to it.
  let normed = firstNorm(g, config, hidden, dense(g, weights, layerWeight(0, 'input_layernorm.weight')));

  const addAndNorm = (branch: string, gain: string): void => {
    const name = gain.slice(0, -'.weight'.length);
    const sum = `${name}.residual`;
    normed = g.node(name, 'SkipSimplifiedLayerNormalization', [hidden, branch, dense(g, weights, gain)], {
      ...microsoft,
      attributes: { epsilon: { float: config.normEpsilon } },
      outputs: [name, '', '', sum],
    });
    hidden = sum;
  };

  for (let layer = 0; layer < config.layers; layer++) {
    const linear = (part: LinearName, input: string) => linearMap(g, weights, layerWeight(layer, part), input);
    const rotated = (part: LinearName, heads: number) =>
      g.node(
        `${layerWeight(layer, part)}.rotated`,
        'RotaryEmbedding',
        [linear(part, normed), positions, attention.cosines, attention.sines],
        { ...microsoft, attributes: { num_heads: heads, rotary_embedding_dim: config.headSize, interleaved: 0 } },
      );
    const name = layerWeight(layer, 'self_attn');
    g.node(
      name,
      'GroupQueryAttention',
      [
        rotated('self_attn.q_proj', config.heads),
        rotated('self_attn.k_proj', config.kvHeads),
        linear('self_attn.v_proj', normed),
        `past_key_values.${layer}.key`,
        `past_key_values.${layer}.value`,
        attention.lastIndex,
        attention.length,
        ...['', '', ''],
        attention.bias,
      ],
      {
        ...microsoft,
        attributes: {
          num_heads: config.heads,
          kv_num_heads: config.kvHeads,
          scale: { float: 1 / Math.sqrt(config.headSize) },
        },
        outputs: [name, `present.${layer}.key`, `present.${layer}.value`],
      },
    );
    addAndNorm(linear('self_attn.o_proj', name), layerWeight(layer, 'post_attention_layernorm.weight'));

    // SwiGLU: down(silu(gate(x)) · up(x)), silu(x) = x · sigmoid(x)
    const mlp = (part: string) => layerWeight(layer, `mlp.${part}`);
    const gate = linear('mlp.gate_proj', normed);
    const up = linear('mlp.up_proj', normed);
    const silu = g.node(mlp('silu'), 'Mul', [gate, g.node(mlp('sigmoid'), 'Sigmoid', [gate])]);
    const down = linear('mlp.down_proj', g.node(mlp('gated'), 'Mul', [silu, up]));
    const next = layer + 1;
    addAndNorm(down, next < config.layers ? layerWeight(next, 'input_layernorm.weight') : FINAL_NORM);
  }

  // The output head is the embedding, which is in the graph already.
  matmul(g, weights, EMBEDDING, normed, 'logits', true);
  g.output('logits', 'float32', ['batch_size', 'sequence_length', config.vocabSize]);
  for (let i = 0; i < config.layers; i++) {
    for (const part of ['key', 'value']) {
      g.output(`present.${i}.${part}`, 'float32', [
        'batch_size',
        config.kvHeads,
        'total_sequence_length',
        config.headSize,
      ]);
    }
  }
  return g;
}

/** What every attention node takes besides its own q, k, v: lengths, rotary tables, and the bias that hides padding. */
function sharedByLayers(g: GraphBuilder, config: DecoderConfig, ids: string, mask: string) {
  const half = config.headSize / 2;
  const cosines = new Float32Array(config.contextLength * half);
  const sines = new Float32Array(config.contextLength * half);
  for (let position = 0; position < config.contextLength; position++) {
    for (let i = 0; i < half; i++) {
      const angle = position * config.ropeTheta ** (-i / half);
      cosines[position * half + i] = Math.cos(angle);
      sines[position * half + i] = Math.sin(angle);
    }
  }
  const table = [config.contextLength, half];

  const one = g.integers('one', [1]);
  const batch = g.node('batch', 'Shape', [ids], { attributes: { start: 0, end: 1 } });
  const sequence = g.node('sequence', 'Shape', [ids], { attributes: { start: 1, end: 2 } });
  const total = g.node('total_sequence', 'Shape', [mask], { attributes: { start: 1, end: 2 } });
  const int32 = { attributes: { to: 6 } };
  const last = g.node('last_index_long', 'Sub', [total, one]);
  const lastIndex = g.node('last_index_of_rows', 'Expand', [g.node('last_index', 'Cast', [last], int32), batch]);
  const scalarShape = g.integers('scalar_shape', []);
  const length = g.node('total_length', 'Cast', [g.node('total_scalar', 'Reshape', [total, scalarShape])], int32);

  // (mask − 1) · 1e9 as [batch, 1, sequence, total]: 0 where a column is a token, −1e9 where it is padding.
  const columns = g.node('mask_columns', 'Unsqueeze', [mask, g.integers('mask_axes', [1, 2])]);
  const asFloat = g.node('mask_float', 'Cast', [columns], { attributes: { to: 1 } });
  const minusOne = g.node('mask_below', 'Sub', [
    asFloat,
    g.constant('one_float', 'float32', [], new Float32Array([1])),
  ]);
  const scaled = g.node('mask_bias', 'Mul', [
    minusOne,
    g.constant('mask_scale', 'float32', [], new Float32Array([-MASKED])),
  ]);
  const biasShape = g.node('mask_shape', 'Concat', [batch, one, sequence, total], { attributes: { axis: 0 } });
  return {
    cosines: g.constant('rotary_cosines', 'float32', table, cosines),
    sines: g.constant('rotary_sines', 'float32', table, sines),
    /** int32 [batch]: index of the last column, the same for every row */
    lastIndex,
    /** int32 scalar */
    length,
    bias: g.node('attention_bias', 'Expand', [scaled, biasShape]),
  };
}

/**
 * RMSNorm, x / √(mean x² + ε) · gain, from standard operators: ONNX Runtime fuses them when it loads the file, and
 * `onnx.checker` does not know the fused operator, which has no name in ONNX at this opset.
 */
function firstNorm(g: GraphBuilder, config: DecoderConfig, input: string, gain: string): string {
  const at = (part: string) => `model.layers.0.input_layernorm.${part}`;
  const scalar = (part: string, value: number) => g.constant(at(part), 'float32', [], new Float32Array([value]));
  const squares = g.node(at('squares'), 'Pow', [input, scalar('two', 2)]);
  const mean = g.node(at('mean_square'), 'ReduceMean', [squares, g.integers(at('axis'), [-1])]);
  const root = g.node(at('root'), 'Sqrt', [
    g.node(at('above_zero'), 'Add', [mean, scalar('epsilon', config.normEpsilon)]),
  ]);
  const normed = g.node(at('normed'), 'Div', [input, root]);
  return g.node('model.layers.0.input_layernorm', 'Mul', [normed, gain]);
}

/**
 * Rows of the embedding. A quantized table is dequantized from constants alone, so ONNX Runtime does it once, when it loads
 * the file, and looks rows up in floats from then on. (GatherBlockQuantized would do without the floats, but the CPU
 * provider in ONNX Runtime Web's WebGPU build, which Transformers.js loads, lacks it in 1.30.)
 */
function embeddingLookup(g: GraphBuilder, config: DecoderConfig, weights: ModelWeights, ids: string): string {
  const weight = weights.get(EMBEDDING)!;
  const name = 'model.embed_tokens';
  if (!isQuantized(weight)) return g.node(name, 'Gather', [dense(g, weights, EMBEDDING), ids]);

  const { rows, columns, bits } = weight;
  const blocks = blocksPerRow(columns);
  const at = (part: string) => `${name}.${part}`;
  const one = (part: string, value: number) => g.integers(at(part), [value]);
  const { codes, scales, zeroPoints } = quantizedConstants(g, EMBEDDING, weight);

  // [rows, blocks, 32] − [rows, blocks, 1]
  const codeValues = unpacked(g, at('codes'), codes, bits, [rows, blocks, BLOCK]);
  let zero: string;
  if (!zeroPoints) {
    zero = g.constant(at('zero_point'), 'float32', [], new Float32Array([2 ** (bits - 1)]));
  } else {
    const perRow = (zeroPointBytesPerRow(columns, bits) * 8) / bits;
    const all = unpacked(g, at('zero_points'), zeroPoints, bits, [rows, perRow]);
    // An odd number of blocks leaves half a byte over.
    const kept =
      perRow === blocks
        ? all
        : g.node(at('zero_points_kept'), 'Slice', [all, one('from', 0), one('blocks', blocks), one('second_axis', 1)]);
    zero = g.node(at('zero_point_column'), 'Unsqueeze', [kept, one('zero_point_axis', 2)]);
  }
  const steps = g.node(at('steps'), 'Sub', [codeValues, zero]);
  const scaleColumn = g.node(at('scale_column'), 'Unsqueeze', [scales, one('scale_axis', 2)]);
  const values = g.node(at('values'), 'Mul', [steps, scaleColumn]);
  let table = g.node(at('table'), 'Reshape', [values, g.integers(at('table_shape'), [rows, blocks * BLOCK])]);
  if (columns % BLOCK !== 0) {
    const bounds = [one('first_column', 0), one('columns', config.hiddenSize), one('column_axis', 1)];
    table = g.node(at('table_cut'), 'Slice', [table, ...bounds]);
  }
  return g.node(name, 'Gather', [table, ids]);
}

/** Packed codes as floats of the given shape. Two codes a byte: high = ⌊byte / 16⌋, low = byte − 16 · high. */
function unpacked(
  g: GraphBuilder,
  name: string,
  bytes: string,
  bits: QuantizedMatrix['bits'],
  shape: readonly number[],
): string {
  const float = g.node(`${name}.float`, 'Cast', [bytes], { attributes: { to: 1 } });
  if (bits === 8) return float;
  const sixteen = g.constant(`${name}.sixteen`, 'float32', [], new Float32Array([16]));
  const high = g.node(`${name}.high`, 'Floor', [g.node(`${name}.shifted`, 'Div', [float, sixteen])]);
  const low = g.node(`${name}.low`, 'Sub', [float, g.node(`${name}.high_part`, 'Mul', [high, sixteen])]);
  const axis = g.integers(`${name}.pair_axis`, [-1]);
  const pairs = [low, high].map((half, i) =>
    g.node(`${name}.${i === 0 ? 'first' : 'second'}`, 'Unsqueeze', [half, axis]),
  );
  const stacked = g.node(`${name}.pairs`, 'Concat', pairs, { attributes: { axis: -1 } });
  return g.node(name, 'Reshape', [stacked, g.integers(`${name}.shape`, shape)]);
}

function linearMap(g: GraphBuilder, weights: ModelWeights, name: string, input: string): string {
  const bias = `${name}.bias`;
  if (!weights.has(bias)) return matmul(g, weights, `${name}.weight`, input, name);
  const product = matmul(g, weights, `${name}.weight`, input, `${name}.product`);
  return g.node(name, 'Add', [product, dense(g, weights, bias)]);
}

/** input [batch, sequence, inputs] times the transpose of the weight [outputs, inputs]. */
function matmul(
  g: GraphBuilder,
  weights: ModelWeights,
  name: string,
  input: string,
  output: string,
  alreadyThere = false,
): string {
  const weight = weights.get(name)!;
  if (!isQuantized(weight)) {
    const matrix = alreadyThere ? name : dense(g, weights, name);
    const transposed = g.node(`${output}.transposed`, 'Transpose', [matrix], { attributes: { perm: [1, 0] } });
    return g.node(output, 'MatMul', [input, transposed]);
  }
  const { codes, scales, zeroPoints } = alreadyThere
    ? quantizedNames(name, weight)
    : quantizedConstants(g, name, weight);
  return g.node(output, 'MatMulNBits', [input, codes, scales, ...(zeroPoints ? [zeroPoints] : [])], {
    ...microsoft,
    // accuracy_level stays at its default 0: level 4 would quantize the activations too.
    attributes: { K: weight.columns, N: weight.rows, bits: weight.bits, block_size: BLOCK },
  });
}

function dense(g: GraphBuilder, weights: ModelWeights, name: string): string {
  const weight = weights.get(name)!;
  if (isQuantized(weight)) throw new TypeError(`decoderGraph: ${name} is quantized but must be dense`);
  return g.constant(name, 'float32', weight.shape, weight.data);
}

export function quantizedNames(name: string, { bits, zeroPoints }: Pick<QuantizedMatrix, 'bits' | 'zeroPoints'>) {
  return {
    codes: `${name}_Q${bits}`,
    scales: `${name}_scales`,
    zeroPoints: zeroPoints ? `${name}_zero_points` : null,
  };
}

function quantizedConstants(g: GraphBuilder, name: string, weight: QuantizedMatrix) {
  const { rows, columns, bits } = weight;
  const blocks = blocksPerRow(columns);
  const names = quantizedNames(name, weight);
  g.constant(names.codes, 'uint8', [rows, blocks, (BLOCK * bits) / 8], weight.codes);
  g.constant(names.scales, 'float32', [rows, blocks], weight.scales);
  if (weight.zeroPoints && names.zeroPoints) {
    g.constant(names.zeroPoints, 'uint8', [rows, zeroPointBytesPerRow(columns, bits)], weight.zeroPoints);
  }
  return names;
}
