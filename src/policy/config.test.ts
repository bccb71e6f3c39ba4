import { describe, expect, it } from 'vitest';
import type { DecoderConfig } from '../gpu/decoder.ts';
import { modelConfigJson, parseModelConfig } from './config.ts';
import { ModelFileError } from './model-file-error.ts';
import { initialWeights, parameterCount, weightSpecs, weightsThatDoNotFit } from './weights.ts';

const config: DecoderConfig = {
  hiddenSize: 64,
  layers: 2,
  heads: 4,
  kvHeads: 2,
  headSize: 16,
  ffnSize: 192,
  vocabSize: 145,
  contextLength: 256,
  ropeTheta: 10000,
  normEpsilon: 1e-6,
};

describe('model configuration', () => {
  it('comes back from config.json unchanged', () => {
    expect(parseModelConfig(modelConfigJson(config, { pad: 0, end: 1 }))).toEqual(config);
  });

  it('reads what other Qwen2 models leave out', () => {
    const { num_key_value_heads, head_dim, rms_norm_eps, ...rest } = JSON.parse(
      modelConfigJson(config, { pad: 0, end: 1 }),
    );
    expect([num_key_value_heads, head_dim, rms_norm_eps]).toEqual([2, 16, 1e-6]);
    expect(parseModelConfig(JSON.stringify(rest))).toEqual({ ...config, kvHeads: 4 });
  });

  it.each([
    ['no JSON', '{"model_type":', 'not valid JSON'],
    ['another architecture', JSON.stringify({ model_type: 'llama' }), 'model_type'],
    ['a list', '[]', 'does not fit'],
    ['sizes that do not divide', changed({ hidden_size: 66, head_dim: null }), 'not a multiple of num_attention_heads'],
    ['heads that do not share keys evenly', changed({ num_key_value_heads: 3 }), 'num_key_value_heads'],
    ['an odd head', changed({ head_dim: 15 }), 'odd'],
    ['a size without bound', changed({ vocab_size: 1e12 }), 'vocab_size'],
    ['an output head of its own', changed({ tie_word_embeddings: false }), 'tie_word_embeddings'],
    ['a fraction', changed({ num_hidden_layers: 1.5 }), 'num_hidden_layers'],
  ])('refuses %s in one sentence', (_, text, reason) => {
    expect(() => parseModelConfig(text)).toThrow(ModelFileError);
    expect(() => parseModelConfig(text)).toThrow(/^config\.json: .*\.$/);
    expect(() => parseModelConfig(text)).toThrow(reason);
  });

  it('never throws anything else on damaged text', () => {
    const text = modelConfigJson(config, { pad: 0, end: 1 });
    for (let i = 0; i < text.length; i++) {
      for (const damaged of [text.slice(0, i), text.slice(0, i) + '9' + text.slice(i + 1)]) {
        try {
          parseModelConfig(damaged);
        } catch (error) {
          expect(error).toBeInstanceOf(ModelFileError);
        }
      }
    }
  });
});

describe('weights', () => {
  it('have the names and shapes of Qwen2', () => {
    const names = weightSpecs(config).map((spec) => `${spec.name} ${spec.shape.join('x')}`);
    expect(names).toContain('model.embed_tokens.weight 145x64');
    expect(names).toContain('model.layers.1.self_attn.k_proj.weight 32x64');
    expect(names).toContain('model.layers.0.self_attn.v_proj.bias 32');
    expect(names).toContain('model.layers.0.mlp.down_proj.weight 64x192');
    expect(names).toContain('model.norm.weight 64');
    expect(names.some((name) => name.startsWith('lm_head'))).toBe(false);
    expect(parameterCount(config)).toBe(108_160);
  });

  it('start from a seed alone', () => {
    const small = { ...config, hiddenSize: 8, headSize: 2, ffnSize: 8, vocabSize: 9 };
    expect(initialWeights(small, 7)).toEqual(initialWeights(small, 7));
    expect(initialWeights(small, 7)).not.toEqual(initialWeights(small, 8));
  });

  it('are checked against the configuration', () => {
    const weights = new Map(initialWeights(config, 7));
    expect(weightsThatDoNotFit(config, weights)).toBeNull();
    const gain = weights.get('model.norm.weight')!;
    weights.set('model.norm.weight', { ...gain, data: Float32Array.from(gain.data).fill(NaN, 3, 4) });
    expect(weightsThatDoNotFit(config, weights)).toBe('the weight model.norm.weight holds NaN at element 3');
    weights.delete('model.norm.weight');
    expect(weightsThatDoNotFit(config, weights)).toBe('the weight model.norm.weight is missing');
    expect(weightsThatDoNotFit({ ...config, vocabSize: 146 }, weights)).toMatch(/\[145, 64\].*\[146, 64\]/);
  });
});

function changed(fields: Record<string, unknown>): string {
  return JSON.stringify({ ...JSON.parse(modelConfigJson(config, { pad: 0, end: 1 })), ...fields });
}
