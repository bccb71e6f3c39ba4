import { readRollouts } from '../../rollouts/dialects.ts';
import type { ByteSource } from '../../rollouts/lines.ts';
import { Estimation, type Estimates } from './derive.ts';
import {
  changesBetween,
  revived,
  type Answer,
  type FromEstimation,
  type Question,
  type ToEstimation,
} from './protocol.ts';

/** Reads files and derives estimates away from the page, so that the page answers while they are large. */

let estimation: Estimation | null = null;
let sent: Estimates | null = null;

async function answer(question: Question): Promise<Answer> {
  if (question.kind === 'read') {
    const { batch, report } = await readRollouts(question.file.stream() as ByteSource);
    estimation = new Estimation(batch);
    sent = null;
    return { kind: 'read', batch, report };
  }
  if (!estimation) throw new Error('The worker has no rollouts.');
  if (question.kind === 'progpo') {
    const { progpo } = estimation.deriveProgpo(question.controls).byMethod;
    // The page puts it into what it holds; so does this side.
    if (sent) sent = { ...sent, byMethod: { ...sent.byMethod, progpo } };
    return { kind: 'progpo', progpo: progpo! };
  }
  const estimates = estimation.derive(question.controls);
  const changed = changesBetween(sent, estimates);
  sent = estimates;
  return { kind: 'derived', changed };
}

addEventListener('message', ({ data }: MessageEvent<ToEstimation>) => {
  if (data.kind === 'hold') {
    estimation = new Estimation(revived(data.batch));
    return;
  }
  const { request } = data;
  const reply = (message: Answer) => {
    postMessage({ ...message, request } satisfies FromEstimation);
  };
  answer(data.question).then(reply, (error: unknown) => {
    reply({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) });
  });
});
