import { AdapterProcess, describeAdapter, type SoftwareAdapter } from './adapter-process.ts';
import { engineTasks } from './engine-tasks.ts';
import type { BenchContext, Prepared, Workload } from './workload.ts';

/** Every engine workload on every software adapter that this machine has. */
export async function workloads({ say }: BenchContext): Promise<Workload[]> {
  const list: Workload[] = [];
  for (const adapter of ['llvmpipe', 'swiftshader'] as const) {
    const found = await describeAdapter(adapter);
    if ('reason' in found) {
      say(`No ${adapter} here: ${found.reason}`);
      continue;
    }
    for (const [id, task] of Object.entries(engineTasks)) list.push(workload(id, task, adapter, found.name));
  }
  return list;
}

function workload(id: string, task: (typeof engineTasks)[string], adapter: SoftwareAdapter, name: string): Workload {
  const { unit, better, repeats, peer } = task;
  // Ours and the peer share a process, which the later of the two to be disposed of closes.
  let opened: { process: AdapterProcess; users: number } | undefined;
  const side = async (which: 'ours' | 'peer'): Promise<Prepared> => {
    opened ??= { process: AdapterProcess.open(adapter), users: 0 };
    opened.users++;
    const { process } = opened;
    try {
      await process.ask({ kind: 'prepare', id, side: which });
    } catch (error) {
      process.close();
      opened = undefined;
      throw error;
    }
    return {
      run: async () => Number(await process.ask({ kind: 'run', id, side: which })),
      dispose: async () => {
        await process.ask({ kind: 'dispose', id, side: which });
        if (--opened!.users === 0) {
          process.close();
          opened = undefined;
        }
      },
    };
  };
  return {
    id,
    unit,
    better,
    adapter: name,
    repeats,
    warmUps: 1,
    prepare: () => side('ours'),
    ...(peer ? { peer: { name: peer.name, prepare: () => side('peer') } } : {}),
  };
}
