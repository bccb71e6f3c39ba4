import { rolloutBatch } from '../../rollouts/batch.ts';
import type { Workload } from './workload.ts';

export const workloads = (): Workload[] => [
  {
    id: 'rollouts.batch',
    unit: 'ms',
    better: 'lower',
    prepare: () => {
      const rows = Array.from({ length: 6400 }, (_, i) => ({
        task: `task ${Math.floor(i / 400)}`,
        trajectory: `trajectory ${Math.floor(i / 50)}`,
        step: i % 50,
        observation: `state ${(i * 7919) % 500}`,
        action: `go ${i % 12}`,
        reward: i % 50 === 49 ? 10 : 0,
        valid: true,
      }));
      return { run: () => void rolloutBatch(rows) };
    },
  },
];
