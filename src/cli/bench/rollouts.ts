import { readRollouts } from '../../rollouts/dialects.ts';
import type { Workload } from './workload.ts';

const rowCount = 20_000;

/** Rollout JSONL of 400 trajectories × 50 steps with prompts of about 600 characters. */
function exampleFile(): Uint8Array<ArrayBuffer> {
  const history = 'You arrive at desk 1. On the desk 1, you see a mug 2. > go to shelf 3 '.repeat(8);
  let text = '';
  for (let i = 0; i < rowCount; i++) {
    const row = {
      uid: `task ${Math.floor(i / 400)}`,
      traj_uid: `trajectory ${Math.floor(i / 50)}`,
      step: i % 50,
      anchor_obs: `You are in room ${(i * 7919) % 500}.`,
      action: `go to shelf ${i % 12}`,
      reward: i % 50 === 49 ? 10 : 0,
      valid: true,
      prompt: `${history}${i}`,
    };
    text += `${JSON.stringify(row)}\n`;
  }
  return new TextEncoder().encode(text);
}

export const workloads = (): Workload[] => [
  {
    id: 'rollouts.read',
    unit: 'ms',
    better: 'lower',
    prepare: () => {
      const file = exampleFile();
      return {
        run: async () => {
          const { batch } = await readRollouts(new Blob([file]).stream());
          if (batch.rowCount !== rowCount) throw new Error(`read ${batch.rowCount} of ${rowCount} rows`);
          return undefined;
        },
      };
    },
    // What any reader pays at least: the same lines decoded and parsed, and nothing kept.
    peer: {
      name: 'JSON.parse of each line',
      prepare: () => {
        const file = exampleFile();
        return {
          run: () => {
            for (const line of new TextDecoder().decode(file).trimEnd().split('\n')) JSON.parse(line);
            return undefined;
          },
        };
      },
    },
  },
];
