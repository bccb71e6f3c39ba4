import type { AggregationMode } from '../training/losses/aggregation.ts';
import { klKindAliases, type KlKind } from '../training/losses/kl.ts';
import type { PolicyRows } from '../training/losses/ppo.ts';
import { objectiveAggregation, type PolicyObjective } from '../training/losses/total.ts';
import type { ValueRows } from '../training/losses/value.ts';
import type { FixtureFile } from './fixtures.ts';

/**
 * The golden loss files (schema `hgpo-loss/1`) as operands of our losses. A case is known by its fields, whatever the file
 * is called. Two public implementations were run: `verl`, which our losses follow, and `verl-agent`, which has no clamp of
 * the log ratio, counts empty rows in the mean over rows, and has no factor ½ in the value loss. Those differences are
 * turned into settings here, so that every case has an expected value of ours.
 */
export type LossCase = { readonly id: string } & (
  | {
      readonly kind: 'policy';
      readonly rows: PolicyRows;
      readonly objective: PolicyObjective;
      readonly divisor: number | undefined;
      readonly expected: Readonly<Record<string, number>>;
      /** [tokens]; null where the file has none (a defect case) */
      readonly gradient: Float64Array | null;
    }
  | {
      readonly kind: 'kl';
      readonly klKind: KlKind;
      readonly logProb: Float64Array;
      readonly refLogProb: Float64Array;
      readonly value: Float64Array;
      readonly gradient: Float64Array;
    }
  | {
      readonly kind: 'aggregation';
      readonly rows: PackedMatrix;
      readonly values: Float64Array;
      readonly mode: AggregationMode;
      readonly divisor: number | undefined;
      readonly expected: number;
    }
  | {
      readonly kind: 'micro-batches';
      readonly rows: PackedMatrix;
      readonly values: Float64Array;
      readonly mode: AggregationMode;
      /** Number of rows of each micro-batch. */
      readonly sizes: readonly number[];
      readonly perMicroBatch: Float64Array;
      readonly fullBatch: number;
    }
  | {
      readonly kind: 'value';
      readonly rows: ValueRows;
      readonly mode: AggregationMode;
      readonly divisor: number | undefined;
      readonly clipValue: number;
      /** Ours is this many times the file's. */
      readonly factor: number;
      readonly expected: Readonly<Record<string, number>>;
      readonly gradient: Float64Array;
    }
  | {
      readonly kind: 'kl-controller';
      readonly initial: number;
      readonly target: number;
      readonly horizon: number;
      readonly updates: readonly (readonly [kl: number, rows: number])[];
      readonly expected: readonly number[];
    }
);

interface PackedMatrix {
  readonly rowStart: Int32Array;
  readonly mask: Float64Array;
}

/** Whether a golden file holds losses (the same schema also serves GAE and dynamic sampling). */
export function isLossFile(_file: string, data: FixtureFile['data']): boolean {
  return data.schema === 'hgpo-loss/1' && data.cases.some((entry: Json) => lossCaseKind(entry) !== null);
}

/** @throws when a file that holds losses has a case of no known kind. */
export function lossCases({ file, data }: FixtureFile): LossCase[] {
  return data.cases.map((entry: Json) => {
    const kind = lossCaseKind(entry);
    if (kind === null) throw new Error(`${file}: case ${entry.id} is of no known kind.`);
    return { id: entry.id, ...readers[kind](entry, data.inputs ?? {}) };
  });
}

// Golden files are plain JSON whose fields the readers below name.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Json = any;

function lossCaseKind(entry: Json): LossCase['kind'] | null {
  if ('updates' in entry) return 'kl-controller';
  if ('kind' in entry) return 'kl';
  if ('clipValue' in entry) return 'value';
  if ('clipLow' in entry) return 'policy';
  if ('microBatches' in entry) return 'micro-batches';
  if ('agg' in entry) return 'aggregation';
  return null;
}

type Without<K extends LossCase['kind']> = Omit<Extract<LossCase, { kind: K }>, 'id'>;
const readers: { [K in LossCase['kind']]: (entry: Json, inputs: Json) => Without<K> } = {
  policy(entry, inputs) {
    const mask = matrixMask(entry, inputs);
    const logProb = flat(inputs.logProb);
    const advantage =
      entry.advantageValue === undefined
        ? flat(inputs[entry.advantage ?? 'advantage'])
        : new Float64Array(logProb.length).fill(Number(entry.advantageValue));
    const objective: PolicyObjective = {
      ratio: entry.agg === undefined ? 'sequence' : 'token',
      aggregation: entry.agg ?? 'seq-mean-token-mean',
      clipLow: Number(entry.clipLow),
      clipHigh: Number(entry.clipHigh),
      dualClip: entry.dualClip === undefined || entry.dualClip === null ? null : Number(entry.dualClip),
      logRatioClamp: entry.impl === 'verl-agent' ? null : 20,
      entropyCoefficient: 0,
      klKind: 'k3',
      klCoefficient: 0,
    };
    const { grad, ...expected } = entry.expected;
    delete expected.defect;
    return {
      kind: 'policy',
      rows: { ...mask, logProb, oldLogProb: flat(inputs.oldLogProb), advantage },
      objective,
      divisor: divisorOf(entry, objectiveAggregation(objective), mask),
      expected: Object.fromEntries(Object.entries(expected).map(([name, value]) => [name, Number(value)])),
      gradient: grad === undefined ? null : flat(grad),
    };
  },
  kl(entry, inputs) {
    const normal = entry.input === undefined || entry.input === 'normal';
    const refLogProb = flat(normal ? inputs.refLogProb : inputs[entry.input]);
    return {
      kind: 'kl',
      klKind: klKindAliases[entry.kind] ?? entry.kind,
      logProb: normal ? flat(inputs.logProb) : new Float64Array(refLogProb.length),
      refLogProb,
      value: flat(entry.expected.value),
      gradient: flat(entry.expected.grad),
    };
  },
  aggregation(entry, inputs) {
    const rows = matrixMask(entry, inputs);
    return {
      kind: 'aggregation',
      rows,
      values: flat(inputs.lossMat),
      mode: entry.agg,
      divisor: divisorOf(entry, entry.agg, rows),
      expected: Number(entry.expected),
    };
  },
  'micro-batches'(entry, inputs) {
    return {
      kind: 'micro-batches',
      rows: matrixMask(entry, inputs),
      values: flat(inputs.lossMat),
      mode: entry.agg,
      sizes: entry.microBatches,
      perMicroBatch: Float64Array.from(entry.expected.perMicroBatch, Number),
      fullBatch: Number(entry.expected.fullBatch),
    };
  },
  value(entry, inputs) {
    const mask = matrixMask(entry, inputs);
    return {
      kind: 'value',
      rows: {
        ...mask,
        value: flat(inputs.valuePred),
        oldValue: flat(inputs.valueOld),
        returns: flat(inputs.returns),
      },
      mode: entry.agg,
      divisor: divisorOf(entry, entry.agg, mask),
      clipValue: Number(entry.clipValue),
      factor: entry.impl === 'verl-agent' ? 0.5 : 1,
      expected: { loss: Number(entry.expected.loss), clipFrac: Number(entry.expected.clipFrac) },
      gradient: flat(entry.expected.grad),
    };
  },
  'kl-controller'(entry) {
    return {
      kind: 'kl-controller',
      initial: Number(entry.init),
      target: Number(entry.target),
      horizon: Number(entry.horizon),
      updates: entry.updates,
      expected: entry.expected.map(Number),
    };
  },
};

// Non-finite numbers stand in the files as strings.
function flat(matrix: readonly (readonly (number | string)[])[]): Float64Array {
  return Float64Array.from(matrix.flat(), Number);
}

function matrixMask(entry: Json, inputs: Json): PackedMatrix {
  const matrix: readonly (readonly number[])[] =
    entry.mask === undefined ? inputs.mask : (inputs.masks?.[entry.mask] ?? inputs[entry.mask]);
  const rowStart = new Int32Array(matrix.length + 1);
  matrix.forEach((row, i) => (rowStart[i + 1] = rowStart[i]! + row.length));
  return { rowStart, mask: flat(matrix) };
}

function divisorOf(entry: Json, mode: AggregationMode, rows: PackedMatrix): number | undefined {
  const workers = entry.dpSize ?? 1;
  if (entry.lossScaleFactor !== undefined) return entry.lossScaleFactor;
  if (entry.batchNumTokens !== undefined) return entry.batchNumTokens / workers;
  if (entry.globalBatchSize !== undefined) return entry.globalBatchSize / workers;
  const perRow = mode === 'seq-mean-token-sum' || mode === 'seq-mean-token-mean';
  return perRow && entry.impl === 'verl-agent' ? rows.rowStart.length - 1 : undefined;
}
