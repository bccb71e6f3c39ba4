import type { Estimate } from '../../estimators/estimate.ts';
import { StringTable, type RolloutBatch } from '../../rollouts/batch.ts';
import type { ImportReport } from '../../rollouts/import.ts';
import type { EstimationControls, Estimates } from './derive.ts';

/**
 * What page and estimation worker say to each other. The worker keeps one set of rollouts, given to it or read from a
 * file, and derives estimates from them; each answer names its request.
 */

export type Question =
  | { readonly kind: 'read'; readonly file: File }
  | { readonly kind: 'derive'; readonly controls: EstimationControls }
  | { readonly kind: 'progpo'; readonly controls: EstimationControls };

export type ToEstimation =
  | { readonly kind: 'hold'; readonly batch: RolloutBatch }
  | { readonly kind: 'ask'; readonly request: number; readonly question: Question };

export type Answer =
  | { readonly kind: 'read'; readonly batch: RolloutBatch; readonly report: ImportReport }
  | { readonly kind: 'derived'; readonly changed: ChangedEstimates }
  | { readonly kind: 'progpo'; readonly progpo: Estimate }
  | { readonly kind: 'failed'; readonly reason: string };

export type FromEstimation = Answer & { readonly request: number };

/** Estimates without what the page holds already: sending 50,000 steps takes longer than dragging α over them. */
export type ChangedEstimates = Partial<Omit<Estimates, 'byMethod'>> & {
  readonly byMethod: Partial<Estimates['byMethod']>;
};

/** What of `now` is not the same object in `before`. */
export function changesBetween(before: Estimates | null, now: Estimates): ChangedEstimates {
  const differing = <T extends object>(old: Partial<T> | undefined, fresh: T): Partial<T> =>
    Object.fromEntries(Object.entries(fresh).filter(([name, value]) => old?.[name as keyof T] !== value)) as Partial<T>;
  const { byMethod, ...rest } = now;
  return {
    ...differing<Omit<Estimates, 'byMethod'>>(before ?? undefined, rest),
    byMethod: differing(before?.byMethod, byMethod),
  };
}

/** The estimates that changes lead to. The first changes hold everything. */
export function withChanges(before: Estimates | null, changed: ChangedEstimates): Estimates {
  return {
    ...before,
    ...changed,
    ...(changed.batch && { batch: revived(changed.batch) }),
    byMethod: { ...before?.byMethod, ...changed.byMethod },
  } as Estimates;
}

/** A batch that came as a message: its string tables are given back their methods, which messages do not carry. */
export function revived(batch: RolloutBatch): RolloutBatch {
  const entries = Object.entries(batch).map(([name, column]: [string, unknown]) => [
    name,
    isTable(column) ? new StringTable(column.values) : column,
  ]);
  return Object.fromEntries(entries) as RolloutBatch;
}

const isTable = (column: unknown): column is { readonly values: readonly string[] } =>
  typeof column === 'object' && column !== null && 'values' in column && Array.isArray(column.values);
