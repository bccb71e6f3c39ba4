import type { Area } from './workload.ts';

/**
 * The areas of `hgpo bench`: the first segment of a workload's id → the file that holds its workloads. Each is loaded
 * only when asked for, so that `bench --only estimators` never loads the GPU package. A new area is a file here and a
 * line below.
 */
export const areas: Readonly<Record<string, () => Promise<Area>>> = {
  engine: () => import('./engine.ts'),
  env: () => import('./environments.ts'),
  estimators: () => import('./estimators.ts'),
  lab: () => import('./lab.ts'),
  rollouts: () => import('./rollouts.ts'),
};
