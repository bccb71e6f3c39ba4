import type { Estimate } from '../../estimators/estimate.ts';
import type { RolloutBatch } from '../../rollouts/batch.ts';
import type { ImportReport } from '../../rollouts/import.ts';
import type { EstimationControls, Estimates } from './derive.ts';
import { revived, withChanges, type FromEstimation, type Question, type ToEstimation } from './protocol.ts';

/** The worker could not do what it was asked, or died. */
export class EstimationWorkerError extends Error {
  override readonly name = 'EstimationWorkerError';
}

interface Waiting {
  readonly resolve: (answer: FromEstimation) => void;
  readonly reject: (error: EstimationWorkerError) => void;
}

/**
 * The worker's source comes inside a script of the page, which is loaded once: opening a file then causes no request at
 * all, and a person who watches the network can see that nothing is sent.
 */
const startWorker = async (): Promise<Worker> => new (await import('./worker.ts?worker&inline')).default();

/**
 * One set of rollouts in one worker, estimated as often as controls change. The worker starts with the first question, so
 * that making one costs nothing.
 */
export class EstimationWorker {
  private worker: Promise<Worker> | null = null;
  private readonly waiting = new Map<number, Waiting>();
  private next = 0;
  private estimates: Estimates | null = null;

  /** @param batch rollouts that the page has already; null where the worker will read them from a file */
  constructor(private readonly batch: RolloutBatch | null) {}

  /** Reads a file; the worker keeps its rollouts. @throws EstimationWorkerError */
  async read(file: File): Promise<{ batch: RolloutBatch; report: ImportReport }> {
    const answer = await this.ask({ kind: 'read', file });
    if (answer.kind !== 'read') throw unexpected(answer);
    return { batch: revived(answer.batch), report: answer.report };
  }

  /** Estimates of all methods but ProGPO; what did not change keeps its identity. @throws EstimationWorkerError */
  async derive(controls: EstimationControls): Promise<Estimates> {
    const answer = await this.ask({ kind: 'derive', controls });
    if (answer.kind !== 'derived') throw unexpected(answer);
    this.estimates = withChanges(this.estimates, answer.changed);
    return this.estimates;
  }

  /** @throws EstimationWorkerError */
  async progpo(controls: EstimationControls): Promise<Estimate> {
    const answer = await this.ask({ kind: 'progpo', controls });
    if (answer.kind !== 'progpo') throw unexpected(answer);
    const { progpo } = answer;
    if (this.estimates) this.estimates = withChanges(this.estimates, { byMethod: { progpo } });
    return progpo;
  }

  /** Stops the worker; what is still asked of it fails. */
  end(reason = 'The worker was ended.'): void {
    void this.worker?.then((worker) => {
      worker.terminate();
    });
    this.worker = null;
    for (const { reject } of this.waiting.values()) reject(new EstimationWorkerError(reason));
    this.waiting.clear();
  }

  private async start(): Promise<Worker> {
    const worker = await startWorker();
    worker.onmessage = ({ data }: MessageEvent<FromEstimation>) => {
      const waiting = this.waiting.get(data.request);
      this.waiting.delete(data.request);
      if (data.kind === 'failed') waiting?.reject(new EstimationWorkerError(data.reason));
      else waiting?.resolve(data);
    };
    worker.onerror = (event) => {
      event.preventDefault();
      this.end(`The worker stopped: ${event.message || 'it could not be loaded'}.`);
    };
    if (this.batch) worker.postMessage({ kind: 'hold', batch: this.batch } satisfies ToEstimation);
    return worker;
  }

  private ask(question: Question): Promise<FromEstimation> {
    this.worker ??= this.start();
    const started = this.worker;
    const request = this.next++;
    return new Promise((resolve, reject) => {
      this.waiting.set(request, { resolve, reject });
      started.then(
        (worker) => {
          worker.postMessage({ kind: 'ask', request, question } satisfies ToEstimation);
        },
        () => {
          this.end('The worker could not be loaded.');
        },
      );
    });
  }
}

const unexpected = ({ kind }: FromEstimation) =>
  new EstimationWorkerError(`The worker answered “${kind}” to another question.`);
