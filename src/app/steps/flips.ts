import type { Grouping } from '../../estimators/groups.ts';
import type { RolloutBatch } from '../../rollouts/batch.ts';
import { contribution, partsOf } from '../advantage/parts.ts';
import type { Estimates } from '../state/estimates.ts';
import type { Method } from '../state/fields.ts';

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

/** For each trajectory of the batch its number inside its task. */
export function trajectoryPlaces(batch: Pick<RolloutBatch, 'trajectoryTask'>): Int32Array {
  const next = new Map<number, number>();
  return batch.trajectoryTask.map((task) => {
    const place = next.get(task) ?? 0;
    next.set(task, place + 1);
    return place;
  });
}

export function addressOf(batch: RolloutBatch, places: Int32Array, row: number): StepAddress {
  return { task: batch.task[row]!, trajectory: places[batch.trajectory[row]!]!, step: batch.step[row]! };
}

/** What a method's sign at a step rests on: its heaviest term, with the numbers that make it. */
export type FlipReason =
  | { readonly kind: 'trajectory'; readonly score: number; readonly mean: number }
  | { readonly kind: 'level'; readonly k: number; readonly size: number; readonly value: number; readonly mean: number }
  | { readonly kind: 'peers'; readonly size: number; readonly value: number; readonly mean: number }
  | { readonly kind: 'credit'; readonly credit: number };

/** The term that decides the sign of a step under a method, in numbers that can be read out. */
export function flipReason({ batch, byMethod }: Estimates, row: number, method: Method): FlipReason {
  const estimate = byMethod[method];
  const task = batch.task[row]!;
  const parts = partsOf(estimate, task, row);
  const heaviest = parts.reduce((a, b) => (Math.abs(contribution(b)) > Math.abs(contribution(a)) ? b : a));
  const value = estimate.returns[row]!;
  const meanOf = ({ group }: Grouping) => {
    let sum = 0;
    let n = 0;
    for (let i = 0; i < group.length; i++) {
      if (group[i] !== group[row]) continue;
      sum += estimate.returns[i]!;
      n++;
    }
    return sum / n;
  };
  const { detail } = estimate;
  if (heaviest.kind === 'level') {
    const { k, size } = heaviest;
    return { kind: 'level', k, size, value, mean: meanOf(estimate.levels.find((level) => level.k === k)!.groups) };
  }
  if (heaviest.kind === 'peers' && detail.kind === 'progpo') {
    return { kind: 'peers', size: heaviest.size, value, mean: meanOf(detail.peers) };
  }
  if (heaviest.kind === 'credit' && detail.kind === 'progpo') return { kind: 'credit', credit: detail.credit[row]! };
  const baseline =
    detail.kind === 'trajectory'
      ? detail.baseline
      : detail.kind === 'gigpo'
        ? detail.episode.baseline
        : detail.kind === 'hgpo'
          ? detail.base!.baseline
          : detail.kind === 'progpo'
            ? detail.episode!.baseline
            : null;
  return { kind: 'trajectory', score: estimate.score[row]!, mean: baseline?.mean[task] ?? NaN };
}
