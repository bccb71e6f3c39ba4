import indexSource from '../../../shaders/index.wgsl?raw';
import valueLossSource from '../../../shaders/value-loss.wgsl?raw';
import type { Binding } from '../../gpu/buffer.ts';
import type { Kernel } from '../../gpu/kernel.ts';
import { linearWorkgroups, valueOf, WORKGROUP, type Count, type Dispatch } from '../../gpu/program.ts';
import { evaluate, kernelTest, randomFloats } from '../../gpu/selftest.ts';
import { tokenCount, tokenWeights } from './aggregation.ts';
import { valueLoss as valueLossTwin, type ValueRows } from './value.ts';

const kernel: Kernel = { name: 'value-loss', source: indexSource + valueLossSource };

/** PPO's clipped value loss on the GPU. */
export function valueLoss(operands: {
  /** [tokens] the critic's values */
  readonly value: Binding;
  /** [tokens, 4] from `valueTargets` */
  readonly targets: Binding;
  /** [tokens] ∂loss/∂V */
  readonly gradient: Binding;
  /** [termsAt + tokens, 2] each token's part of the loss, and whether its clipped error is the larger one */
  readonly terms: Binding;
  /** First token of `terms` that is written: micro-batches of a mini-batch stand behind one another. */
  readonly termsAt?: Count;
  readonly tokens: Count;
  readonly clipValue: number;
}): Dispatch {
  const { value, targets, gradient, terms, termsAt = 0, tokens, clipValue } = operands;
  return {
    kernel,
    constants: { WORKGROUP },
    bindings: { value, targets, gradient, terms },
    parameters: { tokens, termsAt, clipValue },
    workgroups: () => linearWorkgroups(valueOf(tokens)),
  };
}

/** [tokens, 4] what the CPU knows of each value: V_old, return, weight of the aggregation, mask. */
export function valueTargets(rows: Omit<ValueRows, 'value'>, weights: ArrayLike<number>): Float32Array {
  const targets = new Float32Array(tokenCount(rows) * 4);
  for (let token = 0; token < tokenCount(rows); token++) {
    targets[token * 4] = rows.oldValue[token]!;
    targets[token * 4 + 1] = rows.returns[token]!;
    targets[token * 4 + 2] = weights[token]!;
    targets[token * 4 + 3] = rows.mask[token] ? 1 : 0;
  }
  return targets;
}

export const valueLossTest = kernelTest('value-loss', [{ tokens: 1 }, { tokens: 201 }], ({ tokens }) => ({
  async compare(gpu, random) {
    const rows = {
      rowStart: [0, tokens],
      mask: Float32Array.from({ length: tokens }, () => (random.below(5) > 0 ? 1 : 0)),
      value: randomFloats(random, tokens),
      oldValue: randomFloats(random, tokens),
      returns: randomFloats(random, tokens),
    };
    const weights = tokenWeights('token-mean', rows);
    const result = await evaluate(
      gpu,
      { value: rows.value, targets: valueTargets(rows, weights), gradient: tokens, terms: tokens * 2 },
      (buffers) => valueLoss({ ...buffers, tokens, clipValue: 0.5 }),
      ['gradient', 'terms'],
    );
    const twin = valueLossTwin(rows, weights, 0.5);
    const sum = (offset: number) => result.terms.reduce((total, term, i) => total + (i % 2 === offset ? term : 0), 0);
    const counted = rows.mask.reduce((total, one) => total + one, 0);
    return [
      { name: 'gradient', actual: result.gradient, expected: twin.gradient },
      { name: 'loss', actual: [sum(0)], expected: [twin.loss] },
      { name: 'clipped', actual: [sum(1)], expected: [Math.round(twin.clipFrac * (counted + 1e-8))], exact: true },
    ];
  },
}));
