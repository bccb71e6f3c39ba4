import { lazy, Suspense, useEffect, useId, useMemo, useRef } from 'react';
import { reportSentences } from '../../rollouts/import.ts';
import { comparedMethods } from '../../workers/estimation/derive.ts';
import { writeCsv } from '../../rollouts/csv.ts';
import { writeJsonl } from '../../rollouts/jsonl.ts';
import { saveFile } from '../chart/save.ts';
import { SaveMenu } from '../chart/SaveMenu.tsx';
import { Origin } from '../chart/Origin.tsx';
import { useSelection, useSettings } from '../state/controls.ts';
import { controlsOf, type Estimates } from '../state/estimates.ts';
import { nothing } from '../state/fields.ts';
import { tell } from '../state/notices.ts';
import { openFile, openRecorded, useRollouts, type RolloutOrigin } from '../state/rollouts.ts';
import { useFold } from '../state/unfolded.ts';
import { instructiveStep, chooseAddress } from '../state/selection.ts';
import { taskTitle } from '../rollouts/task-title.ts';
import type { Texts } from '../text/en.ts';
import { useTexts } from '../text/language.ts';
import { Fold } from './Fold.tsx';
import { GpuStatus } from './GpuStatus.tsx';
import { RecordedSource } from './RecordedSource.tsx';
import './SourceBar.css';

// Policies and what runs them come when somebody wants to see one play.
const LivePanel = lazy(() => import('../live/LivePanel.tsx').then((module) => ({ default: module.LivePanel })));

/** Which rollouts are on screen, which of their tasks, and the way to one's own. */
export function SourceBar({ estimates, task }: { readonly estimates: Estimates | null; readonly task: number }) {
  const texts = useTexts().source;
  const { origin, report, reading } = useRollouts();
  const [isLiveOpen, openLive] = useFold('live');
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  useFileDrop();
  const batch = estimates?.batch;
  const titles = useMemo(() => batch?.tasks.values.map((_, index) => taskTitle(batch, index)) ?? [], [batch]);
  return (
    <section className="source" aria-label={texts.title}>
      <Origin of={origin.kind} />
      <span className="source-said soft small">
        <span className="source-file">
          {describe(origin, texts)}{' '}
          {origin.kind === 'recorded' && origin.example === undefined && batch && <RecordedSource batch={batch} />}
        </span>
        <GpuStatus />
      </span>
      {batch && (
        <span className="source-task">
          <label htmlFor={id}>{texts.task}</label>
          <select
            id={id}
            value={task}
            onChange={(event) => {
              useSelection.setState({ task: Number(event.currentTarget.value), trajectory: nothing, step: nothing });
            }}
          >
            {titles.map((name, index) => (
              <option key={index} value={index}>
                {index + 1} · {name}
              </option>
            ))}
          </select>
        </span>
      )}
      <span className="soft small" aria-live="polite">
        {reading !== null && origin.kind === 'own' && texts.reading(reading)}
      </span>
      <span className="source-open">
        {(origin.kind !== 'recorded' || origin.example !== undefined) && (
          <button
            type="button"
            onClick={() => {
              useSelection.setState({
                source: 'recorded',
                example: nothing,
                task: nothing,
                trajectory: nothing,
                step: nothing,
              });
              // Leaving a case opens them by itself.
              if (origin.kind !== 'recorded') void openRecorded();
            }}
          >
            {texts.back}
          </button>
        )}
        {estimates && (
          <button
            type="button"
            onClick={() => {
              const step = instructiveStep(estimates);
              if (step) chooseAddress(step);
            }}
          >
            {texts.instructive}
          </button>
        )}
        {estimates && (
          <SaveMenu
            of={texts.title}
            title={texts.saveHint}
            forms={[
              {
                name: 'JSONL',
                save: () => {
                  saveRollouts(estimates);
                },
              },
              {
                name: 'CSV',
                save: () => {
                  saveAdvantages(estimates);
                },
              },
              { name: texts.script, save: () => void saveScript(estimates) },
            ]}
          />
        )}
        <button
          type="button"
          className="source-live"
          aria-expanded={isLiveOpen}
          aria-controls="live-panel"
          onClick={() => {
            openLive(!isLiveOpen);
          }}
        >
          ▶ {texts.live}
        </button>
        <label className="file-button" title={texts.drop}>
          {texts.open}
          <input
            ref={input}
            type="file"
            accept=".jsonl,.ndjson,.json,.txt"
            className="visually-hidden"
            onChange={() => {
              const file = input.current?.files?.[0];
              if (file) openOwn(file);
              if (input.current) input.current.value = '';
            }}
          />
        </label>
      </span>
      <div id="live-panel" hidden={!isLiveOpen}>
        {isLiveOpen && (
          <Suspense>
            <LivePanel />
          </Suspense>
        )}
      </div>
      {report && (
        <Fold name="import" className="source-report" summary={texts.report}>
          <ul lang="en">
            {reportSentences(report).map((sentence, index) => (
              <li key={index}>{sentence}</li>
            ))}
          </ul>
        </Fold>
      )}
    </section>
  );
}

function describe(origin: RolloutOrigin, texts: Texts['source']): string {
  switch (origin.kind) {
    case 'own':
      return origin.file;
    case 'live':
      return texts.liveFrom(texts.policies[origin.policy] ?? origin.policy, texts.environments[origin.environment]);
    case 'training':
      return texts.trainingFrom(origin.run, origin.iteration);
    case 'recorded':
      return origin.example ? texts.example(origin.example) : texts.recordedFrom;
  }
}

function openOwn(file: File): void {
  useSelection.setState({ task: nothing, trajectory: nothing, step: nothing });
  void openFile(file);
}

/** The rollouts as they are on screen, with the first N trajectories of each task. */
function saveRollouts({ batch }: Estimates): void {
  saveFile('rollouts.jsonl', new Blob([...writeJsonl(batch)], { type: 'application/jsonl' }));
}

/** The rows with their return and every method's advantage. */
function saveAdvantages({ batch, byMethod }: Estimates): void {
  const columns = [
    { name: 'return', cell: (row: number) => byMethod.hgpo.returns[row]! },
    ...comparedMethods.flatMap((method) => {
      const estimate = byMethod[method];
      return estimate ? [{ name: `advantage_${method}`, cell: (row: number) => estimate.advantage[row]! }] : [];
    }),
  ];
  saveFile('advantages.csv', new Blob([...writeCsv(batch, columns)], { type: 'text/csv' }));
}

/** A launch script for verl-agent with the method and the settings that are on screen. */
async function saveScript({ batch }: Estimates): Promise<void> {
  const settings = useSettings.getState();
  const environment = batch.episodeIds.values[0]?.startsWith('shop') ? 'shop' : 'rooms';
  try {
    const { clusterScript } = await import('../../workers/estimation/cluster-script.ts');
    const script = clusterScript(settings.method, controlsOf(settings), environment);
    saveFile(`verl-agent-${settings.method}.sh`, new Blob([script], { type: 'text/x-shellscript' }));
  } catch (error) {
    tell({ kind: 'not saved', reason: error instanceof Error ? error.message : String(error) });
  }
}

/** A file dropped anywhere on the page is opened. */
function useFileDrop(): void {
  useEffect(() => {
    const over = (event: DragEvent) => {
      if (event.dataTransfer?.types.includes('Files')) event.preventDefault();
    };
    const drop = (event: DragEvent) => {
      const file = event.dataTransfer?.files[0];
      if (!file) return;
      event.preventDefault();
      openOwn(file);
    };
    addEventListener('dragover', over);
    addEventListener('drop', drop);
    return () => {
      removeEventListener('dragover', over);
      removeEventListener('drop', drop);
    };
  }, []);
}
