import { serveCalls, Transferred, type Port } from './calls.ts';
import { buffersOf, EnvironmentBatch, type BatchReply } from './environment-batch.ts';

/** The calls of the environment worker: an EnvironmentBatch whose replies move instead of being copied. */
export function environmentCalls(batch = new EnvironmentBatch()) {
  const moved = (reply: BatchReply) => new Transferred(reply, buffersOf(reply));
  return {
    reset: (...args: Parameters<EnvironmentBatch['reset']>) => moved(batch.reset(...args)),
    resume: (...args: Parameters<EnvironmentBatch['resume']>) => moved(batch.resume(...args)),
    step: (...args: Parameters<EnvironmentBatch['step']>) => moved(batch.step(...args)),
    restore: (...args: Parameters<EnvironmentBatch['restore']>) => moved(batch.restore(...args)),
    stateKeys: (...args: Parameters<EnvironmentBatch['stateKeys']>) => batch.stateKeys(...args),
    snapshots: (...args: Parameters<EnvironmentBatch['snapshots']>) => batch.snapshots(...args),
    view: (...args: Parameters<EnvironmentBatch['view']>) => batch.view(...args),
    reveal: (...args: Parameters<EnvironmentBatch['reveal']>) => batch.reveal(...args),
    close: (...args: Parameters<EnvironmentBatch['close']>) => batch.close(...args),
  };
}

export type EnvironmentCalls = ReturnType<typeof environmentCalls>;

// Imported for its types and by tests, this file serves nobody.
if (typeof document === 'undefined' && typeof self !== 'undefined' && 'importScripts' in self) {
  serveCalls(self as unknown as Port, environmentCalls());
}
