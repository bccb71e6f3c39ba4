/**
 * Plain data as bytes, for files and browser storage: a line that names the format, the length of a JSON head, the head, and
 * the typed arrays that it refers to. Numbers in arrays keep every bit, so a run goes on exactly where it stopped.
 */
import * as z from 'zod';

/** Bytes that are no checkpoint, a damaged one, or one of another version; one sentence. */
export class CheckpointError extends Error {
  override readonly name = 'CheckpointError';
}

const MAGIC = 'hgpo-checkpoint 1\n';
const ALIGNMENT = 8;

const arrayTypes = { Float64Array, Float32Array, Int32Array, Uint32Array, Uint8Array } as const;
type ArrayType = keyof typeof arrayTypes;
type TypedArray = InstanceType<(typeof arrayTypes)[ArrayType]>;

// A reference to an array stands in the head as an object with this one key.
const REFERENCE = '$array';

function typeOf(value: unknown): ArrayType | null {
  for (const [name, type] of Object.entries(arrayTypes)) if (value instanceof type) return name as ArrayType;
  return null;
}

/** The bytes of an object made of plain data and typed arrays. */
export function packState(state: object): Uint8Array {
  const arrays: TypedArray[] = [];
  let offset = 0;
  // JSON has no NaN and no infinities; metrics of a broken run have them.
  const head = JSON.stringify(state, (_key, value: unknown) => {
    if (typeof value === 'number' && !Number.isFinite(value)) return { $number: String(value) };
    const type = typeOf(value);
    if (type === null) return value;
    const array = value as TypedArray;
    const reference = { [REFERENCE]: [type, offset, array.length] };
    arrays.push(array);
    offset += Math.ceil(array.byteLength / ALIGNMENT) * ALIGNMENT;
    return reference;
  });
  const headBytes = new TextEncoder().encode(head);
  const magic = new TextEncoder().encode(MAGIC);
  const start = Math.ceil((magic.length + 4 + headBytes.length) / ALIGNMENT) * ALIGNMENT;
  const bytes = new Uint8Array(start + offset);
  bytes.set(magic);
  new DataView(bytes.buffer).setUint32(magic.length, headBytes.length, true);
  bytes.set(headBytes, magic.length + 4);
  let at = start;
  for (const array of arrays) {
    bytes.set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength), at);
    at += Math.ceil(array.byteLength / ALIGNMENT) * ALIGNMENT;
  }
  return bytes;
}

const reference = z.strictObject({
  [REFERENCE]: z.tuple([
    z.enum(Object.keys(arrayTypes) as [ArrayType, ...ArrayType[]]),
    z.int().min(0),
    z.int().min(0),
  ]),
});
const specialNumber = z.strictObject({ $number: z.enum(['NaN', 'Infinity', '-Infinity']) });

/**
 * What `packState` packed; whoever asks checks its shape.
 * @throws CheckpointError when the bytes are damaged or of another version.
 */
export function unpackState(source: Uint8Array): unknown {
  // A Buffer of Node is a Uint8Array whose `slice` does not copy.
  const bytes = new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
  const refuse = (fault: string): never => {
    throw new CheckpointError(`This is no checkpoint that can be read: ${fault}.`);
  };
  const magic = new TextEncoder().encode(MAGIC);
  const begin = new TextDecoder().decode(bytes.subarray(0, magic.length));
  if (begin !== MAGIC) {
    const version = /^hgpo-checkpoint (\d+)\n/.exec(begin);
    refuse(version ? `it has version ${version[1]}, this program reads 1` : 'it does not begin as one');
  }
  if (bytes.length < magic.length + 4) refuse('it is cut off');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const headLength = view.getUint32(magic.length, true);
  const start = Math.ceil((magic.length + 4 + headLength) / ALIGNMENT) * ALIGNMENT;
  if (start > bytes.length) refuse('it is cut off');
  let head: unknown;
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(
      bytes.subarray(magic.length + 4, magic.length + 4 + headLength),
    );
    head = JSON.parse(text, (_key, value: unknown) => {
      const special = specialNumber.safeParse(value);
      if (special.success) return Number(special.data.$number);
      const found = reference.safeParse(value);
      if (!found.success) return value;
      const [type, offset, length] = found.data[REFERENCE];
      const size = arrayTypes[type].BYTES_PER_ELEMENT * length;
      if (start + offset + size > bytes.length) refuse('it is cut off');
      return new arrayTypes[type](bytes.slice(start + offset, start + offset + size).buffer);
    });
  } catch (error) {
    if (error instanceof CheckpointError) throw error;
    refuse('its head is damaged');
  }
  return head;
}
