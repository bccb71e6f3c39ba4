import { allowedMask, type PrefixTree } from './prefix-tree.ts';
import { raggedBatch } from './ragged.ts';
import type { HeadBatch } from './session.ts';

/** A prompt and the reply to it, as it was drawn or demonstrated. */
export interface PromptedReply {
  readonly prompt: ArrayLike<number>;
  readonly reply: ArrayLike<number>;
  /** What the reply was limited to; null where every token could come. */
  readonly tree: PrefixTree | null;
}

/**
 * Prompts and replies as a batch of the training session: one sequence for each, every reply token a target at the position
 * before it, within the tokens that were allowed there. The last reply token is a target alone; it predicts nothing.
 *
 * @param temperature the one that replies were drawn at; 1 for greedy ones
 * @returns the batch, and rowStart [replies + 1]: where each reply begins among the response positions
 * @throws RaggedBatchError for an empty prompt, PrefixTreeError for a reply that is not in its tree.
 */
export function replyBatch(
  rows: readonly PromptedReply[],
  vocabulary: number,
  temperature = 1,
): HeadBatch & { readonly rowStart: Uint32Array } {
  const batch = raggedBatch(
    rows.map(({ prompt, reply }) => [...Array.from(prompt), ...Array.from(reply).slice(0, -1)]),
  );
  const rowStart = new Uint32Array(rows.length + 1);
  rows.forEach(({ reply }, row) => (rowStart[row + 1] = rowStart[row]! + reply.length));
  const responses = rowStart[rows.length]!;
  const responseIndex = new Uint32Array(responses);
  const targets = new Uint32Array(responses);
  const lists: (ArrayLike<number> | null)[] = [];
  rows.forEach(({ prompt, reply, tree }, row) => {
    const first = batch.sequenceStart[row]! + prompt.length - 1;
    for (let k = 0; k < reply.length; k++) responseIndex[rowStart[row]! + k] = first + k;
    targets.set(Array.from(reply), rowStart[row]!);
    lists.push(...(tree?.allowedAlong(reply) ?? Array.from(reply, () => null)));
  });
  const limited = rows.some(({ tree }) => tree !== null);
  return {
    ...batch,
    responseIndex,
    targets,
    temperature,
    rowStart,
    ...(limited ? { allowed: allowedMask(lists, vocabulary) } : {}),
  };
}
