/**
 * A process for each software adapter: which driver a process gets is decided by its environment when it starts. The bench keeps one
 * open for a workload and asks it to prepare and run ours and the peer in turn.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { softwareAdapters } from '../../../scripts/adapters.mjs';
import { openNodeGpu } from '../../gpu/node.ts';
import type { EngineTask } from './engine-tasks.ts';
import type { Prepared } from './workload.ts';

export type SoftwareAdapter = 'llvmpipe' | 'swiftshader';

type Side = 'ours' | 'peer';
type Request =
  | { readonly kind: 'describe' }
  | { readonly kind: 'prepare' | 'run' | 'dispose'; readonly id: string; readonly side: Side };
interface Reply {
  readonly value?: number | string | undefined;
  readonly error?: string;
}

/** The command that a process of this kind runs; not for people. */
export const ADAPTER_PROCESS_COMMAND = 'bench-adapter';

/** The parent's end. */
export class AdapterProcess {
  private constructor(private readonly child: ChildProcess) {}

  static open(adapter: SoftwareAdapter): AdapterProcess {
    const env = { ...process.env, ...softwareAdapters[adapter].env, HGPO_ADAPTER: adapter };
    const child = fork(process.argv[1]!, [ADAPTER_PROCESS_COMMAND], { env, stdio: ['ignore', 'ignore', 2, 'ipc'] });
    return new AdapterProcess(child);
  }

  async ask(request: Request): Promise<number | string | undefined> {
    const reply = await new Promise<Reply>((resolve, reject) => {
      const ended = () => reject(new Error('The process that held the adapter ended.'));
      this.child.once('exit', ended);
      this.child.once('message', (message) => {
        this.child.off('exit', ended);
        resolve(message as Reply);
      });
      this.child.send(request);
    });
    if (reply.error !== undefined) throw new Error(reply.error);
    return reply.value;
  }

  close(): void {
    this.child.disconnect();
  }
}

/** The name of an adapter on this machine, or why there is none. */
export async function describeAdapter(adapter: SoftwareAdapter): Promise<{ name: string } | { reason: string }> {
  const opened = AdapterProcess.open(adapter);
  try {
    return { name: String(await opened.ask({ kind: 'describe' })) };
  } catch (error) {
    return { reason: error instanceof Error ? error.message : String(error) };
  } finally {
    opened.close();
  }
}

/** The child's end: answers until the parent disconnects. */
export async function serveAdapter(tasks: Readonly<Record<string, EngineTask>>): Promise<void> {
  const prepared = new Map<string, Prepared>();
  let opened: ReturnType<typeof openNodeGpu> | undefined;
  const answer = async (request: Request): Promise<number | string | undefined> => {
    opened ??= openNodeGpu();
    const gpu = await opened;
    if (request.kind === 'describe') return gpu.adapter.name;
    const task = tasks[request.id]!;
    const key = `${request.side} ${request.id}`;
    if (request.kind === 'prepare') {
      prepared.set(key, await (request.side === 'ours' ? task : task.peer!).prepare(gpu));
      return undefined;
    }
    if (request.kind === 'run') return prepared.get(key)!.run() ?? undefined;
    await prepared.get(key)?.dispose?.();
    return undefined;
  };
  process.on('message', (request: Request) => {
    answer(request).then(
      (value) => process.send!({ value } satisfies Reply),
      (error: unknown) =>
        process.send!({ error: error instanceof Error ? error.message : String(error) } satisfies Reply),
    );
  });
  await new Promise<void>((resolve) => process.once('disconnect', resolve));
  // The package behind WebGPU keeps the event loop alive.
  process.exit();
}
