import { lazy, Suspense, useEffect } from 'react';
import { isRecordedOnly, memoryOf } from '../../workers/lab/setting.ts';
import { Origin } from '../chart/Origin.tsx';
import { Fold } from '../shell/Fold.tsx';
import { useLabChoices } from '../state/controls.ts';
import { labFields, nothing, type LabChoices } from '../state/fields.ts';
import { AlphaMap } from './AlphaMap.tsx';
import { Cases } from './Cases.tsx';
import { Parts, Truths } from './Contents.tsx';
import { followLabChoices, isAnswered, measureHere, stopMeasuring, takeNearest, useLab, wantedOf } from './lab.ts';
import { Levels } from './Levels.tsx';
import { Methods } from './Methods.tsx';
import { Proposition } from './Proposition.tsx';
import { useLabTexts } from './use-lab-texts.ts';
import './Lab.css';

const More = lazy(() => import('./More.tsx'));

/** The lab: controls, how the measuring goes, and what it found. */
export default function LabInside() {
  const texts = useLabTexts();
  const choices = useLabChoices();
  const { view, recorded } = useLab();
  useEffect(() => followLabChoices(), []);
  const wanted = wantedOf(choices);
  const isStale = view !== null && !isAnswered(view, wanted);
  // What is on screen keeps its own depth until there is something as deep.
  const depth = view ? Math.min(wanted.depth, view.deepest) : wanted.depth;
  return (
    <div className="lab">
      <Controls choices={choices} />
      <Progress isStale={isStale} />
      {view && (
        <div className={isStale ? 'lab-stale' : undefined} aria-busy={isStale}>
          <p className="small">
            <Origin of={view.origin} /> {texts.facts(view.facts, view.ofTasks, view.ofRepeats)}
          </p>
          <p className="soft small lab-facts">{texts.hidden(view.facts)}</p>
          {wanted.depth > view.facts.memory && <p className="soft small">{texts.finer}</p>}
          <div className="lab-figures">
            <Levels view={view} depth={depth} />
            <AlphaMap view={view} depth={depth} />
            <Proposition view={view} depth={depth} />
            <Methods view={view} depth={depth} />
            <Truths view={view} />
            <Parts view={view} />
          </div>
        </div>
      )}
      <Cases recorded={recorded} />
      <Fold name="lab-more" summary={texts.more}>
        <Suspense>
          <More recorded={recorded} />
        </Suspense>
      </Fold>
    </div>
  );
}

const change = (choices: Partial<LabChoices>) => {
  useLabChoices.setState(choices);
};

function Controls({ choices }: { readonly choices: LabChoices }) {
  const texts = useLabTexts();
  const range = ({ min, max }: { readonly min: number; readonly max: number }) =>
    Array.from({ length: max - min + 1 }, (_, i) => min + i);
  return (
    <fieldset className="lab-controls">
      <legend className="visually-hidden">{texts.controls}</legend>
      <label>
        <span>{texts.place}</span>
        <select
          value={choices.labPlace}
          onChange={(event) => {
            // A shipped policy was made for one memory: whoever chooses it means that.
            const labPlace = event.currentTarget.value as LabChoices['labPlace'];
            change({ labPlace, labMemory: memoryOf(labPlace) ?? choices.labMemory });
          }}
        >
          {labFields.labPlace.options.map((place) => (
            <option key={place} value={place}>
              {texts.places[place]}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span>{texts.memory}</span>
        <select
          value={choices.labMemory}
          onChange={(event) => {
            change({ labMemory: Number(event.currentTarget.value) });
          }}
        >
          {range(labFields.labMemory).map((memory) => (
            <option key={memory}>{memory}</option>
          ))}
        </select>
      </label>
      <label>
        <span>{texts.depth}</span>
        <select
          value={choices.labDepth}
          onChange={(event) => {
            change({ labDepth: Number(event.currentTarget.value) });
          }}
        >
          <option value={nothing}>{texts.tied(choices.labMemory)}</option>
          {range({ ...labFields.labDepth, min: 0 }).map((depth) => (
            <option key={depth}>{depth}</option>
          ))}
        </select>
      </label>
      <label>
        <span>{texts.members}</span>
        <select
          value={choices.labMembers}
          onChange={(event) => {
            change({ labMembers: Number(event.currentTarget.value) });
          }}
        >
          {[...new Set([2, 4, 8, 16, 32, 64, choices.labMembers])]
            .sort((a, b) => a - b)
            .map((members) => (
              <option key={members}>{members}</option>
            ))}
        </select>
      </label>
    </fieldset>
  );
}

/** What is being done, what was refused and why, and whether what is on screen is of other settings. */
function Progress({ isStale }: { readonly isStale: boolean }) {
  const texts = useLabTexts();
  const { work, refusal, failure, stopped, view } = useLab();
  const place = useLabChoices((state) => state.labPlace);
  return (
    <div className="lab-progress">
      {work ? (
        <>
          <button type="button" onClick={stopMeasuring}>
            {texts.stop}
          </button>
          <progress
            value={work.phase === 'finishing' ? undefined : work.done}
            max={work.all || undefined}
            aria-hidden
          />
          <span aria-live="off">{texts.working(work.phase, work.done, work.all)}</span>
        </>
      ) : (
        !refusal &&
        (isRecordedOnly(place) ? (
          <span className="soft small">{texts.onlyRecorded}</span>
        ) : (
          <button type="button" onClick={measureHere}>
            {failure !== null ? texts.again : texts.measureHere}
          </button>
        ))
      )}
      <span role="status">
        {refusal && (
          <>
            {texts.refused[refusal.reason]}{' '}
            <button
              type="button"
              onClick={() => {
                takeNearest(refusal.nearest);
              }}
            >
              {texts.takeNearest(refusal.nearest.memory, refusal.nearest.depth, refusal.nearest.members)}
            </button>{' '}
          </>
        )}
        {failure !== null && `${texts.failed(failure)} `}
        {stopped && `${texts.stoppedAt} `}
        {isStale && <strong>{work ? texts.stale : texts.staleStopped}</strong>}
        {!view && !work && !refusal && failure === null && texts.loading}
      </span>
    </div>
  );
}
