import type { RolloutBatch } from '../../rollouts/batch.ts';

/** One trajectory of a task, as a row of the grid. */
export interface TrajectoryRow {
  /** Number in the batch. */
  readonly trajectory: number;
  /** Its batch rows in step order. */
  readonly rows: Int32Array;
  /** Whether it reached its goal; null where the file does not say. */
  readonly success: boolean | null;
  /** Sum of its rewards. */
  readonly episodeReward: number;
}

/** How a state is marked in the grid. */
export interface Place {
  /** One letter or two; empty for a state that only one step of the task visits. */
  readonly letter: string;
  /** 0…7 for the most visited states, −1 for all others. */
  readonly hue: number;
  readonly visits: number;
}

/** One task group, ready to be drawn. */
export interface Task {
  readonly task: number;
  readonly trajectories: readonly TrajectoryRow[];
  /** Steps of the longest trajectory. */
  readonly longest: number;
  readonly rowCount: number;
  /** By observation number. */
  readonly places: ReadonlyMap<number, Place>;
}

const hues = 8;
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** A, B, … z, then Aa, Ab, …: short names that never run out. */
export function letterOf(index: number): string {
  if (index < alphabet.length) return alphabet[index]!;
  const rest = index - alphabet.length;
  return letterOf(Math.floor(rest / 26)) + alphabet[26 + (rest % 26)]!;
}

/** The trajectories of one task of a batch, and a letter for each state that at least two of its steps visit. */
export function taskOf(batch: RolloutBatch, task: number): Task {
  const trajectories: TrajectoryRow[] = [];
  const visits = new Map<number, number>();
  let longest = 0;
  let rowCount = 0;
  for (let t = 0; t < batch.trajectoryTask.length; t++) {
    if (batch.trajectoryTask[t] !== task) continue;
    const rows = batch.byStep.subarray(batch.rowStart[t]!, batch.rowStart[t + 1]!);
    let episodeReward = 0;
    for (const row of rows) {
      episodeReward += batch.reward[row]!;
      const observation = batch.observation[row]!;
      visits.set(observation, (visits.get(observation) ?? 0) + 1);
    }
    const last = rows.at(-1);
    const said = last === undefined ? 2 : (batch.success?.[last] ?? 2);
    trajectories.push({ trajectory: t, rows, success: said === 2 ? null : said === 1, episodeReward });
    longest = Math.max(longest, rows.length);
    rowCount += rows.length;
  }
  return { task, trajectories, longest, rowCount, places: placesOf(visits) };
}

/** Letters in order of first appearance, hues by how often a state is visited. */
function placesOf(visits: ReadonlyMap<number, number>): Map<number, Place> {
  const shared = [...visits].filter(([, n]) => n > 1);
  const hueOf = new Map(
    [...shared]
      .sort((a, b) => b[1] - a[1])
      .slice(0, hues)
      .map(([observation], hue) => [observation, hue]),
  );
  const places = new Map<number, Place>();
  for (const [observation, n] of visits) {
    places.set(observation, { letter: '', hue: hueOf.get(observation) ?? -1, visits: n });
  }
  shared.forEach(([observation, n], index) => {
    places.set(observation, { letter: letterOf(index), hue: hueOf.get(observation) ?? -1, visits: n });
  });
  return places;
}

/** The batch row at a trajectory (number inside the task) and step, or −1. */
export function rowAt(task: Task, trajectory: number, step: number): number {
  return task.trajectories[trajectory]?.rows[step] ?? -1;
}
