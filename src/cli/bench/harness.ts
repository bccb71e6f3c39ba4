import type { Measurement, Prepared, Workload } from './workload.ts';

/** Milliseconds since some fixed moment. */
export type Clock = () => number;

const budget = 1000; // ms of measured repeats that a quick workload gets
const fewest = 5;
const most = 101;
const warmUpBudget = 300; // ms: enough for the optimising compiler to have seen a hot loop

/**
 * Measures one workload: unmeasured runs until the compiler has settled, then repeats, ours and the peer's in turn so
 * that a disturbance of the machine meets both.
 */
export async function measure(workload: Workload, clock: Clock): Promise<Measurement> {
  const { peer } = workload;
  const ours = await workload.prepare();
  const theirs = peer && 'prepare' in peer ? await peer.prepare() : undefined;
  try {
    const slowest = Math.max(await warmUp(ours, workload, clock), theirs ? await warmUp(theirs, workload, clock) : 0);
    const repeats =
      workload.repeats ?? Math.min(most, Math.max(fewest, Math.ceil(budget / Math.max(slowest, budget / most))));
    const values: number[] = [];
    const peerValues: number[] = [];
    for (let i = 0; i < repeats; i++) {
      values.push(await once(ours, clock));
      if (theirs) peerValues.push(await once(theirs, clock));
    }
    const value = quantile(values, 0.5);
    const peerValue = theirs ? quantile(peerValues, 0.5) : peer && 'value' in peer ? peer.value : null;
    return {
      id: workload.id,
      ...(workload.adapter === undefined ? {} : { adapter: workload.adapter }),
      value,
      unit: workload.unit,
      spread: [quantile(values, 0.25), quantile(values, 0.75)],
      repeats,
      peer: peer?.name ?? null,
      peerValue,
      ratio: peerValue === null ? null : workload.better === 'lower' ? peerValue / value : value / peerValue,
    };
  } finally {
    await ours.dispose?.();
    await theirs?.dispose?.();
  }
}

/** Runs without measuring and returns the wall time of the last run in ms. */
async function warmUp(prepared: Prepared, workload: Workload, clock: Clock): Promise<number> {
  const start = clock();
  let last = 0;
  for (let i = 0; ; i++) {
    const before = clock();
    await prepared.run();
    last = clock() - before;
    if (workload.warmUps === undefined ? clock() - start >= warmUpBudget || i + 1 >= most : i + 1 >= workload.warmUps) {
      return last;
    }
  }
}

async function once(prepared: Prepared, clock: Clock): Promise<number> {
  const before = clock();
  const result = prepared.run();
  // Awaiting a value that is no promise would add the wait for the microtask queue to a sub-millisecond run.
  const own = result instanceof Promise ? await result : result;
  return own ?? clock() - before;
}

/** The q-quantile of unsorted numbers, by linear interpolation between order statistics. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = Float64Array.from(values).sort();
  const at = q * (sorted.length - 1);
  const low = Math.floor(at);
  const high = Math.ceil(at);
  return sorted[low]! + (at - low) * (sorted[high]! - sorted[low]!);
}

/**
 * Whether `--only` names this id: the id itself, or a prefix of it that ends at a dot (`engine.decode` takes
 * `engine.decode` and `engine.decode.b128`, not `engine.decoder`).
 */
export function isSelected(id: string, only: readonly string[]): boolean {
  return only.length === 0 || only.some((name) => id === name || id.startsWith(name.endsWith('.') ? name : `${name}.`));
}
