import { create, toBinary } from '@bufbuild/protobuf';
import {
  AttributeProto_AttributeType,
  AttributeProtoSchema,
  GraphProtoSchema,
  ModelProtoSchema,
  NodeProtoSchema,
  TensorProto_DataType,
  TensorProtoSchema,
  ValueInfoProtoSchema,
  type AttributeProto,
  type GraphProto,
  type ModelProto,
  type NodeProto,
  type TensorProto,
  type ValueInfoProto,
} from 'onnx-buf';

// What we write and accept: old enough for every ONNX Runtime since 1.20, new enough for all operators used here.
export const IR_VERSION = 10;
export const OPSET = 21;
export const MICROSOFT_DOMAIN = 'com.microsoft';
export const MICROSOFT_OPSET = 1;

export type ElementType = 'float32' | 'uint8' | 'int32' | 'int64';

export const elementTypes: Record<ElementType, { readonly onnx: TensorProto_DataType; readonly bytes: number }> = {
  float32: { onnx: TensorProto_DataType.FLOAT, bytes: 4 },
  uint8: { onnx: TensorProto_DataType.UINT8, bytes: 1 },
  int32: { onnx: TensorProto_DataType.INT32, bytes: 4 },
  int64: { onnx: TensorProto_DataType.INT64, bytes: 8 },
};

/** Whole numbers become `int` (or `ints`) attributes; a float attribute is written as `{ float: x }`. */
export type Attribute = number | readonly number[] | string | { readonly float: number };

export interface NodeOptions {
  /** Operator set; left out it is ONNX's own. */
  readonly domain?: typeof MICROSOFT_DOMAIN;
  readonly attributes?: Readonly<Record<string, Attribute>>;
  /** Names of the results; '' leaves an optional one out. Default: one result with the node's name. */
  readonly outputs?: readonly string[];
}

/** Puts an ONNX graph together, one value after the other; every method returns the name of the value it adds. */
export class GraphBuilder {
  private readonly nodes: NodeProto[] = [];
  private readonly initializers: TensorProto[] = [];
  private readonly inputs: ValueInfoProto[] = [];
  private readonly outputs: ValueInfoProto[] = [];

  /** A graph input. A dimension that is a word (`'batch'`) is free. */
  input(name: string, type: ElementType, dims: readonly (number | string)[]): string {
    this.inputs.push(valueInfo(name, type, dims));
    return name;
  }

  /** Declares a value as a graph output. */
  output(name: string, type: ElementType, dims: readonly (number | string)[]): string {
    this.outputs.push(valueInfo(name, type, dims));
    return name;
  }

  /** A constant tensor. */
  constant(name: string, type: ElementType, dims: readonly number[], data: ArrayBufferView): string {
    const rawData = littleEndianBytes(data);
    this.initializers.push(
      create(TensorProtoSchema, { name, dataType: elementTypes[type].onnx, dims: dims.map(BigInt), rawData }),
    );
    return name;
  }

  /** A constant list of whole numbers, as shapes, axes and bounds are given. */
  integers(name: string, values: readonly number[]): string {
    return this.constant(name, 'int64', [values.length], BigInt64Array.from(values, BigInt));
  }

  /** An operator applied to values; '' leaves an optional input out. */
  node(name: string, opType: string, inputs: readonly string[], options: NodeOptions = {}): string {
    const output = [...(options.outputs ?? [name])];
    this.nodes.push(
      create(NodeProtoSchema, {
        name,
        opType,
        ...(options.domain ? { domain: options.domain } : {}),
        input: [...inputs],
        output,
        attribute: Object.entries(options.attributes ?? {}).map(attribute),
      }),
    );
    return output[0]!;
  }

  graph(name: string): GraphProto {
    return create(GraphProtoSchema, {
      name,
      node: this.nodes,
      initializer: this.initializers,
      input: this.inputs,
      output: this.outputs,
    });
  }

  /** The bytes of an ONNX file. */
  file(name: string, metadata: Readonly<Record<string, string>> = {}): Uint8Array<ArrayBuffer> {
    return new Uint8Array(toBinary(ModelProtoSchema, this.model(name, metadata)));
  }

  model(name: string, metadata: Readonly<Record<string, string>> = {}): ModelProto {
    return create(ModelProtoSchema, {
      irVersion: BigInt(IR_VERSION),
      opsetImport: [
        { domain: '', version: BigInt(OPSET) },
        { domain: MICROSOFT_DOMAIN, version: BigInt(MICROSOFT_OPSET) },
      ],
      producerName: 'hgpo-playground',
      graph: this.graph(name),
      metadataProps: Object.entries(metadata).map(([key, value]) => ({ key, value })),
    });
  }
}

function valueInfo(name: string, type: ElementType, dims: readonly (number | string)[]): ValueInfoProto {
  const dim = dims.map((size) => ({
    value:
      typeof size === 'number'
        ? { case: 'dimValue' as const, value: BigInt(size) }
        : { case: 'dimParam' as const, value: size },
  }));
  return create(ValueInfoProtoSchema, {
    name,
    type: { value: { case: 'tensorType', value: { elemType: elementTypes[type].onnx, shape: { dim } } } },
  });
}

function attribute([name, value]: [string, Attribute]): AttributeProto {
  if (typeof value === 'number') {
    return create(AttributeProtoSchema, { name, type: AttributeProto_AttributeType.INT, i: BigInt(value) });
  }
  if (typeof value === 'string') {
    const s = new TextEncoder().encode(value);
    return create(AttributeProtoSchema, { name, type: AttributeProto_AttributeType.STRING, s });
  }
  if ('float' in value) {
    return create(AttributeProtoSchema, {
      name,
      type: AttributeProto_AttributeType.FLOAT,
      f: Math.fround(value.float),
    });
  }
  return create(AttributeProtoSchema, {
    name,
    type: AttributeProto_AttributeType.INTS,
    ints: value.map((entry) => BigInt(entry)),
  });
}

/** ONNX stores raw data in little-endian order, which is what typed arrays hold on every machine that browsers run on. */
function littleEndianBytes(data: ArrayBufferView): Uint8Array<ArrayBuffer> {
  return new Uint8Array(data.buffer, data.byteOffset, data.byteLength).slice();
}
