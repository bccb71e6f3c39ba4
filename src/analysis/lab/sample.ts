/**
 * What the lab measures from: rows of whole batches, each with the key that says what was judged, and columns of
 * estimates. A key is a pinned (prefix, action), or a recurring (y, h, a). All measures are sums over keys of what the
 * rows of different batches have in common, so a key must be met in at least two batches to count.
 */
export interface LabSample {
  /** `pinned`: a row a key and batch. `recurring`: any number of rows. */
  readonly keys: 'pinned' | 'recurring';
  readonly batchCount: number;
  /** Tasks; measures are taken per task and averaged over tasks. */
  readonly taskCount: number;
  readonly keyCount: number;
  /** [keys] → tasks */
  readonly keyTask: Int32Array;
  /** [keys] share of the visits of its task; any positive scale */
  readonly keyWeight: Float64Array;
  /** [keys] what the estimates should be */
  readonly truths: Readonly<Record<Target, Float64Array>>;
  /** [keys] squared standard error of the truth, where it was itself estimated */
  readonly truthVariance: Readonly<Record<Target, Float64Array>> | null;
  readonly rowCount: number;
  /** [rows] → keys */
  readonly rowKey: Int32Array;
  /** [rows] → batches, ascending */
  readonly rowBatch: Int32Array;
  /** [rows] each; NaN = the estimator has nothing to say about the row */
  readonly columns: ReadonlyMap<string, Float64Array>;
}

/**
 * `state`: A*(y, h, a). `input`: Ā(x, a). `undiscounted`: A* with γ = 1, which estimators of whole episode rewards aim
 * at.
 */
export const targets = ['state', 'input', 'undiscounted'] as const;
export type Target = (typeof targets)[number];

/** Rows of a sample ordered by key, and by batch inside a key. */
export interface KeyOrder {
  /** [keys + 1] */
  readonly start: Int32Array;
  /** [rows] → rows of the sample */
  readonly rows: Int32Array;
}

const orders = new WeakMap<Int32Array, KeyOrder>();

/** The order of a sample's rows by key; made once for each `rowKey`. O(rows). */
export function keyOrder({ rowKey, keyCount }: Pick<LabSample, 'rowKey' | 'keyCount'>): KeyOrder {
  const known = orders.get(rowKey);
  if (known) return known;
  const start = new Int32Array(keyCount + 1);
  for (const key of rowKey) start[key + 1]!++;
  for (let key = 0; key < keyCount; key++) start[key + 1]! += start[key]!;
  const next = start.slice();
  const rows = new Int32Array(rowKey.length);
  for (let row = 0; row < rowKey.length; row++) rows[next[rowKey[row]!]!++] = row;
  const order = { start, rows };
  orders.set(rowKey, order);
  return order;
}

/** The batches of one parity (0 or 1) alone, renumbered; for fitting on one half and scoring on the other. */
export function halfOf(sample: LabSample, parity: 0 | 1): { sample: LabSample; rows: Int32Array } {
  const rows: number[] = [];
  for (let row = 0; row < sample.rowCount; row++) if (sample.rowBatch[row]! % 2 === parity) rows.push(row);
  const kept = Int32Array.from(rows);
  return {
    rows: kept,
    sample: {
      ...sample,
      batchCount: Math.floor((sample.batchCount + 1 - parity) / 2),
      rowCount: kept.length,
      rowKey: kept.map((row) => sample.rowKey[row]!),
      rowBatch: kept.map((row) => sample.rowBatch[row]! >> 1),
      columns: new Map(),
    },
  };
}

/** Grows column by column while batches come in, and hands out samples at any time. */
export class SampleColumns {
  private rowKey = new Int32Array(1024);
  private rowBatch = new Int32Array(1024);
  private readonly values = new Map<string, Float64Array>();
  private count = 0;
  private batches = 0;

  constructor(readonly names: readonly string[]) {
    for (const name of names) this.values.set(name, new Float64Array(1024));
  }

  get batchCount(): number {
    return this.batches;
  }

  /**
   * Adds the rows of one batch.
   * @param keys [rows] of the sample
   * @param rows [rows] where each stands in the columns of the batch
   * @param columns by name, of the batch
   */
  addBatch(keys: ArrayLike<number>, rows: ArrayLike<number>, columns: ReadonlyMap<string, ArrayLike<number>>): void {
    this.reserve(this.count + keys.length);
    for (let j = 0; j < keys.length; j++) {
      this.rowKey[this.count + j] = keys[j]!;
      this.rowBatch[this.count + j] = this.batches;
    }
    for (const [name, values] of this.values) {
      const column = columns.get(name)!;
      for (let j = 0; j < rows.length; j++) values[this.count + j] = column[rows[j]!]!;
    }
    this.count += keys.length;
    this.batches++;
  }

  /** Views of what has been added so far; they stay as they are when more is added. */
  rows(): Pick<LabSample, 'batchCount' | 'rowCount' | 'rowKey' | 'rowBatch' | 'columns'> {
    return {
      batchCount: this.batches,
      rowCount: this.count,
      rowKey: this.rowKey.subarray(0, this.count),
      rowBatch: this.rowBatch.subarray(0, this.count),
      columns: new Map([...this.values].map(([name, column]) => [name, column.subarray(0, this.count)])),
    };
  }

  private reserve(length: number): void {
    if (length <= this.rowKey.length) return;
    const size = Math.max(length, 2 * this.rowKey.length);
    const integers = (before: Int32Array) => {
      const larger = new Int32Array(size);
      larger.set(before);
      return larger;
    };
    this.rowKey = integers(this.rowKey);
    this.rowBatch = integers(this.rowBatch);
    for (const [name, before] of this.values) {
      const larger = new Float64Array(size);
      larger.set(before);
      this.values.set(name, larger);
    }
  }
}
