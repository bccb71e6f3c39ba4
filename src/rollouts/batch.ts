/**
 * RolloutBatch: the one type between whatever produces rollouts (a live policy, a recorded demonstration, an imported
 * file) and whatever reads them (estimators, analysis, views). Columnar: one row is one decision of one agent in one
 * environment step; strings are interned, so that "equal" is a comparison of integers.
 */

/** Strings numbered in order of first appearance. Equality is code unit by code unit: no trimming, no folding. */
export class StringTable {
  private readonly numbers = new Map<string, number>();
  readonly values: string[] = [];

  constructor(values: Iterable<string> = []) {
    for (const value of values) this.intern(value);
  }

  get size(): number {
    return this.values.length;
  }

  /** The number of a string, given out on first sight. */
  intern(value: string): number {
    let number = this.numbers.get(value);
    if (number === undefined) {
      number = this.values.length;
      this.numbers.set(value, number);
      this.values.push(value);
    }
    return number;
  }

  /** The number of a string, or −1 where it has never been seen. */
  find(value: string): number {
    return this.numbers.get(value) ?? -1;
  }
}

/** What one row says, in plain words; the names of the Rollout JSONL fields stand beside each. */
export interface RolloutRow {
  /** `uid`: the task group, all trajectories that start from the same task and the same initial state. */
  readonly task: string;
  /** `traj_uid`: the trajectory; unique across the batch. */
  readonly trajectory: string;
  /** `step`: position in the trajectory, consecutive from 0. */
  readonly step: number;
  /** `anchor_obs`: the bare current observation, the state key of the estimators. */
  readonly observation: string;
  /** `action`: the command taken. */
  readonly action: string;
  /** `reward`: environment reward of this step, without any penalty. */
  readonly reward: number;
  /** `valid`: the reply could be parsed into an action in the required format. */
  readonly valid: boolean;
  /** Number of tokens that the policy produced in this row; 1 where the source does not say. */
  readonly tokenCount?: number;
  /** `prompt`: the exact text the policy saw. */
  readonly prompt?: string;
  /** `log_prob`: log-probability of the action under the policy that took it (sum over its tokens). */
  readonly logProb?: number;
  /** `value`: the critic's value of the state. */
  readonly value?: number;
  /** `task_type`, for example `heat`. */
  readonly taskType?: string;
  /** `prompt_key`: hash of the exact policy input. */
  readonly promptKey?: string;
  /** `state_key`: canonical hidden state. */
  readonly stateKey?: string;
  /** `episode_id`: generator version, preset, split and seed of the episode. */
  readonly episodeId?: string;
  /** `success`: whether the trajectory of this row reached its goal. */
  readonly success?: boolean;
}

/**
 * Rollouts in columns. Rows may come in any order across trajectories; `byStep` and `rowStart` give each trajectory's
 * rows in step order. Text columns hold numbers into the table of the same name. An optional column is null when no row
 * has it; inside one, a missing entry is −1 (text), NaN (numbers) or 2 (success).
 */
export interface RolloutBatch {
  readonly rowCount: number;
  readonly tasks: StringTable;
  readonly trajectories: StringTable;
  readonly observations: StringTable;
  readonly actions: StringTable;
  readonly prompts: StringTable;
  readonly taskTypes: StringTable;
  readonly promptKeys: StringTable;
  readonly stateKeys: StringTable;
  readonly episodeIds: StringTable;

  /** [rows] → tasks */
  readonly task: Int32Array;
  /** [rows] → trajectories */
  readonly trajectory: Int32Array;
  /** [rows] */
  readonly step: Int32Array;
  /** [rows] → observations */
  readonly observation: Int32Array;
  /** [rows] → actions */
  readonly action: Int32Array;
  /** [rows] */
  readonly reward: Float64Array;
  /** [rows] 1 = valid */
  readonly valid: Uint8Array;

  readonly tokenCount: Int32Array | null;
  readonly prompt: Int32Array | null;
  readonly logProb: Float64Array | null;
  readonly value: Float64Array | null;
  readonly taskType: Int32Array | null;
  readonly promptKey: Int32Array | null;
  readonly stateKey: Int32Array | null;
  readonly episodeId: Int32Array | null;
  /** [rows] 0 = failed, 1 = succeeded, 2 = not said */
  readonly success: Uint8Array | null;

  /** [rows] row numbers sorted by trajectory number, then step */
  readonly byStep: Int32Array;
  /** [trajectories + 1] where each trajectory begins in `byStep` */
  readonly rowStart: Int32Array;
  /** [trajectories] → tasks */
  readonly trajectoryTask: Int32Array;
}

/** Rows that do not form whole trajectories. */
export class IncompleteTrajectoryError extends Error {
  override readonly name = 'IncompleteTrajectoryError';
}

/** Collects rows and hands out a RolloutBatch. */
export class RolloutBatchBuilder {
  private readonly rows: RolloutRow[] = [];

  add(row: RolloutRow): void {
    this.rows.push(row);
  }

  get rowCount(): number {
    return this.rows.length;
  }

  /**
   * The batch of all rows so far.
   * @throws IncompleteTrajectoryError when a trajectory misses or repeats a step, or belongs to two tasks.
   */
  build(): RolloutBatch {
    return rolloutBatch(this.rows);
  }
}

/**
 * A batch from rows in any order.
 * @throws IncompleteTrajectoryError when a trajectory misses or repeats a step, or belongs to two tasks.
 */
export function rolloutBatch(rows: readonly RolloutRow[]): RolloutBatch {
  const rowCount = rows.length;
  const text = (read: (row: RolloutRow) => string | undefined) => {
    const table = new StringTable();
    const column = new Int32Array(rowCount);
    let present = false;
    for (let i = 0; i < rowCount; i++) {
      const value = read(rows[i]!);
      if (value !== undefined) present = true;
      column[i] = value === undefined ? -1 : table.intern(value);
    }
    return { table, column, optional: present ? column : null };
  };
  const numbers = (read: (row: RolloutRow) => number | undefined) => {
    const column = new Float64Array(rowCount);
    let present = false;
    for (let i = 0; i < rowCount; i++) {
      const value = read(rows[i]!);
      if (value !== undefined) present = true;
      column[i] = value ?? NaN;
    }
    return present ? column : null;
  };

  const task = text((row) => row.task);
  const trajectory = text((row) => row.trajectory);
  const observation = text((row) => row.observation);
  const action = text((row) => row.action);
  const prompt = text((row) => row.prompt);
  const taskType = text((row) => row.taskType);
  const promptKey = text((row) => row.promptKey);
  const stateKey = text((row) => row.stateKey);
  const episodeId = text((row) => row.episodeId);
  const step = Int32Array.from(rows, (row) => row.step);
  const success = rows.some((row) => row.success !== undefined)
    ? Uint8Array.from(rows, (row) => (row.success === undefined ? 2 : row.success ? 1 : 0))
    : null;
  const tokenCount = rows.some((row) => row.tokenCount !== undefined)
    ? Int32Array.from(rows, (row) => row.tokenCount ?? 1)
    : null;

  return {
    rowCount,
    tasks: task.table,
    trajectories: trajectory.table,
    observations: observation.table,
    actions: action.table,
    prompts: prompt.table,
    taskTypes: taskType.table,
    promptKeys: promptKey.table,
    stateKeys: stateKey.table,
    episodeIds: episodeId.table,
    task: task.column,
    trajectory: trajectory.column,
    step,
    observation: observation.column,
    action: action.column,
    reward: Float64Array.from(rows, (row) => row.reward),
    valid: Uint8Array.from(rows, (row) => (row.valid ? 1 : 0)),
    tokenCount,
    prompt: prompt.optional,
    logProb: numbers((row) => row.logProb),
    value: numbers((row) => row.value),
    taskType: taskType.optional,
    promptKey: promptKey.optional,
    stateKey: stateKey.optional,
    episodeId: episodeId.optional,
    success,
    ...trajectoryOrder(task.column, trajectory.column, step, trajectory.table),
  };
}

/**
 * The rows of each trajectory in step order (counting sort: O(rows)).
 * @throws IncompleteTrajectoryError when the steps of a trajectory are not exactly 0, 1, 2, … or its rows name two tasks.
 */
export function trajectoryOrder(
  task: Int32Array,
  trajectory: Int32Array,
  step: Int32Array,
  names: StringTable,
): Pick<RolloutBatch, 'byStep' | 'rowStart' | 'trajectoryTask'> {
  const rowCount = trajectory.length;
  const rowStart = new Int32Array(names.size + 1);
  for (let i = 0; i < rowCount; i++) rowStart[trajectory[i]! + 1]!++;
  for (let t = 0; t < names.size; t++) rowStart[t + 1]! += rowStart[t]!;
  const byStep = new Int32Array(rowCount).fill(-1);
  const trajectoryTask = new Int32Array(names.size).fill(-1);
  for (let i = 0; i < rowCount; i++) {
    const t = trajectory[i]!;
    const length = rowStart[t + 1]! - rowStart[t]!;
    const s = step[i]!;
    if (s < 0 || s >= length) {
      throw new IncompleteTrajectoryError(
        `Trajectory ${JSON.stringify(names.values[t])} has ${length} rows but one with step ${s}.`,
      );
    }
    if (byStep[rowStart[t]! + s] !== -1) {
      throw new IncompleteTrajectoryError(`Trajectory ${JSON.stringify(names.values[t])} has step ${s} twice.`);
    }
    byStep[rowStart[t]! + s] = i;
    if (trajectoryTask[t] === -1) trajectoryTask[t] = task[i]!;
    else if (trajectoryTask[t] !== task[i]) {
      throw new IncompleteTrajectoryError(`Trajectory ${JSON.stringify(names.values[t])} has rows of two tasks.`);
    }
  }
  return { byStep, rowStart, trajectoryTask };
}
