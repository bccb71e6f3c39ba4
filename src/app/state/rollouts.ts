import { create } from 'zustand';
import type { RolloutBatch } from '../../rollouts/batch.ts';
import { readRollouts } from '../../rollouts/dialects.ts';
import type { ImportReport } from '../../rollouts/import.ts';
import type { ByteSource } from '../../rollouts/lines.ts';
import { tell } from './notices.ts';

/** Where the rollouts on screen come from. */
export type RolloutOrigin = { readonly kind: 'recorded' } | { readonly kind: 'own'; readonly file: string };

export interface Rollouts {
  readonly batch: RolloutBatch | null;
  readonly origin: RolloutOrigin;
  readonly report: ImportReport | null;
  /** A file that is being read, by name; null = none. */
  readonly reading: string | null;
  /** The recorded rollouts could not be fetched. */
  readonly failed: boolean;
}

export const useRollouts = create<Rollouts>(() => ({
  batch: null,
  origin: { kind: 'recorded' },
  report: null,
  reading: null,
  failed: false,
}));

/** The recorded rollouts that the page opens with; public/rollouts/README.md says how they were made. */
const recordedFile = 'rollouts/opening.jsonl';

/** Only the latest request may change the store: a slow file must not replace a newer one. */
let latest = 0;

export async function openRecorded(): Promise<void> {
  const request = ++latest;
  useRollouts.setState({ reading: recordedFile, failed: false });
  try {
    const response = await fetch(import.meta.env.BASE_URL + recordedFile);
    if (!response.ok || !response.body) throw new Error(`${recordedFile}: ${response.status}`);
    const { batch } = await readRollouts(response.body);
    if (request !== latest) return;
    useRollouts.setState({ batch, origin: { kind: 'recorded' }, report: null, reading: null });
  } catch {
    if (request === latest) useRollouts.setState({ reading: null, failed: true });
  }
}

/** Reads a person's own file. It never leaves the page. */
export async function openFile(file: File): Promise<void> {
  const request = ++latest;
  useRollouts.setState({ reading: file.name });
  try {
    const { batch, report } = await readRollouts(file.stream() as ByteSource);
    if (request !== latest) return;
    if (batch.rowCount === 0) {
      useRollouts.setState({ report, reading: null });
      tell({ kind: 'rollouts failed', reason: firstReason(report) });
      return;
    }
    useRollouts.setState({ batch, origin: { kind: 'own', file: file.name }, report, reading: null });
  } catch (error) {
    if (request !== latest) return;
    useRollouts.setState({ reading: null });
    tell({ kind: 'rollouts failed', reason: error instanceof Error ? error.message : String(error) });
  }
}

function firstReason(report: ImportReport): string {
  const first = report.unreadable[0] ?? report.defective[0];
  if (first) return `Line ${first.lines[0]}: ${first.reason}.`;
  return report.refused[0]?.reason ?? '';
}
