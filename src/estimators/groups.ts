import type { RolloutBatch } from '../rollouts/batch.ts';
import { PairNumbers } from './pair-numbers.ts';
import type { Settings } from './settings.ts';
import { clusteredObservations } from './similarity.ts';

/** The columns of a batch that groups are built from. */
export type GroupRows = Pick<
  RolloutBatch,
  'rowCount' | 'tasks' | 'task' | 'trajectory' | 'observation' | 'action' | 'byStep' | 'rowStart' | 'observations'
>;

/** A partition of rows: rows with the same number are compared with each other. */
export interface Grouping {
  /** [rows] number of the group, −1 where the row has none */
  readonly group: Int32Array;
  readonly groupCount: number;
  /** Groups from this number on have a single row; statistics leave them out. */
  readonly shared: number;
  /** [groups] rows in each */
  readonly size: Int32Array;
}

/** What the groups of a hierarchy depend on. */
export type GroupSettings = Pick<
  Settings,
  'K' | 'shortContext' | 'contextActions' | 'similarity' | 'similarityMeasure'
>;

/** All rows of a task as one group. */
export function taskGroups(rows: Pick<GroupRows, 'task' | 'tasks'>): Grouping {
  return grouping(rows.task, rows.tasks.size);
}

/**
 * The hierarchy of groups. The context of depth k of a row is the sequence of its last k+1 anchor observations,
 *
 *     C_k(i) = (s at step t−k, …, s at step t),    G_k(i) = { j of the same task : C_k(j) = C_k(i) },
 *
 * so G_0 ⊇ G_1 ⊇ … ⊇ G_K (HGPO, arXiv:2602.22817, Eq. 3). Where t < k, `shortContext: 'prefix'` takes the whole history,
 * which equals only histories of the same length, and `'skip'` leaves the row without level k.
 *
 * Built by numbering pairs: id_0 = (task, observation), id_k = (id_{k−1} of the row before, observation), that is K+1
 * passes over integers. `contextActions` puts the action between the two into the pair.
 *
 * @returns [K + 1] groupings
 */
export function contextGroups(rows: GroupRows, settings: GroupSettings): Grouping[] {
  const { byStep, rowStart, task } = rows;
  const observation =
    settings.similarity === null
      ? rows.observation
      : clusteredObservations(rows, settings.similarity, settings.similarityMeasure);
  const pairs = new PairNumbers(rows.rowCount);
  const link = settings.contextActions ? actionAndObservation(rows, observation, pairs) : observation;

  const state = new Int32Array(rows.rowCount);
  pairs.clear();
  for (let i = 0; i < state.length; i++) state[i] = pairs.number(task[i]!, observation[i]!);
  const levels = [companyFirst(state, pairs.size)];
  const skip = settings.shortContext === 'skip';

  for (let k = 1; k <= settings.K; k++) {
    const { group: shorter, shared } = levels[k - 1]!;
    const context = new Int32Array(rows.rowCount);
    pairs.clear();
    for (let t = 0; t + 1 < rowStart.length; t++) {
      const start = rowStart[t]!;
      for (let j = start; j < rowStart[t + 1]!; j++) {
        const row = byStep[j]!;
        const before = j === start ? -1 : shorter[byStep[j - 1]!]!;
        if (skip && j - start < k) context[row] = -1;
        // Who is alone with a shorter context is alone with a longer one: most rows at deep levels, and no look-up.
        else if (shorter[row]! >= shared) context[row] = pairs.once();
        else if (before >= 0) context[row] = pairs.number(before, link[row]!);
        // Negative numbers are tasks, so a first step never meets a context.
        else context[row] = pairs.number(-1 - task[row]!, observation[row]!);
      }
    }
    levels.push(companyFirst(context, pairs.size));
  }
  return levels;
}

/**
 * Rows of the same task with the same complete history and current observation (ProGPO's peers): chains of
 * observations, with the actions between them for `full-state-action`.
 */
export function historyGroups(rows: GroupRows, prefix: Settings['prefix']): Grouping {
  const { byStep, rowStart, task, observation } = rows;
  const pairs = new PairNumbers(rows.rowCount);
  const link = prefix === 'full-state-action' ? actionAndObservation(rows, observation, pairs) : observation;
  const history = new Int32Array(rows.rowCount);
  pairs.clear();
  for (let t = 0; t + 1 < rowStart.length; t++) {
    const start = rowStart[t]!;
    for (let j = start; j < rowStart[t + 1]!; j++) {
      const row = byStep[j]!;
      history[row] =
        j === start
          ? pairs.number(-1 - task[row]!, observation[row]!)
          : pairs.number(history[byStep[j - 1]!]!, link[row]!);
    }
  }
  return companyFirst(history, pairs.size);
}

/** The rows of a group, in row order. */
export function membersOf(groups: Grouping, group: number): Int32Array {
  const members = new Int32Array(group < 0 ? 0 : groups.size[group]!);
  for (let i = 0, next = 0; next < members.length; i++) if (groups.group[i] === group) members[next++] = i;
  return members;
}

/** [rows] number of the pair (action before the row, observation of the row); 0 at first steps, where it is not read. */
function actionAndObservation(rows: GroupRows, observation: Int32Array, pairs: PairNumbers): Int32Array {
  const { byStep, rowStart, action } = rows;
  const link = new Int32Array(rows.rowCount);
  pairs.clear();
  for (let t = 0; t + 1 < rowStart.length; t++) {
    for (let j = rowStart[t]! + 1; j < rowStart[t + 1]!; j++) {
      const row = byStep[j]!;
      link[row] = pairs.number(action[byStep[j - 1]!]!, observation[row]!);
    }
  }
  return link;
}

/** A grouping that keeps the numbers of its groups (−1 = none), those of single rows too. */
export function grouping(group: Int32Array, groupCount: number): Grouping {
  return { group, groupCount, shared: groupCount, size: groupSizes(group, groupCount) };
}

/** A grouping in which groups with company are renumbered to come first, in order of appearance. Changes `group`. */
function companyFirst(group: Int32Array, groupCount: number): Grouping {
  const before = groupSizes(group, groupCount);
  const renumbered = new Int32Array(groupCount);
  let shared = 0;
  for (let g = 0; g < groupCount; g++) if (before[g]! > 1) renumbered[g] = shared++;
  const size = new Int32Array(groupCount).fill(1);
  let next = shared;
  for (let g = 0; g < groupCount; g++) {
    if (before[g] === 1) renumbered[g] = next++;
    else size[renumbered[g]!] = before[g]!;
  }
  for (let i = 0; i < group.length; i++) if (group[i]! >= 0) group[i] = renumbered[group[i]!]!;
  return { group, groupCount, shared, size };
}

function groupSizes(group: Int32Array, groupCount: number): Int32Array {
  const size = new Int32Array(groupCount);
  for (let i = 0; i < group.length; i++) if (group[i]! >= 0) size[group[i]!]!++;
  return size;
}
