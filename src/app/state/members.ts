import { StringTable, trajectoryOrder, type RolloutBatch } from '../../rollouts/batch.ts';

let latest: { source: RolloutBatch; members: number; taken: RolloutBatch } | null = null;

/** Trajectories of the largest task. */
export function largestTask(batch: RolloutBatch): number {
  const sizes = new Int32Array(batch.tasks.size);
  for (const task of batch.trajectoryTask) sizes[task]!++;
  return sizes.reduce((a, b) => Math.max(a, b), 0);
}

/**
 * The first `members` trajectories of each task (0 = all): what the groups would have been with a smaller N. The same
 * arguments give the same object, so that what hangs on it can be kept.
 */
export function firstMembers(source: RolloutBatch, members: number): RolloutBatch {
  if (members === 0 || members >= largestTask(source)) return source;
  if (latest?.source === source && latest.members === members) return latest.taken;
  const seen = new Int32Array(source.tasks.size);
  const names = new StringTable();
  const renumbered = new Int32Array(source.trajectories.size).fill(-1);
  for (let t = 0; t < renumbered.length; t++) {
    if (seen[source.trajectoryTask[t]!]!++ < members) renumbered[t] = names.intern(source.trajectories.values[t]!);
  }
  const rows = Int32Array.from({ length: source.rowCount }, (_, row) => row).filter(
    (row) => renumbered[source.trajectory[row]!]! >= 0,
  );
  const take = <A extends Int32Array | Float64Array | Uint8Array>(column: A): A => {
    const taken = new (column.constructor as new (length: number) => A)(rows.length);
    for (let i = 0; i < rows.length; i++) taken[i] = column[rows[i]!]!;
    return taken;
  };
  const maybe = <A extends Int32Array | Float64Array | Uint8Array>(column: A | null): A | null =>
    column && take(column);
  const task = take(source.task);
  const trajectory = Int32Array.from(rows, (row) => renumbered[source.trajectory[row]!]!);
  const step = take(source.step);
  const taken: RolloutBatch = {
    ...source,
    rowCount: rows.length,
    trajectories: names,
    task,
    trajectory,
    step,
    observation: take(source.observation),
    action: take(source.action),
    reward: take(source.reward),
    valid: take(source.valid),
    tokenCount: maybe(source.tokenCount),
    prompt: maybe(source.prompt),
    logProb: maybe(source.logProb),
    value: maybe(source.value),
    taskType: maybe(source.taskType),
    promptKey: maybe(source.promptKey),
    stateKey: maybe(source.stateKey),
    episodeId: maybe(source.episodeId),
    success: maybe(source.success),
    ...trajectoryOrder(task, trajectory, step, names),
  };
  latest = { source, members, taken };
  return taken;
}
