import { useEffect, useState } from 'react';
import type { RolloutBatch } from '../../rollouts/batch.ts';
import { episodeStart } from '../../rollouts/episode-start.ts';
import { toldEvents, type HiddenView } from '../../workers/views.ts';
import { hiddenAfter } from '../play/episode.ts';
import { FloorPlan } from '../play/FloorPlan.tsx';
import { useFold } from '../state/unfolded.ts';
import { useTexts } from '../text/language.ts';
import './RoomPlan.css';

interface RoomPlanProps {
  readonly batch: RolloutBatch;
  /** Batch rows of the trajectory up to the chosen step. */
  readonly rows: Int32Array;
}

/**
 * The room as the agent knew it on the chosen step: what it had been shown until then, read from its observations. What is
 * hidden comes from the environment, which plays the trajectory again, and only when somebody asks. Nothing for
 * rollouts that are not of Rooms.
 */
export default function RoomPlan({ batch, rows }: RoomPlanProps) {
  const texts = useTexts().play;
  const [showsHidden, showHidden] = useFold('hidden-state');
  const hidden = useHidden(batch, rows, showsHidden);
  const events = toldEvents(Array.from(rows, (row) => batch.observations.values[batch.observation[row]!]!));
  if (events?.[0]?.kind !== 'start') return null;
  const first = batch.episodeId?.[rows[0]!] ?? -1;
  return (
    <div className="room-plan">
      <FloorPlan events={events} hidden={hidden.view} narrow />
      {hidden.failure !== null && (
        <p role="alert" className="small">
          {hidden.failure}
        </p>
      )}
      {first >= 0 && episodeStart(batch.episodeIds.values[first]!) && (
        <label className="small" title={texts.showHidden}>
          <input
            type="checkbox"
            checked={showsHidden}
            onChange={(event) => {
              showHidden(event.currentTarget.checked);
            }}
          />{' '}
          {texts.showHiddenShort}
        </label>
      )}
    </div>
  );
}

interface Hidden {
  readonly view: Extract<HiddenView, { environment: 'rooms' }> | null;
  readonly failure: string | null;
}

const unseen: Hidden = { view: null, failure: null };

/** The hidden state on the last of the rows; the one before stays on screen until it is there. */
function useHidden(batch: RolloutBatch, rows: Int32Array, isWanted: boolean): Hidden {
  const [hidden, take] = useState(unseen);
  const key = rows.join();
  useEffect(() => {
    if (!isWanted) return;
    let isCurrent = true;
    const id = batch.episodeIds.values[batch.episodeId![rows[0]!]!]!;
    const actions = Array.from(rows.subarray(0, -1), (row) => batch.actions.values[batch.action[row]!]!);
    hiddenAfter(episodeStart(id)!, id, actions).then(
      (view) => {
        if (isCurrent && view.environment === 'rooms') take({ view, failure: null });
      },
      (error: unknown) => {
        if (isCurrent) take({ view: null, failure: error instanceof Error ? error.message : String(error) });
      },
    );
    return () => {
      isCurrent = false;
    };
    // eslint-disable-next-line react-hooks/exhaustive-deps -- `key` says what the rows are
  }, [batch, key, isWanted]);
  return isWanted ? hidden : unseen;
}
