import type { ModelConfig } from '../policy/config.ts';
import { EMBEDDING, FINAL_NORM, layerWeight, OUTPUT_HEAD, type Weights } from '../policy/weights.ts';

/**
 * Logits of one sequence in double precision, written for reading: the oracle that exported files are held against.
 * @returns [tokens, vocabulary] as rows.
 */
export function twinLogits(config: ModelConfig, weights: Weights, tokens: readonly number[]): number[][] {
  const { hiddenSize, headSize, heads, kvHeads } = config;
  const get = (name: string) => weights.get(name)!.data;

  const norm = (x: number[], gain: Float32Array) => {
    const meanSquare = x.reduce((sum, v) => sum + v * v, 0) / x.length;
    return x.map((v, i) => (v / Math.sqrt(meanSquare + config.normEpsilon)) * gain[i]!);
  };
  const linear = (x: number[], name: string) => {
    const { shape, data } = weights.get(`${name}.weight`)!;
    const bias = weights.get(`${name}.bias`)?.data;
    return Array.from({ length: shape[0]! }, (_, row) => {
      let sum = bias?.[row] ?? 0;
      for (let i = 0; i < x.length; i++) sum += data[row * x.length + i]! * x[i]!;
      return sum;
    });
  };
  /** Turns the pairs (i, i + headSize/2) of each head by position · θ^(−2i/headSize). */
  const rotated = (x: number[], position: number) =>
    x.map((value, at) => {
      const i = at % headSize;
      const half = headSize / 2;
      const angle = position * config.ropeTheta ** (-(i % half) / half);
      const partner = i < half ? -x[at + half]! : x[at - half]!;
      return value * Math.cos(angle) + partner * Math.sin(angle);
    });

  let stream = tokens.map((id) => [...get(EMBEDDING).subarray(id * hiddenSize, (id + 1) * hiddenSize)]);
  for (let layer = 0; layer < config.layers; layer++) {
    const at = (part: string) => layerWeight(layer, part);
    const inputs = stream.map((x) => norm(x, get(at('input_layernorm.weight'))));
    const q = inputs.map((x, t) => rotated(linear(x, at('self_attn.q_proj')), t));
    const k = inputs.map((x, t) => rotated(linear(x, at('self_attn.k_proj')), t));
    const v = inputs.map((x) => linear(x, at('self_attn.v_proj')));
    stream = stream.map((x, t) => {
      const mixed: number[] = [];
      for (let head = 0; head < heads; head++) {
        const from = head * headSize;
        const shared = Math.floor(head / (heads / kvHeads)) * headSize;
        const scores = k.slice(0, t + 1).map((key) => {
          let dot = 0;
          for (let i = 0; i < headSize; i++) dot += q[t]![from + i]! * key[shared + i]!;
          return dot / Math.sqrt(headSize);
        });
        const most = Math.max(...scores);
        const weightsOf = scores.map((score) => Math.exp(score - most));
        const total = weightsOf.reduce((sum, w) => sum + w, 0);
        for (let i = 0; i < headSize; i++) {
          mixed.push(weightsOf.reduce((sum, w, s) => sum + (w / total) * v[s]![shared + i]!, 0));
        }
      }
      const attended = linear(mixed, at('self_attn.o_proj')).map((value, i) => value + x[i]!);
      const hidden = norm(attended, get(at('post_attention_layernorm.weight')));
      const gate = linear(hidden, at('mlp.gate_proj'));
      const up = linear(hidden, at('mlp.up_proj'));
      const gated = gate.map((value, i) => (value / (1 + Math.exp(-value))) * up[i]!);
      return linear(gated, at('mlp.down_proj')).map((value, i) => value + attended[i]!);
    });
  }
  const head = (config.tiedEmbedding ? EMBEDDING : OUTPUT_HEAD).slice(0, -'.weight'.length);
  return stream.map((x) => linear(norm(x, get(FINAL_NORM)), head));
}
