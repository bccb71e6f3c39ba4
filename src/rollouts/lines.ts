/** Where the bytes of a file come from: `Blob.stream()` of a page, a Node stream, or chunks in memory. */
export type ByteSource = ReadableStream<Uint8Array> | AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** A line of a text file, without its line feed. A carriage return before the line feed stays: it is part of the text. */
export interface Line {
  /** From 1, the way editors count. */
  readonly number: number;
  /** The text; where `defect` is set, as much of it as could be decoded, for a hint at what it was. */
  readonly text: string;
  readonly defect: 'not UTF-8' | 'too long' | null;
  /** False for a last line without a line feed. */
  readonly ended: boolean;
}

/** A file that is no UTF-8 text at all. */
export class NotTextError extends Error {
  override readonly name = 'NotTextError';
}

/** A line beyond this many bytes is reported and passed over, so that a file without line feeds cannot fill the memory. */
export const longestLine = 64 * 1024 * 1024;

/** Of a line that is too long, this many bytes are kept to find out which trajectory it belonged to. */
const hintLength = 64 * 1024;

/**
 * Calls `onLine` for each line of a UTF-8 file, which is read as a stream: in memory are one chunk and the line that it
 * ends in. Characters may be split across chunks; a byte order mark is passed over.
 * @throws NotTextError for UTF-16 and for gzip, which would otherwise be thousands of unreadable lines.
 */
export async function readLines(
  source: ByteSource,
  onLine: (line: Line) => void,
  limit: number = longestLine,
): Promise<void> {
  const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  const lenient = new TextDecoder('utf-8', { ignoreBOM: true });
  let number = 0;
  let pieces: Uint8Array[] = []; // of the line that previous chunks began
  let length = 0; // its bytes so far, kept or not

  const emit = (ended: boolean) => {
    number++;
    let bytes = pieces.length === 1 ? pieces[0]! : concatenate(pieces);
    const tooLong = length > limit;
    pieces = [];
    length = 0;
    if (number === 1) {
      refuseOtherFormats(bytes);
      if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) bytes = bytes.subarray(3);
    }
    if (tooLong) {
      onLine({ number, text: lenient.decode(bytes), defect: 'too long', ended });
      return;
    }
    let text: string;
    try {
      text = strict.decode(bytes);
    } catch {
      onLine({ number, text: lenient.decode(bytes), defect: 'not UTF-8', ended });
      return;
    }
    onLine({ number, text, defect: null, ended });
  };

  const append = (part: Uint8Array) => {
    length += part.length;
    if (length <= limit) pieces.push(part);
    else if (pieces.length > 1 || (pieces[0]?.length ?? Infinity) > hintLength) {
      pieces = [concatenate([...pieces, part.subarray(0, hintLength)]).slice(0, hintLength)];
    }
  };

  for await (const chunk of chunksOf(source)) {
    let start = 0;
    for (let end = chunk.indexOf(0x0a); end !== -1; end = chunk.indexOf(0x0a, start)) {
      append(chunk.subarray(start, end));
      emit(true);
      start = end + 1;
    }
    // The source may reuse its chunk once it has handed out the next.
    if (start < chunk.length) append(chunk.slice(start));
  }
  if (length > 0) emit(false);
}

function refuseOtherFormats(start: Uint8Array): void {
  const begins = (...bytes: number[]) => bytes.every((byte, i) => start[i] === byte);
  if (begins(0xff, 0xfe) || begins(0xfe, 0xff)) {
    throw new NotTextError('The file is UTF-16 text: save it as UTF-8 and read it again.');
  }
  if (begins(0x1f, 0x8b)) throw new NotTextError('The file is compressed with gzip: decompress it and read it again.');
}

function concatenate(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

async function* chunksOf(source: ByteSource): AsyncGenerator<Uint8Array> {
  if (Symbol.asyncIterator in source || Symbol.iterator in source) {
    yield* source;
    return;
  }
  // Safari's ReadableStream cannot be iterated.
  const reader = (source as ReadableStream<Uint8Array>).getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    await reader.cancel();
  }
}
