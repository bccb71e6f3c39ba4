import { membersOf, type Grouping } from '../../estimators/groups.ts';
import type { RolloutBatch } from '../../rollouts/batch.ts';

/** One group in the tree below the chosen step's state: the steps that share the last `level` states before it. */
export interface GroupNode {
  readonly level: number;
  /** Batch rows. */
  readonly members: readonly number[];
  /** Observation number of the state `level` steps back, which split this group from its siblings; −1 = the episode had not begun. */
  readonly splitBy: number;
  /** Whether the chosen step is a member. */
  readonly holdsChosen: boolean;
  readonly children: readonly GroupNode[];
}

/** The row `lag` steps earlier in the same trajectory, or −1. */
export function rowBefore(previous: Int32Array, row: number, lag: number): number {
  let at = row;
  for (let j = 0; j < lag && at >= 0; j++) at = previous[at]!;
  return at;
}

/**
 * The groups G_0 ⊇ G_1 ⊇ … ⊇ G_K of the chosen step together with their siblings: G_0 split by the state one step back,
 * each part by the state two steps back, and so on. At every split the part with the chosen step comes first, then the
 * larger ones, so the chosen past is one straight edge.
 *
 * @param groups [K + 1] the partition of all rows at each level
 */
export function hierarchyOf(
  batch: RolloutBatch,
  previous: Int32Array,
  groups: readonly Grouping[],
  chosen: number,
): GroupNode {
  const split = (level: number, rows: readonly number[], splitBy: number): GroupNode => {
    const children: GroupNode[] = [];
    if (level + 1 < groups.length) {
      const parts = new Map<number, number[]>();
      for (const row of rows) {
        const id = groups[level + 1]!.group[row]!;
        if (id < 0) continue;
        const part = parts.get(id);
        if (part) part.push(row);
        else parts.set(id, [row]);
      }
      for (const part of parts.values()) {
        const before = rowBefore(previous, part[0]!, level + 1);
        children.push(split(level + 1, part, before < 0 ? -1 : batch.observation[before]!));
      }
      children.sort((a, b) => Number(b.holdsChosen) - Number(a.holdsChosen) || b.members.length - a.members.length);
    }
    // Members stand in the order of the parts below them, so that one member is one column of the picture.
    const placed = children.flatMap(({ members }) => members);
    const ordered =
      placed.length === rows.length ? placed : [...placed, ...rows.filter((row) => !placed.includes(row))];
    return { level, members: ordered, splitBy, holdsChosen: rows.includes(chosen), children };
  };
  const members = Array.from(membersOf(groups[0]!, groups[0]!.group[chosen]!));
  return split(0, members, batch.observation[chosen]!);
}

/** The chain of groups that hold the chosen step, from G_0 down to the deepest that exists for it. */
export function chosenChain(root: GroupNode): GroupNode[] {
  const chain: GroupNode[] = [];
  let node: GroupNode | undefined = root;
  while (node) {
    chain.push(node);
    node = node.children.find((child) => child.holdsChosen);
  }
  return chain;
}

/** For each member of G_0 the deepest level at which it is still grouped with the chosen step. */
export function sharedPasts(chain: readonly GroupNode[]): { row: number; depth: number }[] {
  const depth = new Map<number, number>();
  for (const node of chain) for (const row of node.members) depth.set(row, node.level);
  return [...depth].map(([row, level]) => ({ row, depth: level }));
}
