/**
 * The layout of a batch: sequences of different lengths lie one behind the other without padding. Activations are
 * [tokens, width]; sequence s holds tokens sequenceStart[s] … sequenceStart[s + 1] − 1. Nothing is computed for tokens that
 * do not exist.
 */
export interface RaggedBatch {
  /** [tokens] vocabulary ids, sequence behind sequence */
  readonly tokens: Uint32Array;
  /** [sequences + 1] */
  readonly sequenceStart: Uint32Array;
}

/** A batch that does not have the shape that it claims. */
export class RaggedBatchError extends Error {
  override readonly name = 'RaggedBatchError';
}

/** A batch from token lists; none may be empty. */
export function raggedBatch(sequences: readonly ArrayLike<number>[]): RaggedBatch {
  const sequenceStart = new Uint32Array(sequences.length + 1);
  sequences.forEach((sequence, s) => {
    sequenceStart[s + 1] = sequenceStart[s]! + sequence.length;
  });
  const tokens = new Uint32Array(sequenceStart[sequences.length]!);
  sequences.forEach((sequence, s) => {
    tokens.set(sequence, sequenceStart[s]!);
  });
  checkRaggedBatch({ tokens, sequenceStart });
  return { tokens, sequenceStart };
}

/** @throws RaggedBatchError unless the offsets rise from 0 to the number of tokens, each sequence having at least one. */
export function checkRaggedBatch({ tokens, sequenceStart }: RaggedBatch): void {
  const sequences = sequenceStart.length - 1;
  if (sequences < 0 || sequenceStart[0] !== 0 || sequenceStart[sequences] !== tokens.length) {
    throw new RaggedBatchError(
      `sequenceStart must run from 0 to the number of tokens (${tokens.length}); it has ${sequenceStart.length} entries ending at ${sequenceStart.at(-1)}.`,
    );
  }
  for (let s = 0; s < sequences; s++) {
    if (sequenceStart[s + 1]! <= sequenceStart[s]!) throw new RaggedBatchError(`Sequence ${s} has no tokens.`);
  }
}

/** [tokens, 2] the sequence of each token and its position in it */
export function placeOfTokens(sequenceStart: Uint32Array): Uint32Array {
  const sequences = sequenceStart.length - 1;
  const place = new Uint32Array(sequenceStart[sequences]! * 2);
  for (let s = 0; s < sequences; s++) {
    for (let token = sequenceStart[s]!; token < sequenceStart[s + 1]!; token++) {
      place[token * 2] = s;
      place[token * 2 + 1] = token - sequenceStart[s]!;
    }
  }
  return place;
}

/** Tokens of the longest sequence; 0 without sequences. */
export function longestSequence(sequenceStart: Uint32Array): number {
  let longest = 0;
  for (let s = 0; s + 1 < sequenceStart.length; s++)
    longest = Math.max(longest, sequenceStart[s + 1]! - sequenceStart[s]!);
  return longest;
}
