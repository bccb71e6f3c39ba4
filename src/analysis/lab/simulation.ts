import type { RandomStream } from '../../random/stream.ts';
import { rolloutBatch, StringTable, type RolloutBatch } from '../../rollouts/batch.ts';
import type { LabTask } from './task.ts';

/** A stretch of an episode on the model: at `node[j]` the `choice[j]`-th command was taken. */
export interface Steps {
  readonly node: number[];
  readonly choice: number[];
}

/** A batch with the place of each row in the model of its task. */
export interface LabRollouts {
  readonly batch: RolloutBatch;
  /** [tasks of the batch] → lab tasks */
  readonly labTask: Int32Array;
  /** [rows] */
  readonly node: Int32Array;
  /** [rows] which command of the node was taken */
  readonly choice: Int32Array;
}

/**
 * Plays episodes on their models: the same law as playing the environment, at a table look-up a step. Observation and
 * command texts of all tasks are numbered once, so a batch costs its integer columns and nothing else.
 */
export class LabSimulator {
  private readonly observations = new StringTable();
  private readonly actions = new StringTable();
  /** [lab tasks] model's number → number in the table */
  private readonly observationNumbers: Int32Array[] = [];
  private readonly actionNumbers: Int32Array[] = [];
  private trajectories = new StringTable();
  private tasks = new StringTable();
  private readonly empty = rolloutBatch([]);

  constructor(readonly labTasks: readonly LabTask[]) {
    for (const { model } of labTasks) {
      this.observationNumbers.push(Int32Array.from(model.observations, ({ text }) => this.observations.intern(text)));
      this.actionNumbers.push(Int32Array.from(model.commands, (command) => this.actions.intern(command)));
    }
  }

  /**
   * Plays on to the end of the episode, behind the steps that `from` ends with; from the start where it is left out.
   * One number of `stream` is drawn a step.
   */
  play(task: number, stream: RandomStream, from: Steps = { node: [], choice: [] }): Steps {
    const { model, values } = this.labTasks[task]!;
    const node = [...from.node];
    const choice = [...from.choice];
    const last = node.length - 1;
    let at = last < 0 ? 0 : model.edgeTarget[model.edgeStart[node[last]!]! + choice[last]!]!;
    for (let h = values.horizon - node.length; h >= 1; h--) {
      const count = values.commandCount(at);
      if (count === 0) break;
      let left = stream.nextFloat();
      let chosen = -1;
      for (let i = 0; i < count; i++) {
        const p = values.probability(at, h, i);
        if (p === 0) continue;
        chosen = i; // the last possible command, where rounding leaves a sliver
        left -= p;
        if (left < 0) break;
      }
      node.push(at);
      choice.push(chosen);
      at = model.edgeTarget[model.edgeStart[at]! + chosen]!;
    }
    return { node, choice };
  }

  /**
   * Trajectories as a batch, rows trajectory by trajectory in step order.
   * @param groups one for each task of the batch: the lab task, and its trajectories
   */
  batch(groups: readonly { readonly task: number; readonly trajectories: readonly Steps[] }[]): LabRollouts {
    const trajectoryCount = groups.reduce((sum, { trajectories }) => sum + trajectories.length, 0);
    const rowCount = groups.reduce(
      (sum, { trajectories }) => trajectories.reduce((rows, { node }) => rows + node.length, sum),
      0,
    );
    const task = new Int32Array(rowCount);
    const trajectory = new Int32Array(rowCount);
    const step = new Int32Array(rowCount);
    const observation = new Int32Array(rowCount);
    const action = new Int32Array(rowCount);
    const reward = new Float64Array(rowCount);
    const valid = new Uint8Array(rowCount).fill(1);
    const rowStart = new Int32Array(trajectoryCount + 1);
    const trajectoryTask = new Int32Array(trajectoryCount);
    const nodes = new Int32Array(rowCount);
    const choices = new Int32Array(rowCount);
    let row = 0;
    let t = 0;
    for (const [g, { task: labTask, trajectories }] of groups.entries()) {
      const { model } = this.labTasks[labTask]!;
      const observationNumber = this.observationNumbers[labTask]!;
      const actionNumber = this.actionNumbers[labTask]!;
      for (const { node, choice } of trajectories) {
        trajectoryTask[t] = g;
        for (let j = 0; j < node.length; j++, row++) {
          const edge = model.stateEdgeStart[model.nodeState[node[j]!]!]! + choice[j]!;
          task[row] = g;
          trajectory[row] = t;
          step[row] = j;
          observation[row] = observationNumber[model.contextObservation[model.nodeContext[node[j]!]!]!]!;
          action[row] = actionNumber[model.stateEdgeCommand[edge]!]!;
          reward[row] = model.stateEdgeReward[edge]!;
          if (this.labTasks[labTask]!.isInvalid(node[j]!, choice[j]!)) valid[row] = 0;
          nodes[row] = node[j]!;
          choices[row] = choice[j]!;
        }
        rowStart[++t] = row;
      }
    }
    this.tasks = withNames(this.tasks, groups.length);
    this.trajectories = withNames(this.trajectories, trajectoryCount);
    return {
      batch: {
        ...this.empty,
        rowCount,
        tasks: this.tasks,
        trajectories: this.trajectories,
        observations: this.observations,
        actions: this.actions,
        task,
        trajectory,
        step,
        observation,
        action,
        reward,
        valid,
        byStep: Int32Array.from({ length: rowCount }, (_, i) => i),
        rowStart,
        trajectoryTask,
      },
      labTask: Int32Array.from(groups, ({ task: labTask }) => labTask),
      node: nodes,
      choice: choices,
    };
  }
}

/** A table of exactly `count` names: estimators read the size of a table as the number of tasks. */
function withNames(table: StringTable, count: number): StringTable {
  return table.size === count ? table : new StringTable(Array.from({ length: count }, (_, i) => String(i)));
}
