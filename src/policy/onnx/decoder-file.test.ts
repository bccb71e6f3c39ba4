import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { FunctionProtoSchema, ModelProtoSchema, type ModelProto } from 'onnx-buf';
import { describe, expect, it } from 'vitest';
import { exportError, oddSizes, randomWeights, shippedSize, storedRandomWeights } from '../../testing/decoders.ts';
import { ModelFileError } from '../model-file-error.ts';
import { quantizeWeights } from '../quantization.ts';
import { UnfitWeightsError } from '../weights.ts';
import { readDecoder, writeDecoder } from './decoder-file.ts';

const formats = ['float32', 'int8', 'q4', 'q4 without zero points'] as const;
const sizes = [
  ['the shipped size', shippedSize],
  ['odd sizes', oddSizes],
] as const;

describe.each(formats)('an exported %s decoder in ONNX Runtime', (format) => {
  it.each(sizes)('gives the logits of the double-precision twin, padded and from its cache: %s', async (_, config) => {
    expect(await exportError(config, storedRandomWeights(config, format))).toBeLessThan(1e-4);
  });

  it.each(sizes)('comes back from its file bit by bit: %s', (_, config) => {
    const weights = storedRandomWeights(config, format);
    const bytes = writeDecoder(config, weights);
    const read = readDecoder(bytes, config, 'model.onnx');
    expect([...read.keys()]).toEqual([...weights.keys()]);
    expect(Buffer.compare(bytes, writeDecoder(config, read))).toBe(0);
  });
});

describe('a decoder file that cannot be used', () => {
  const bytes = writeDecoder(shippedSize, storedRandomWeights(shippedSize, 'q4'));
  const changed = (change: (model: ModelProto) => void): Uint8Array => {
    const model = fromBinary(ModelProtoSchema, bytes.slice());
    change(model);
    return toBinary(ModelProtoSchema, model);
  };
  const tensor = (model: ModelProto, name: string) => model.graph!.initializer.find((entry) => entry.name === name)!;

  it.each<[string, Uint8Array, string]>([
    ['empty', new Uint8Array(0), 'missing or empty'],
    ['no ONNX', new TextEncoder().encode('<!doctype html><title>404</title>'), 'not an ONNX file'],
    ['cut short', bytes.subarray(0, bytes.length >> 1), 'cut short'],
    ['of another opset', changed((model) => (model.opsetImport[0]!.version = 11n)), 'opset 11'],
    ['of another format version', changed((model) => (model.irVersion = 99n)), 'format version 99'],
    ['with an unknown operator', changed((model) => (model.graph!.node[3]!.opType = 'Loop')), 'operator Loop'],
    [
      'with an operator whose name breaks the line',
      changed((model) => (model.graph!.node[3]!.opType = 'A\nB\u2028C')),
      'operator A B C, which',
    ],
    [
      'with an operator redefined',
      changed((model) => {
        const name = 'GroupQueryAttention';
        model.functions.push(create(FunctionProtoSchema, { name, domain: 'com.microsoft' }));
      }),
      'operators of its own',
    ],
    [
      'with other wiring',
      changed((model) => model.graph!.node.find((node) => node.opType === 'Mul')!.input.reverse()),
      'not the decoder',
    ],
    [
      'with another rotary table',
      changed((model) => tensor(model, 'rotary_sines').rawData.fill(0)),
      'rotary_sines has other values',
    ],
    [
      'without a weight',
      changed((model) => (tensor(model, 'model.layers.0.mlp.up_proj.weight_scales').name = 'x')),
      'up_proj.weight_scales is missing',
    ],
    [
      'with NaN',
      changed((model) => tensor(model, 'model.norm.weight').rawData.fill(255, 0, 4)),
      'the weight model.norm.weight holds NaN',
    ],
    [
      'with NaN among the scales',
      changed((model) => tensor(model, 'model.layers.1.mlp.up_proj.weight_scales').rawData.fill(255)),
      'the weight model.layers.1.mlp.up_proj.weight holds NaN',
    ],
    [
      'with missing bytes',
      changed((model) => (tensor(model, 'model.norm.weight').rawData = new Uint8Array(8))),
      '8 bytes of raw data where its shape asks for 256',
    ],
  ])('%s is refused in one sentence', (_, damaged, reason) => {
    const read = () => readDecoder(damaged, shippedSize, 'onnx/model_q4.onnx');
    expect(read).toThrow(ModelFileError);
    expect(read).toThrow(/^onnx\/model_q4\.onnx: [^\n]*\.$/);
    expect(read).toThrow(reason);
  });

  it('does not fit another vocabulary', () => {
    expect(() => readDecoder(bytes, { ...shippedSize, vocabSize: 146 }, 'onnx/model_q4.onnx')).toThrow(
      'model.embed_tokens.weight_Q4 has shape [145, 2, 16] where config.json asks for [146, 2, 16]',
    );
  });

  it('never ends in anything but a ModelFileError, whatever the damage', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 }),
        fc.nat(bytes.length),
        (edits, cut) => {
          const damaged = bytes.slice();
          for (const [at, value] of edits) damaged[at] = value;
          for (const candidate of [damaged, damaged.subarray(0, cut)]) {
            try {
              readDecoder(candidate, shippedSize, 'm.onnx');
            } catch (error) {
              expect(error).toBeInstanceOf(ModelFileError);
            }
          }
        },
      ),
      { numRuns: process.env.HGPO_LONG ? 20_000 : 150 },
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (noise) => {
        expect(() => readDecoder(noise, shippedSize, 'm.onnx')).toThrow(ModelFileError);
      }),
      { numRuns: process.env.HGPO_LONG ? 20_000 : 1000 },
    );
  });

  it('is never written: weights with NaN, or of another size, are refused', () => {
    const weights = new Map(randomWeights(shippedSize));
    const gain = weights.get('model.norm.weight')!;
    weights.set('model.norm.weight', { ...gain, data: new Float32Array(64).fill(NaN) });
    expect(() => writeDecoder(shippedSize, weights)).toThrow(UnfitWeightsError);
    expect(() => quantizeWeights(shippedSize, weights, { bits: 4, zeroPoints: true })).toThrow(UnfitWeightsError);
    weights.delete('model.norm.weight');
    expect(() => writeDecoder(shippedSize, weights)).toThrow('the weight model.norm.weight is missing');
    expect(() => writeDecoder({ ...shippedSize, vocabSize: 146 }, randomWeights(shippedSize))).toThrow('[146, 64]');
  });
});
