/**
 * One thing that `hgpo bench` measures. An area (a file of this folder, named in registry.ts) exports
 * `workloads(context): Workload[] | Promise<Workload[]>`; the harness does warm-up, repeats and the median.
 *
 *     export const workloads = (): Workload[] => [
 *       { id: 'estimators.hgpo.k2', unit: 'ms', better: 'lower', peer: { name: '…', value: 515 },
 *         prepare: () => { const batch = …; return { run: () => void estimate(batch, settings) }; } },
 *     ];
 */
export interface Workload {
  /** `area.what[.size]`; one workload an id (and adapter). The first segment is the area. */
  readonly id: string;
  /** Unit of the value, for example `ms` or `tokens/s`. */
  readonly unit: string;
  readonly better: 'lower' | 'higher';
  /** The GPU adapter that it runs on, where it runs on one; its name contains `swiftshader` or `llvmpipe` for those. */
  readonly adapter?: string;
  /** What it is compared with: a figure with a source, or another implementation that runs alternately with ours. */
  readonly peer?: Peer;
  /** Repeats to measure (default: as many as fit into a second, 5 to 101) and unmeasured runs before them. */
  readonly repeats?: number;
  readonly warmUps?: number;
  /** Builds the inputs, unmeasured. */
  prepare(): Prepared | Promise<Prepared>;
}

export type Peer = { readonly name: string } & (
  { readonly value: number } | { prepare(): Prepared | Promise<Prepared> }
);

export interface Prepared {
  /** One repeat. Returns the value in the workload's unit, or nothing: then its wall time in milliseconds is the value. */
  run(): number | undefined | Promise<number | undefined>;
  /** Frees what `prepare` took. */
  dispose?(): void | Promise<void>;
}

export interface BenchContext {
  readonly seed: number;
  say(sentence: string): void;
}

export interface Area {
  workloads(context: BenchContext): readonly Workload[] | Promise<readonly Workload[]>;
}

/** A measured workload, as `hgpo bench --json` prints it. */
export interface Measurement {
  readonly id: string;
  readonly adapter?: string;
  /** Median over the repeats. */
  readonly value: number;
  readonly unit: string;
  /** First and third quartile of the repeats. */
  readonly spread: readonly [number, number];
  readonly repeats: number;
  readonly peer: string | null;
  readonly peerValue: number | null;
  /** Above 1: better than the peer, whichever way the unit points. */
  readonly ratio: number | null;
}
