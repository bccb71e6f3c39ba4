import { describe, expect, it } from 'vitest';
import { randomWeights } from '../testing/decoders.ts';
import { untrainedPolicy } from '../testing/policy-models.ts';
import { modelFolderFiles, readModelFolder, weightFormats, type ReadFile } from './model-folder.ts';
import { ModelFileError } from './model-file-error.ts';
import { quantizeWeights } from './quantization.ts';
import { Tokenizer } from './tokenizer.ts';

const model = untrainedPolicy('rooms');
const weights = randomWeights(model.config);
const files = modelFolderFiles(model, weights, '# A policy\n');
const folder: ReadFile = async (path) => files.get(path) ?? null;

describe('a model folder', () => {
  it('has the files of a causal language model on Hugging Face', () => {
    expect([...files.keys()].sort()).toEqual([
      'README.md',
      'config.json',
      'generation_config.json',
      'onnx/model.onnx',
      'onnx/model_int8.onnx',
      'onnx/model_q4.onnx',
      'tokenizer.json',
      'tokenizer_config.json',
    ]);
  });

  it('keeps the quantized files small', () => {
    const bytes = (path: string) => files.get(path)!.length;
    expect(bytes('onnx/model_q4.onnx')).toBeLessThan(0.3 * bytes('onnx/model.onnx'));
    expect(bytes('onnx/model_int8.onnx')).toBeLessThan(0.45 * bytes('onnx/model.onnx'));
  });

  it.each(weightFormats)('comes back as it was: %s', async (format) => {
    const read = await readModelFolder(folder, format);
    expect(read.config).toEqual(model.config);
    expect(read.promptFormat).toEqual(model.promptFormat);
    expect([read.environments, read.replyTokens]).toEqual([['rooms'], 32]);
    expect(read.tokenizer.tokens).toEqual(model.tokenizer.tokens);
    const expected =
      format === 'float32'
        ? weights
        : quantizeWeights(model.config, weights, { bits: format === 'q4' ? 4 : 8, zeroPoints: format === 'q4' });
    expect([...read.weights.keys()]).toEqual([...expected.keys()]);
    const name = 'model.layers.1.mlp.down_proj.weight';
    expect(read.weights.get(name)).toEqual(expected.get(name));
  });

  const without =
    (path: string): ReadFile =>
    async (wanted) =>
      wanted === path ? null : folder(wanted);
  const replaced =
    (path: string, content: string | Uint8Array): ReadFile =>
    async (wanted) =>
      wanted !== path ? folder(wanted) : typeof content === 'string' ? new TextEncoder().encode(content) : content;
  const config = (change: object) =>
    JSON.stringify({ ...JSON.parse(new TextDecoder().decode(files.get('config.json'))), ...change });

  it.each<[string, ReadFile, string, string]>([
    ['no configuration', without('config.json'), 'config.json', 'missing'],
    ['no tokenizer', without('tokenizer.json'), 'tokenizer.json', 'missing'],
    ['no weights', without('onnx/model_q4.onnx'), 'onnx/model_q4.onnx', 'missing'],
    [
      'weights cut short',
      replaced('onnx/model_q4.onnx', files.get('onnx/model_q4.onnx')!.subarray(0, 20_000)),
      'onnx/model_q4.onnx',
      'cut short',
    ],
    [
      'the vocabulary of another environment',
      replaced('tokenizer.json', Tokenizer.for('shop').json()),
      'tokenizer.json',
      'where config.json has a vocab_size of 173',
    ],
    [
      'another number of layers',
      replaced('config.json', config({ num_hidden_layers: 3 })),
      'onnx/model_q4.onnx',
      'layers.2',
    ],
    ['no word on prompts', replaced('config.json', config({ hgpo_prompt: undefined })), 'config.json', 'hgpo_prompt'],
    [
      'a history that is too long',
      replaced('config.json', config({ hgpo_prompt: { environments: ['rooms'], history_length: 99 } })),
      'config.json',
      'hgpo_prompt.history_length',
    ],
  ])('with %s is refused in one sentence that names the file', async (_, read, file, reason) => {
    const error: unknown = await readModelFolder(read, 'q4').catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ModelFileError);
    expect((error as ModelFileError).file).toBe(file);
    expect((error as ModelFileError).message).toMatch(/^[^\n]*\.$/);
    expect((error as ModelFileError).message).toContain(reason);
  });
});
