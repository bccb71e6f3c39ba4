import type { Estimate } from '../../estimators/estimate.ts';
import { explainRow, type AdvantagePart } from '../../estimators/explain.ts';
import type { RolloutBatch } from '../../rollouts/batch.ts';
import { contribution } from '../advantage/parts.ts';

/** A step to which two methods give opposite signs. */
export interface Flip {
  readonly row: number;
  readonly a: number;
  readonly b: number;
}

/** All steps on which two methods disagree about the sign, the widest disagreement first. No signal is no disagreement. */
export function signFlips(a: Float64Array, b: Float64Array): Flip[] {
  const flips: Flip[] = [];
  for (let row = 0; row < a.length; row++) {
    if (a[row]! * b[row]! < 0) flips.push({ row, a: a[row]!, b: b[row]! });
  }
  return flips.sort((x, y) => Math.abs(y.a - y.b) - Math.abs(x.a - x.b) || x.row - y.row);
}

/** Where a step stands: its task, the trajectory's number inside it (from 0) and its step. */
export interface StepAddress {
  readonly task: number;
  readonly trajectory: number;
  readonly step: number;
}

export function addressOf(batch: RolloutBatch, places: Int32Array, row: number): StepAddress {
  return { task: batch.task[row]!, trajectory: places[batch.trajectory[row]!]!, step: batch.step[row]! };
}

/** The part that decides the sign of a step under a method: the one that adds most to the sum. */
export function decidingPart(batch: RolloutBatch, estimate: Estimate, row: number): AdvantagePart {
  return explainRow(batch, estimate, row).parts.reduce((a, b) =>
    Math.abs(contribution(b)) > Math.abs(contribution(a)) ? b : a,
  );
}
