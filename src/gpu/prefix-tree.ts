/** Token sequences that cannot be told apart by their ends. */
export class PrefixTreeError extends Error {
  override readonly name = 'PrefixTreeError';
}

/**
 * The prefix tree of the token sequences that a reply may be (the admissible commands, each with its end token). While a reply
 * is written, the tokens on the edges that leave the current node are all that may come next; a node without edges is the end.
 *
 * Flat, so that it goes to the GPU as it is: node n has the edges edgeStart[n] … edgeStart[n + 1] − 1, edge e the token
 * edgeToken[e] and leads to the node edgeNode[e]. The root is node 0; edges stand in ascending order of their tokens.
 */
export class PrefixTree {
  /** [nodes + 1] */
  readonly edgeStart: Uint32Array;
  /** [edges] */
  readonly edgeToken: Uint32Array;
  /** [edges] */
  readonly edgeNode: Uint32Array;
  /** Tokens of the longest sequence. */
  readonly depth: number;

  /** @throws PrefixTreeError when there is no sequence, or one is the beginning of another: then its end could not be drawn. */
  constructor(sequences: readonly ArrayLike<number>[]) {
    const nodes: Map<number, number>[] = [new Map()];
    const ends = new Set<number>();
    let depth = 0;
    for (const sequence of sequences) {
      let node = 0;
      for (let i = 0; i < sequence.length; i++) {
        let next = nodes[node]!.get(sequence[i]!);
        if (next === undefined) {
          next = nodes.length;
          nodes.push(new Map());
          nodes[node]!.set(sequence[i]!, next);
        }
        node = next;
      }
      ends.add(node);
      depth = Math.max(depth, sequence.length);
    }
    for (const end of ends) {
      if (nodes[end]!.size > 0) {
        throw new PrefixTreeError('One sequence is the beginning of another: end each with the end token.');
      }
    }
    if (depth === 0) throw new PrefixTreeError('A reply needs at least one token sequence to choose from.');
    this.depth = depth;
    this.edgeStart = new Uint32Array(nodes.length + 1);
    nodes.forEach((edges, node) => (this.edgeStart[node + 1] = this.edgeStart[node]! + edges.size));
    this.edgeToken = new Uint32Array(nodes.length - 1);
    this.edgeNode = new Uint32Array(nodes.length - 1);
    nodes.forEach((edges, node) => {
      const sorted = [...edges].sort(([a], [b]) => a - b);
      sorted.forEach(([token, child], i) => {
        this.edgeToken[this.edgeStart[node]! + i] = token;
        this.edgeNode[this.edgeStart[node]! + i] = child;
      });
    });
  }

  get nodes(): number {
    return this.edgeStart.length - 1;
  }

  /** The tokens that may follow a node, ascending; none where a sequence ends. */
  allowed(node: number): Uint32Array {
    return this.edgeToken.subarray(this.edgeStart[node], this.edgeStart[node + 1]);
  }

  /** The node that a token leads to, or −1 where it may not come. */
  next(node: number, token: number): number {
    for (let edge = this.edgeStart[node]!; edge < this.edgeStart[node + 1]!; edge++) {
      if (this.edgeToken[edge] === token) return this.edgeNode[edge]!;
    }
    return -1;
  }

  /**
   * The tokens that were allowed at each position of a reply: the mask under which its log-probabilities count.
   * @throws PrefixTreeError when the reply is not in the tree.
   */
  allowedAlong(reply: ArrayLike<number>): Uint32Array[] {
    let node = 0;
    return Array.from({ length: reply.length }, (_, i) => {
      const allowed = this.allowed(node);
      node = this.next(node, reply[i]!);
      if (node < 0) throw new PrefixTreeError(`Token ${reply[i]} at position ${i} is not one that may come there.`);
      return allowed;
    });
  }
}

/**
 * [lists, ceil(vocabulary / 32)] the mask under which training counts log-probabilities: bit v % 32 of word v / 32 is set where
 * token v is in the list; null stands for every token.
 */
export function allowedMask(lists: readonly (ArrayLike<number> | null)[], vocabulary: number): Uint32Array {
  const words = Math.ceil(vocabulary / 32);
  const mask = new Uint32Array(lists.length * words);
  lists.forEach((list, row) => {
    if (!list) mask.fill(0xffffffff, row * words, (row + 1) * words);
    else for (let i = 0; i < list.length; i++) mask[row * words + (list[i]! >> 5)]! |= 1 << (list[i]! & 31);
  });
  return mask;
}

/** What the words of `packTrees` say in place of a root where every token of the vocabulary may come. */
export const NO_TREE = 0xffffffff;

/**
 * Several trees in one array of words for shaders/sample.wgsl: node n is the words (first word of its edges, number of edges) at
 * 2n, an edge the words (token, node). A tree that stands in the list several times is packed once.
 * @returns the words, and the root of each tree (`NO_TREE` for null)
 */
export function packTrees(trees: readonly (PrefixTree | null)[]): { words: Uint32Array; roots: Uint32Array } {
  const firstNode = new Map<PrefixTree, number>();
  let nodes = 0;
  let edges = 0;
  for (const tree of trees) {
    if (!tree || firstNode.has(tree)) continue;
    firstNode.set(tree, nodes);
    nodes += tree.nodes;
    edges += tree.edgeToken.length;
  }
  const words = new Uint32Array(2 * (nodes + edges));
  let at = 2 * nodes;
  for (const [tree, base] of firstNode) {
    const firstEdge = at;
    for (let node = 0; node < tree.nodes; node++) {
      words[2 * (base + node)] = firstEdge + 2 * tree.edgeStart[node]!;
      words[2 * (base + node) + 1] = tree.edgeStart[node + 1]! - tree.edgeStart[node]!;
    }
    for (let edge = 0; edge < tree.edgeToken.length; edge++) {
      words[at++] = tree.edgeToken[edge]!;
      words[at++] = base + tree.edgeNode[edge]!;
    }
  }
  return { words, roots: Uint32Array.from(trees, (tree) => (tree ? firstNode.get(tree)! : NO_TREE)) };
}
