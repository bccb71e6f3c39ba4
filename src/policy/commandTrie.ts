/**
 * The prefix tree of a list of token sequences: which tokens may come next while a reply is written that must be one of
 * them. Nodes are numbered from the root, 0, in the order in which the sequences make them.
 */
export class CommandTrie {
  /** [nodes] first child or −1 */
  private readonly firstChild: number[] = [-1];
  /** [nodes] next child of the same parent or −1 */
  private readonly sibling: number[] = [-1];
  /** [nodes] token on the edge that leads here */
  private readonly token: number[] = [-1];
  /** [nodes] index of the sequence that ends here or −1 */
  private readonly leaf: number[] = [-1];

  /** @param sequences none of them the beginning of another (each ends with the end token); of equal ones the first counts. */
  constructor(sequences: readonly ArrayLike<number>[]) {
    sequences.forEach((sequence, index) => {
      let node = 0;
      for (let i = 0; i < sequence.length; i++) {
        const next = this.next(node, sequence[i]!);
        node = next < 0 ? this.addChild(node, sequence[i]!) : next;
      }
      if (this.leaf[node] === -1) this.leaf[node] = index;
    });
  }

  get nodes(): number {
    return this.token.length;
  }

  /** The tokens that may follow a node, in the order of the sequences; empty where one ends. */
  allowed(node: number): number[] {
    const tokens: number[] = [];
    for (let child = this.firstChild[node]!; child >= 0; child = this.sibling[child]!) tokens.push(this.token[child]!);
    return tokens;
  }

  /** The node that a token leads to, or −1 where it may not come. */
  next(node: number, token: number): number {
    let child = this.firstChild[node]!;
    while (child >= 0 && this.token[child] !== token) child = this.sibling[child]!;
    return child;
  }

  /** The index of the sequence that ends at a node, or −1. */
  sequenceAt(node: number): number {
    return this.leaf[node]!;
  }

  private addChild(parent: number, token: number): number {
    const node = this.token.length;
    this.token.push(token);
    this.firstChild.push(-1);
    this.sibling.push(-1);
    this.leaf.push(-1);
    if (this.firstChild[parent] === -1) this.firstChild[parent] = node;
    else {
      let last = this.firstChild[parent]!;
      while (this.sibling[last]! >= 0) last = this.sibling[last]!;
      this.sibling[last] = node;
    }
    return node;
  }
}
