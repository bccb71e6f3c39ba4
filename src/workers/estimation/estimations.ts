import type { Estimate } from '../../estimators/estimate.ts';
import type { RolloutBatch } from '../../rollouts/batch.ts';
import type { ImportReport } from '../../rollouts/import.ts';
import { WorkerCalls } from '../calls.ts';
import { revived, withChanges } from './changes.ts';
import type { EstimationControls, Estimates } from './derive.ts';
import type { EstimationCalls } from './estimation-worker.ts';

/**
 * The worker's source comes inside a script of the page, which is loaded once: opening a file then causes no request at
 * all, and a person who watches the network can see that nothing is sent.
 */
async function estimationWorker(): Promise<WorkerCalls<EstimationCalls>> {
  const { default: EstimationWorker } = await import('./estimation-worker.ts?worker&inline');
  return new WorkerCalls<EstimationCalls>(() => new EstimationWorker(), 'the estimates');
}

/**
 * One set of rollouts in one worker, estimated as often as controls change. The worker starts with the first call, so
 * that making one costs nothing; a worker that was lost is started anew by the next call and given the rollouts again.
 */
export class Estimations {
  private calls: Promise<WorkerCalls<EstimationCalls>> | null = null;
  /** Whether the worker that runs now has the rollouts. */
  private isHeld = false;
  private estimates: Estimates | null = null;

  /** @param batch rollouts that the page has already; null where the worker will read them from a file */
  constructor(private batch: RolloutBatch | null) {}

  /** Reads a file; the worker keeps its rollouts. @throws WorkerLostError, WorkerCallError */
  async read(file: File): Promise<{ batch: RolloutBatch; report: ImportReport }> {
    const calls = await this.worker();
    const { batch, report } = await calls.call('read', file);
    this.batch = revived(batch);
    this.isHeld = true;
    return { batch: this.batch, report };
  }

  /**
   * Estimates of all methods but ProGPO; what did not change keeps its identity.
   * @throws WorkerLostError, WorkerCallError
   */
  async derive(controls: EstimationControls): Promise<Estimates> {
    const calls = await this.holding();
    this.estimates = withChanges(this.estimates, await calls.call('derive', controls));
    return this.estimates;
  }

  /** @throws WorkerLostError, WorkerCallError */
  async progpo(controls: EstimationControls): Promise<Estimate> {
    const calls = await this.holding();
    const progpo = await calls.call('progpo', controls);
    if (this.estimates) this.estimates = withChanges(this.estimates, { byMethod: { progpo } });
    return progpo;
  }

  /** Ends the worker; calls under way fail. */
  end(): void {
    void this.calls?.then((calls) => {
      calls.end();
    });
  }

  private worker(): Promise<WorkerCalls<EstimationCalls>> {
    this.calls ??= estimationWorker().catch((error: unknown) => {
      // Not remembered: the next call may find the connection again.
      this.calls = null;
      throw error;
    });
    return this.calls;
  }

  private async holding(): Promise<WorkerCalls<EstimationCalls>> {
    const calls = await this.worker();
    if (!calls.isRunning) {
      this.isHeld = false;
      this.estimates = null;
    }
    if (!this.isHeld && this.batch) {
      this.isHeld = true;
      await calls.call('hold', this.batch);
    }
    return calls;
  }
}
