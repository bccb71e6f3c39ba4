import { equals, fromBinary } from '@bufbuild/protobuf';
import { ModelProtoSchema, NodeProtoSchema, type GraphProto, type ModelProto, type TensorProto } from 'onnx-buf';
import type { DecoderConfig, DenseTensor, ModelWeights } from '../../gpu/decoder.ts';
import { ModelFileError } from '../model-file-error.ts';
import { BLOCK, blocksPerRow, type QuantizedMatrix } from '../../gpu/quantized.ts';
import { isQuantized, zeroPointBytesPerRow } from '../quantization.ts';
import { firstNotFinite, UnfitWeightsError, weightSpecs, type WeightSpec } from '../weights.ts';
import { decoderGraph, quantizedNames } from './decoder-graph.ts';
import { elementTypes, IR_VERSION, MICROSOFT_DOMAIN, MICROSOFT_OPSET, OPSET, type ElementType } from './graph.ts';

/**
 * The bytes of an ONNX file with the decoder and its weights; `decoderGraph` says what is in it.
 * @throws UnfitWeightsError when a weight is missing, misshapen or not finite.
 */
export function writeDecoder(config: DecoderConfig, weights: ModelWeights): Uint8Array<ArrayBuffer> {
  for (const spec of weightSpecs(config)) {
    const weight = weights.get(spec.name);
    const misfit = weight ? storedWeightThatDoesNotFit(spec, weight) : `the weight ${spec.name} is missing`;
    if (misfit) throw new UnfitWeightsError(`This model cannot be written: ${misfit}.`);
  }
  return decoderGraph(config, weights).file('decoder');
}

/**
 * Reads the weights of a decoder from an ONNX file. The graph must be the one that `writeDecoder` writes for the
 * configuration, node for node: whoever runs these weights with another engine computes what the file says.
 *
 * @param file the name that an error message carries.
 * @throws ModelFileError naming the file and what is wrong with it; damaged bytes never end in anything else.
 */
export function readDecoder(bytes: Uint8Array, config: DecoderConfig, file: string): ModelWeights {
  const fail = (reason: string, cause?: unknown): never => {
    throw new ModelFileError(file, reason, cause === undefined ? undefined : { cause });
  };
  if (bytes.length === 0) return fail('it is missing or empty');
  let model: ModelProto;
  try {
    model = fromBinary(ModelProtoSchema, bytes);
  } catch (cause) {
    return fail('it is not an ONNX file, or it was cut short', cause);
  }
  const graph = model.graph;
  if (!graph || graph.node.length === 0) return fail('it holds no graph, so it is not an ONNX file or was cut short');
  const versions = versionsThatDoNotFit(model);
  if (versions) return fail(versions);

  if (model.functions.length > 0) return fail('it defines operators of its own, which this program does not run');

  const tensors = new Map<string, TensorProto>();
  for (const tensor of graph.initializer) {
    if (tensors.has(tensor.name)) return fail(`it holds the tensor ${tensor.name} twice`);
    tensors.set(tensor.name, tensor);
  }
  const unknown = graph.node.find((node) => !knownOperators.has(`${node.domain}:${node.opType}`));
  if (unknown)
    return fail(`its node ${unknown.name} uses the operator ${unknown.opType}, which this program does not know`);

  try {
    const weights = new Map<string, DenseTensor | QuantizedMatrix>();
    for (const spec of weightSpecs(config)) {
      const weight = readWeight(spec, tensors);
      const misfit = storedWeightThatDoesNotFit(spec, weight);
      if (misfit) return fail(misfit);
      weights.set(spec.name, weight);
    }
    const difference = firstDifference(decoderGraph(config, weights).graph('decoder'), graph, tensors);
    if (difference) return fail(`its graph is not the decoder that config.json describes (${difference})`);
    return weights;
  } catch (error) {
    if (error instanceof TensorError) return fail(error.message);
    throw error;
  }
}

/** Operators that `decoderGraph` can write. */
const knownOperators = new Set([
  ...'Add Cast Concat Div Expand Floor Gather MatMul Mul Pow ReduceMean Reshape Shape Sigmoid Slice Sqrt Sub Transpose Unsqueeze'
    .split(' ')
    .map((name) => `:${name}`),
  ...'GroupQueryAttention MatMulNBits RotaryEmbedding SkipSimplifiedLayerNormalization'
    .split(' ')
    .map((name) => `${MICROSOFT_DOMAIN}:${name}`),
]);

function versionsThatDoNotFit(model: ModelProto): string | null {
  // Python's onnx writes the default domain as '' or 'ai.onnx'.
  const version = (...domains: string[]) => model.opsetImport.find((set) => domains.includes(set.domain))?.version;
  const standard = version('', 'ai.onnx');
  if (standard !== BigInt(OPSET)) return `it uses ONNX opset ${standard ?? 'none'} where this program reads ${OPSET}`;
  const microsoft = version(MICROSOFT_DOMAIN);
  if (microsoft !== BigInt(MICROSOFT_OPSET)) {
    return `it uses ${MICROSOFT_DOMAIN} opset ${microsoft ?? 'none'} where this program reads ${MICROSOFT_OPSET}`;
  }
  if (model.irVersion > BigInt(IR_VERSION)) {
    return `it uses ONNX format version ${model.irVersion} where this program reads up to ${IR_VERSION}`;
  }
  return null;
}

/** A tensor that is not what the weight of its name must be; becomes a ModelFileError at the door. */
class TensorError extends Error {}

function readWeight(
  { name, shape, role }: WeightSpec,
  tensors: ReadonlyMap<string, TensorProto>,
): DenseTensor | QuantizedMatrix {
  const dense = tensors.get(name);
  if (dense) return { shape: sizes(dense), data: new Float32Array(rawData(dense, 'float32').buffer) };
  const bits = ([4, 8] as const).find((width) =>
    tensors.has(quantizedNames(name, { bits: width, zeroPoints: null }).codes),
  );
  if (!bits || (role !== 'linear' && role !== 'embedding')) throw new TensorError(`the weight ${name} is missing`);
  return readQuantized(name, shape[0]!, shape[1]!, bits, tensors);
}

function readQuantized(
  name: string,
  rows: number,
  columns: number,
  bits: QuantizedMatrix['bits'],
  tensors: ReadonlyMap<string, TensorProto>,
): QuantizedMatrix {
  const names = quantizedNames(name, { bits, zeroPoints: new Uint8Array(0) });
  const blocks = blocksPerRow(columns);
  const read = (tensorName: string, type: ElementType, shape: readonly number[]) => {
    const tensor = tensors.get(tensorName);
    if (!tensor) throw new TensorError(`the tensor ${tensorName} is missing`);
    const found = sizes(tensor);
    if (found.join() !== shape.join()) {
      throw new TensorError(
        `the tensor ${tensorName} has shape [${found.join(', ')}] where config.json asks for [${shape.join(', ')}]`,
      );
    }
    return rawData(tensor, type);
  };
  const hasZeroPoints = tensors.has(names.zeroPoints!);
  return {
    bits,
    rows,
    columns,
    codes: read(names.codes, 'uint8', [rows, blocks, (BLOCK * bits) / 8]),
    scales: new Float32Array(read(names.scales, 'float32', [rows, blocks]).buffer),
    zeroPoints: hasZeroPoints ? read(names.zeroPoints!, 'uint8', [rows, zeroPointBytesPerRow(columns, bits)]) : null,
  };
}

function storedWeightThatDoesNotFit({ name, shape }: WeightSpec, weight: DenseTensor | QuantizedMatrix): string | null {
  const found = isQuantized(weight) ? [weight.rows, weight.columns] : weight.shape;
  if (found.join() !== shape.join()) {
    return `the weight ${name} has shape [${found.join(', ')}] where config.json asks for [${shape.join(', ')}]`;
  }
  const values = isQuantized(weight) ? weight.scales : weight.data;
  const bad = firstNotFinite(values);
  return bad < 0 ? null : `the weight ${name} holds ${values[bad]}`;
}

function sizes(tensor: TensorProto): number[] {
  return tensor.dims.map(Number);
}

/** A copy of a tensor's bytes, in a buffer of its own, after checking that they are what type and shape say. */
function rawData(tensor: TensorProto, type: ElementType): Uint8Array<ArrayBuffer> {
  const { onnx, bytes } = elementTypes[type];
  if (tensor.dataType !== onnx) throw new TensorError(`the tensor ${tensor.name} does not hold ${type} values`);
  const wanted = sizes(tensor).reduce((product, size) => product * size, bytes);
  if (tensor.rawData.length !== wanted) {
    throw new TensorError(
      `the tensor ${tensor.name} has ${tensor.rawData.length} bytes of raw data where its shape asks for ${wanted}`,
    );
  }
  return tensor.rawData.slice();
}

/** In words, the first place where a graph departs from the expected one; null where it does not. */
function firstDifference(
  expected: GraphProto,
  found: GraphProto,
  tensors: ReadonlyMap<string, TensorProto>,
): string | null {
  for (const [kind, wanted, given] of [
    ['input', expected.input, found.input],
    ['output', expected.output, found.output],
  ] as const) {
    const names = (list: typeof wanted) => list.map((value) => value.name).join(', ');
    if (names(wanted) !== names(given)) return `its ${kind}s are ${names(given)} where ${names(wanted)} were expected`;
  }
  for (let i = 0; i < Math.max(expected.node.length, found.node.length); i++) {
    const wanted = expected.node[i];
    const given = found.node[i];
    if (!wanted) return `the node ${given!.name} is one too many`;
    if (!given) return `the node ${wanted.name} is missing`;
    if (!equals(NodeProtoSchema, wanted, given)) return `the node ${given.name} is not the expected ${wanted.name}`;
  }
  for (const wanted of expected.initializer) {
    const given = tensors.get(wanted.name);
    if (!given) return `the tensor ${wanted.name} is missing`;
    if (sizes(given).join() !== sizes(wanted).join() || given.dataType !== wanted.dataType) {
      return `the tensor ${wanted.name} has another shape or type`;
    }
    if (!closeEnough(wanted, given)) return `the tensor ${wanted.name} has other values`;
  }
  return null;
}

// Rotary tables come from Math.cos and Math.sin, whose last bit may differ between JavaScript engines.
const TABLE_TOLERANCE = 1e-6;

function closeEnough(wanted: TensorProto, given: TensorProto): boolean {
  if (wanted.dataType !== elementTypes.float32.onnx) {
    return (
      wanted.rawData.length === given.rawData.length && wanted.rawData.every((byte, i) => byte === given.rawData[i])
    );
  }
  const a = new Float32Array(rawData(wanted, 'float32').buffer);
  const b = new Float32Array(rawData(given, 'float32').buffer);
  return a.every((value, i) => Math.abs(value - b[i]!) <= TABLE_TOLERANCE * Math.max(1, Math.abs(value)));
}
