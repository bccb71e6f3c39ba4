import { RolloutBatchBuilder, StringTable, type RolloutBatch, type RolloutRow } from './batch.ts';

/** How often a reason occurred, and where first. */
export interface ReasonCount {
  readonly reason: string;
  readonly count: number;
  /** Line numbers, the first `listedLines` of them. */
  readonly lines: readonly number[];
}

/** A trajectory that was left out as a whole. */
export interface RefusedTrajectory {
  readonly trajectory: string;
  /** Its task group; null when none of its rows said one. */
  readonly task: string | null;
  readonly reason: string;
  /** Rows that were left out with it, the defective ones included. */
  readonly rows: number;
  /** The line of its first row. */
  readonly line: number;
}

/** What an import found and what it left out. Every line is accounted for: blank, unreadable, refused or accepted. */
export interface ImportReport {
  readonly dialect: string;
  readonly lines: number;
  readonly blankLines: number;
  /** Lines that hold a row, whether it was accepted or refused. */
  readonly rows: number;
  readonly acceptedRows: number;
  readonly acceptedTrajectories: number;
  readonly tasks: number;
  /** Lines that hold no row. */
  readonly unreadable: readonly ReasonCount[];
  /** Rows with a defect of their own. */
  readonly defective: readonly ReasonCount[];
  readonly refusedTrajectories: number;
  /** The first `listedTrajectories` of them. */
  readonly refused: readonly RefusedTrajectory[];
  /** What was read otherwise than it was written, or not used: nothing is lost by these, but they are worth knowing. */
  readonly notes: readonly ReasonCount[];
}

export const listedLines = 20;
export const listedTrajectories = 1000;

/** What is known of a row that was refused. */
export interface RefusedRow {
  readonly task: string | null;
  readonly trajectory: string | null;
  readonly step: number | null;
  readonly reason: string;
}

export interface ImportResult {
  readonly batch: RolloutBatch;
  /** One entry per row of the file, in file order. */
  readonly rows: {
    readonly count: number;
    /** [rows] line numbers */
    readonly line: Int32Array;
    /** [rows] → batch rows, −1 for a refused row */
    readonly batchRow: Int32Array;
    /** Row of the file → why it was refused. */
    readonly refused: ReadonlyMap<number, RefusedRow>;
  };
  /** [batch rows] the original text of each row, where the reader was asked to keep it. */
  readonly source: readonly string[] | null;
  readonly report: ImportReport;
}

// A gap before the last step shows as a missing step. The loss of a last step cannot be seen from the other rows.
const couldBeLastStep =
  'a line that names no trajectory is lost: if it was the last step of one, that trajectory was accepted without it';

/** Counts by reason, with the first few lines of each. */
class ReasonCounter {
  private readonly byReason = new Map<string, { count: number; lines: number[] }>();

  add(reason: string, line: number): void {
    let entry = this.byReason.get(reason);
    if (!entry) this.byReason.set(reason, (entry = { count: 0, lines: [] }));
    entry.count++;
    if (entry.lines.length < listedLines) entry.lines.push(line);
  }

  counts(): ReasonCount[] {
    return [...this.byReason].map(([reason, { count, lines }]) => ({ reason, count, lines }));
  }
}

/** What a reader says of a row that it could not accept. */
export interface Defect {
  readonly reason: string;
  readonly task?: string | undefined;
  readonly trajectory?: string | undefined;
  readonly step?: number | undefined;
}

/**
 * Takes what a reader finds, line by line, and decides at the end which trajectories are whole. A trajectory is accepted
 * with all its rows or refused with all its rows: return and advantage of a row depend on the rows after it, so a gap
 * would make the others wrong without a sign.
 */
export class RolloutCollector {
  private readonly builder = new RolloutBatchBuilder();
  private readonly source: string[] | null;
  private readonly tasks = new StringTable();
  private readonly trajectories = new StringTable();
  private lines = 0;
  private blankLines = 0;
  /** Row of the file → its line, and its number in the builder (−1: defective). */
  private readonly rowLine: number[] = [];
  private readonly rowAdded: number[] = [];
  /** By number in the builder. */
  private readonly added: { row: number[]; task: number[]; trajectory: number[]; step: number[] } = {
    row: [],
    task: [],
    trajectory: [],
    step: [],
  };
  private readonly episodeReward = new Map<number, number>();
  private readonly withoutAction: number[] = [];
  private readonly defects = new Map<number, Defect>();
  /** Trajectory → why one of its lines makes it incomplete. The first reason counts. */
  private readonly gaps = new Map<number, { reason: string; line: number; task: string | null; rows: number }>();
  private readonly unreadable = new ReasonCounter();
  private readonly defective = new ReasonCounter();
  private readonly notes = new ReasonCounter();

  /** @param keepSource whether the original text of each row is kept, for writing it back */
  constructor(
    private readonly dialect: string,
    keepSource: boolean,
  ) {
    this.source = keepSource ? [] : null;
  }

  /** To be called once for each line of the file, whatever is on it. */
  countLine(isBlank: boolean): void {
    this.lines++;
    if (isBlank) this.blankLines++;
  }

  /**
   * A whole row. `text` is what stood in the file. A row without `action` is accepted only if no row has one.
   */
  row(
    line: number,
    text: string,
    row: Omit<RolloutRow, 'action'> & { readonly action?: string | undefined },
    episodeReward?: number,
  ): void {
    const n = this.added.row.length;
    this.added.row.push(this.rowLine.length);
    this.added.task.push(this.tasks.intern(row.task));
    this.added.trajectory.push(this.trajectories.intern(row.trajectory));
    this.added.step.push(row.step);
    this.rowAdded.push(n);
    this.rowLine.push(line);
    if (row.action === undefined) this.withoutAction.push(n);
    if (episodeReward !== undefined) this.episodeReward.set(n, episodeReward);
    this.builder.add({ ...row, action: row.action ?? '' });
    this.source?.push(text);
  }

  /** A row that cannot be accepted. Its trajectory, where known, is refused with it. */
  refuse(line: number, defect: Defect): void {
    this.defects.set(this.rowLine.length, defect);
    this.rowLine.push(line);
    this.rowAdded.push(-1);
    this.defective.add(defect.reason, line);
    if (defect.trajectory !== undefined) {
      this.gap(defect.trajectory, `line ${line}: ${defect.reason}`, line, defect.task ?? null, 1);
    } else this.note(line, couldBeLastStep);
  }

  /** A line that holds no row, and the trajectory that it seems to belong to. */
  unreadableLine(line: number, reason: string, trajectory: string | undefined): void {
    this.unreadable.add(reason, line);
    if (trajectory !== undefined) this.gap(trajectory, `line ${line} ${reason}`, line, null, 0);
    else this.note(line, couldBeLastStep);
  }

  note(line: number, reason: string): void {
    this.notes.add(reason, line);
  }

  private gap(name: string, reason: string, line: number, task: string | null, rows: number): void {
    const trajectory = this.trajectories.intern(name);
    const known = this.gaps.get(trajectory);
    if (known) known.rows += rows;
    else this.gaps.set(trajectory, { reason, line, task, rows });
  }

  finish(): ImportResult {
    this.settleActions();
    const refusals = this.incompleteTrajectories();
    const { added } = this;
    const kept = Int32Array.from(added.row.keys()).filter(
      (n) => this.rowAdded[added.row[n]!] !== -1 && !refusals.has(added.trajectory[n]!),
    );
    const batch = this.builder.build(kept);
    this.compareEpisodeRewards(batch, kept);

    const count = this.rowLine.length;
    const batchRow = new Int32Array(count).fill(-1);
    kept.forEach((n, i) => (batchRow[added.row[n]!] = i));
    const refused = new Map<number, RefusedRow>();
    for (let row = 0; row < count; row++) {
      if (batchRow[row] !== -1) continue;
      const defect = this.defects.get(row);
      const n = this.rowAdded[row]!;
      refused.set(
        row,
        defect
          ? {
              task: defect.task ?? null,
              trajectory: defect.trajectory ?? null,
              step: defect.step ?? null,
              reason: defect.reason,
            }
          : {
              task: this.tasks.values[added.task[n]!]!,
              trajectory: this.trajectories.values[added.trajectory[n]!]!,
              step: added.step[n]!,
              reason: `its trajectory is incomplete: ${refusals.get(added.trajectory[n]!)!.reason}`,
            },
      );
    }
    return {
      batch,
      rows: { count, line: Int32Array.from(this.rowLine), batchRow, refused },
      source: this.source && Array.from(kept, (n) => this.source![n]!),
      report: {
        dialect: this.dialect,
        lines: this.lines,
        blankLines: this.blankLines,
        rows: count,
        acceptedRows: batch.rowCount,
        acceptedTrajectories: batch.trajectories.size,
        tasks: batch.tasks.size,
        unreadable: this.unreadable.counts(),
        defective: this.defective.counts(),
        refusedTrajectories: refusals.size,
        refused: [...refusals.values()].sort((a, b) => a.line - b.line).slice(0, listedTrajectories),
        notes: this.notes.counts(),
      },
    };
  }

  /** A file without any action is one whose source does not say; a single row without one is defective. */
  private settleActions(): void {
    const all = this.withoutAction.length === this.added.row.length;
    for (const n of this.withoutAction) {
      const row = this.added.row[n]!;
      const line = this.rowLine[row]!;
      if (all) {
        this.note(line, '`action` is missing in every row: all actions are read as empty');
        continue;
      }
      const trajectory = this.trajectories.values[this.added.trajectory[n]!]!;
      const task = this.tasks.values[this.added.task[n]!]!;
      const reason = '`action` is missing';
      this.rowAdded[row] = -1;
      this.defects.set(row, { reason, task, trajectory, step: this.added.step[n]! });
      this.defective.add(reason, line);
      this.gap(trajectory, `line ${line}: ${reason}`, line, task, 1);
    }
  }

  /** The trajectories that cannot be accepted, by number, each with one reason. */
  private incompleteTrajectories(): Map<number, RefusedTrajectory> {
    const { added, trajectories } = this;
    const rowsOf = new Int32Array(trajectories.size);
    const firstTask = new Int32Array(trajectories.size).fill(-1);
    const firstRow = new Int32Array(trajectories.size).fill(-1);
    const highest = new Int32Array(trajectories.size).fill(-1);
    const reasons = new Map<number, string>();
    for (const [trajectory, gap] of this.gaps) reasons.set(trajectory, gap.reason);
    for (let n = 0; n < added.row.length; n++) {
      if (this.rowAdded[added.row[n]!] === -1) continue;
      const t = added.trajectory[n]!;
      rowsOf[t]!++;
      highest[t] = Math.max(highest[t]!, added.step[n]!);
      if (firstTask[t] === -1) {
        firstTask[t] = added.task[n]!;
        firstRow[t] = n;
      } else if (firstTask[t] !== added.task[n] && !reasons.has(t)) {
        const names = [firstTask[t]!, added.task[n]!].map((task) => JSON.stringify(this.tasks.values[task]));
        reasons.set(t, `its rows name two tasks, ${names.join(' and ')}`);
      }
    }
    // Steps 0 … T−1 must each be there once. `seen` has a place for each row: a step beyond the row count is a gap anyway.
    const start = new Int32Array(trajectories.size + 1);
    for (let t = 0; t < trajectories.size; t++) start[t + 1] = start[t]! + rowsOf[t]!;
    const seen = new Uint8Array(start[trajectories.size]!);
    for (let n = 0; n < added.row.length; n++) {
      const t = added.trajectory[n]!;
      const step = added.step[n]!;
      if (this.rowAdded[added.row[n]!] === -1 || step >= rowsOf[t]!) continue;
      const place = start[t]! + step;
      if (seen[place] && !reasons.has(t)) reasons.set(t, `step ${step} is there twice`);
      seen[place] = 1;
    }
    for (let t = 0; t < trajectories.size; t++) {
      if (reasons.has(t) || rowsOf[t] === 0) continue;
      const missing = seen.subarray(start[t]!, start[t + 1]!).indexOf(0);
      if (missing !== -1) reasons.set(t, `step ${missing} is missing (its last is ${highest[t]})`);
    }

    const refusals = new Map<number, RefusedTrajectory>();
    for (const [t, reason] of reasons) {
      const gap = this.gaps.get(t);
      const line = firstRow[t] === -1 ? Infinity : this.rowLine[added.row[firstRow[t]!]!]!;
      refusals.set(t, {
        trajectory: trajectories.values[t]!,
        task: firstTask[t] === -1 ? (gap?.task ?? null) : this.tasks.values[firstTask[t]!]!,
        reason,
        rows: rowsOf[t]! + (gap?.rows ?? 0),
        line: Math.min(line, gap?.line ?? Infinity),
      });
    }
    return refusals;
  }

  /** `episode_reward` is redundant: the sum of the rewards is used, and a file that disagrees with itself is told so. */
  private compareEpisodeRewards(batch: RolloutBatch, kept: Int32Array): void {
    if (this.episodeReward.size === 0) return;
    for (let t = 0; t < batch.trajectories.size; t++) {
      const rows = batch.byStep.subarray(batch.rowStart[t]!, batch.rowStart[t + 1]!);
      let sum = 0;
      for (const row of rows) sum += batch.reward[row]!;
      for (const row of rows) {
        const said = this.episodeReward.get(kept[row]!);
        // Sources often keep rewards in float32.
        if (said === undefined || Math.abs(said - sum) <= 1e-5 * Math.max(1, Math.abs(sum))) continue;
        this.note(
          this.rowLine[this.added.row[kept[row]!]!]!,
          '`episode_reward` is not the sum of the rewards of its trajectory: the sum is used',
        );
        break;
      }
    }
  }
}

/** The report in sentences, for people; the first says what was accepted. */
export function reportSentences(report: ImportReport): string[] {
  const { acceptedRows, acceptedTrajectories, tasks } = report;
  const sentences = [
    `Accepted ${amount(acceptedRows, 'row')} of ${amount(acceptedTrajectories, 'trajectory')} in ${amount(tasks, 'task')}, from ${amount(report.lines, 'line')}.`,
  ];
  for (const entry of report.unreadable)
    sentences.push(`${amount(entry.count, 'line')}: ${entry.reason.replace(/^is /, '')} ${where(entry)}.`);
  for (const entry of report.defective)
    sentences.push(`${amount(entry.count, 'row')}: ${entry.reason} ${where(entry)}.`);
  for (const { trajectory, reason, rows } of report.refused) {
    sentences.push(`Trajectory ${JSON.stringify(trajectory)} refused with ${amount(rows, 'row')}: ${reason}.`);
  }
  const unlisted = report.refusedTrajectories - report.refused.length;
  if (unlisted > 0) sentences.push(`And ${amount(unlisted, 'further trajectory')} refused.`);
  for (const entry of report.notes) sentences.push(`Note: ${entry.reason} ${where(entry)}.`);
  return sentences;
}

function where({ count, lines }: ReasonCount): string {
  return `(${lines.length === 1 ? 'line' : 'lines'} ${lines.join(', ')}${count > lines.length ? ', …' : ''})`;
}

/** A count with its noun. */
function amount(count: number, noun: string): string {
  const plural = noun.endsWith('y') ? `${noun.slice(0, -1)}ies` : `${noun}s`;
  return `${count} ${count === 1 ? noun : plural}`;
}
