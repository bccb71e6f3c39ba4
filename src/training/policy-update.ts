import type { GpuBuffer } from '../gpu/buffer.ts';
import type { Gpu } from '../gpu/device.ts';
import { Program } from '../gpu/program.ts';
import type { replyBatch } from '../gpu/reply-batch.ts';
import { SessionBatchError, type ModelSession } from '../gpu/session.ts';
import { POLICY_ROW_SUMS, policyFigures, policyLoss, policyTargets, type PolicyFigures } from './losses/policy-loss.ts';
import type { PolicyObjective } from './losses/total.ts';
import { valueLoss, valueTargets } from './losses/value-loss.ts';
import type { ValueRows } from './losses/value.ts';

/** Rows of a mini-batch that go through the model together; columns are [responses]. */
export interface PolicyMicroBatch {
  /** Prompts and replies. */
  readonly head: ReturnType<typeof replyBatch>;
  /** log π_old: what each token was drawn with. */
  readonly oldLogProb: ArrayLike<number>;
  readonly advantage: ArrayLike<number>;
  /** Each token's weight in the mini-batch: the slice of `tokenWeights` of all of its rows. */
  readonly weights: ArrayLike<number>;
  /** What the value head should learn, in a session that has one. */
  readonly value?: ValueColumns | undefined;
}

/**
 * Targets of the value head at the response positions. A value that belongs to a step stands at the row's first position,
 * which has seen the whole prompt; `mask` is 0 at the others.
 */
export interface ValueColumns extends Pick<ValueRows, 'mask' | 'oldValue' | 'returns'> {
  /** Each value's weight in the loss of the mini-batch, the loss's coefficient included. */
  readonly weights: ArrayLike<number>;
}

export interface UpdateFigures extends PolicyFigures {
  /** Weighted value loss; 0 without a value head. */
  readonly valueLoss: number;
  /** Share of values whose clipped error is the larger one. */
  readonly valueClipFrac: number;
}

/** What a mini-batch may hold at most. */
export interface UpdateCapacity {
  readonly rows: number;
  readonly responses: number;
}

/**
 * The policy losses inside a model session: adds a mini-batch's gradient to the trainable weights, one micro-batch after another,
 * with buffers and launches planned once and one read-back for all of it.
 *
 *     for (const part of parts) update.accumulate(part);
 *     const figures = await update.readFigures();
 *     session.step(settings);
 *
 * The gradient does not depend on how the mini-batch is split.
 */
export class PolicyUpdate {
  private readonly program: Program;
  private readonly rowStart: GpuBuffer;
  private readonly targets: GpuBuffer;
  private readonly valueTargets: GpuBuffer;
  /** Row sums of the policy loss, then terms of the value loss, so that one read-back gets both. */
  private readonly results: GpuBuffer;
  private readonly termsOffset: number;
  // Of the micro-batch in work, and of those before it since the last figures.
  private readonly present = { rows: 0, responses: 0 };
  private readonly before = { rows: 0, responses: 0, values: 0 };

  /** @param clipValue how far a value may move from its old one before the loss stops rewarding it */
  constructor(
    private readonly gpu: Gpu,
    private readonly session: ModelSession,
    readonly objective: PolicyObjective,
    private readonly capacity: UpdateCapacity,
    clipValue = 0.5,
  ) {
    const { head, capacity: pass } = session;
    const hasValue = session.weights.value !== undefined;
    const words = (label: string, count: number) => gpu.buffer(label, count * 4);
    this.rowStart = words('row starts', pass.sequences + 1);
    this.targets = words('policy targets', pass.responses * 4);
    this.valueTargets = words('value targets', hasValue ? pass.responses * 4 : 0);
    // Bindings begin at multiples of 256 bytes.
    this.termsOffset = Math.ceil((capacity.rows * POLICY_ROW_SUMS) / 64) * 64;
    const termWords = hasValue ? capacity.responses * 2 : 0;
    this.results = words('loss sums', this.termsOffset + termWords);
    const rows = () => this.present.rows;
    const dispatches = [
      policyLoss({
        objective,
        rowStart: this.rowStart,
        targets: this.targets,
        logProb: head.logProb,
        entropy: head.entropy,
        refLogProb: this.usesReference ? head.referenceLogProb : undefined,
        gradient: head.gradient,
        rowSums: this.results.slice(0, capacity.rows * POLICY_ROW_SUMS * 4),
        sumsAt: () => this.before.rows,
        rows,
      }),
    ];
    if (hasValue) {
      dispatches.push(
        valueLoss({
          value: head.value,
          targets: this.valueTargets,
          gradient: head.valueGradient,
          terms: this.results.slice(this.termsOffset * 4, termWords * 4),
          termsAt: () => this.before.responses,
          tokens: () => this.present.responses,
          clipValue,
        }),
      );
    }
    this.program = new Program(gpu, 'policy loss', dispatches);
  }

  /** Without a KL term the reference policy is not run. */
  get usesReference(): boolean {
    return this.objective.klCoefficient !== 0;
  }

  /**
   * Submits the passes of a micro-batch: reference, policy, loss, backward.
   * @throws SessionBatchError when it exceeds what the session or the mini-batch may hold.
   */
  accumulate({ head, oldLogProb, advantage, weights, value }: PolicyMicroBatch): void {
    const { session, present, before, capacity } = this;
    const { rowStart } = head;
    const rows = rowStart.length - 1;
    const responses = head.targets.length;
    if (before.rows + rows > capacity.rows || before.responses + responses > capacity.responses) {
      throw new SessionBatchError(
        `A mini-batch of ${before.rows + rows} rows and ${before.responses + responses} reply tokens exceeds the ${capacity.rows} and ${capacity.responses} that were planned.`,
      );
    }
    session.load(head);
    present.rows = rows;
    present.responses = responses;
    const mask = new Uint8Array(responses).fill(1);
    this.rowStart.write(rowStart);
    this.targets.write(policyTargets({ rowStart, mask, oldLogProb, advantage }, weights));
    if (session.weights.value) {
      const nothing = new Uint8Array(responses);
      const columns = value ?? { mask: nothing, oldValue: nothing, returns: nothing, weights: nothing };
      this.valueTargets.write(valueTargets({ rowStart, ...columns }, columns.weights));
      for (let i = 0; i < responses; i++) if (columns.mask[i]) before.values++;
    }
    if (this.usesReference) session.forward('reference');
    session.forward();
    this.program.run();
    session.backward();
    before.rows += rows;
    before.responses += responses;
  }

  /** Loss and metrics of the micro-batches since the last call; the next one begins a new mini-batch. */
  async readFigures(): Promise<UpdateFigures> {
    const { before, termsOffset } = this;
    const hasTerms = before.values > 0;
    const words = hasTerms ? termsOffset + before.responses * 2 : before.rows * POLICY_ROW_SUMS;
    const results = await this.gpu.readFloats(this.results, 0, words);
    const figures = policyFigures(results.subarray(0, before.rows * POLICY_ROW_SUMS), this.objective);
    let loss = 0;
    let clipped = 0;
    for (let at = termsOffset; hasTerms && at < words; at += 2) {
      loss += results[at]!;
      clipped += results[at + 1]!;
    }
    const valueClipFrac = clipped / (before.values + 1e-8);
    before.rows = before.responses = before.values = 0;
    return { ...figures, valueLoss: loss, valueClipFrac };
  }

  destroy(): void {
    this.program.destroy();
    for (const buffer of [this.rowStart, this.targets, this.valueTargets, this.results]) buffer.destroy();
  }
}
