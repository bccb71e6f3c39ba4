import type { RolloutBatch } from '../../rollouts/batch.ts';
import { observationText } from '../../rollouts/observation.ts';

/**
 * What to call a task: the instruction that its first observation states (`Goal: …`, `Instruction: …`), where it does so
 * and no longer than a line; otherwise the id of the group, with its kind of task where the file names it.
 */
export function taskTitle(batch: RolloutBatch, task: number): string {
  const id = batch.tasks.values[task]!;
  const trajectory = batch.trajectoryTask.indexOf(task);
  if (trajectory < 0) return id;
  const first = batch.byStep[batch.rowStart[trajectory]!]!;
  const text = observationText(batch.observations.values[batch.observation[first]!]!);
  const stated = /\b(?:goal|instruction|your task is to):?\s+(.{3,80}?)\.?\s*(?:\n|$)/i.exec(text)?.[1];
  if (stated) return stated;
  const kind = batch.taskType ? batch.taskTypes.values[batch.taskType[first]!] : undefined;
  return kind === undefined ? id : `${kind} · ${id}`;
}
