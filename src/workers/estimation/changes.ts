import { StringTable, type RolloutBatch } from '../../rollouts/batch.ts';
import type { Estimates } from './derive.ts';

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
