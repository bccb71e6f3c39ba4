import type { RolloutBatch } from '../../rollouts/batch.ts';
import { useLiveSettings, useSelection } from './controls.ts';
import { nothing, type LiveSettings, type Selection } from './fields.ts';
import { tell } from './notices.ts';
import { openLive, openRecorded, useRollouts } from './rollouts.ts';
import { unfold } from './unfolded.ts';
import { chooseAddress } from './selection.ts';

/** What was played last, so that Back and Forward find it again. */
let played: { readonly batch: RolloutBatch; readonly settings: LiveSettings } | null = null;

/** A step that a link names in rollouts that have yet to be played. */
let awaited: Selection | null = null;

const isSame = (a: LiveSettings, b: LiveSettings) =>
  Object.entries(a).every(([name, value]) => b[name as keyof LiveSettings] === value);

function showPlayed({ batch, settings }: NonNullable<typeof played>): void {
  const { policy, environment } = settings;
  openLive(batch, { kind: 'live', policy, environment });
}

/** Shows what has just been played with these settings, on the step that a link has asked for if one has. */
export function takeLive(batch: RolloutBatch, settings: LiveSettings): void {
  played = { batch, settings };
  const wanted = awaited;
  awaited = null;
  showPlayed(played);
  useSelection.setState({ source: 'live' });
  if (wanted && wanted.trajectory !== nothing) chooseAddress({ ...wanted, task: Math.max(0, wanted.task) });
}

/** Keeps the rollouts on screen those that the selection names: a link or the history may name others. */
export function followSource(): void {
  const settle = () => {
    const { source } = useSelection.getState();
    const { kind } = useRollouts.getState().origin;
    if (source === 'recorded' && kind === 'live') {
      awaited = null;
      void openRecorded();
    }
    if (source === 'live' && kind === 'recorded' && !awaited) {
      const settings = useLiveSettings.getState();
      if (played && isSame(played.settings, settings)) {
        showPlayed(played);
        return;
      }
      awaited = useSelection.getState();
      unfold('live', true);
      tell({ kind: 'live awaited' });
      useSelection.setState({ source: 'recorded', task: nothing, trajectory: nothing, step: nothing });
    }
  };
  useSelection.subscribe((state, before) => {
    if (state.source !== before.source) settle();
  });
  useRollouts.subscribe(({ origin }) => {
    if ((origin.kind === 'own' || origin.kind === 'training') && useSelection.getState().source === 'live')
      useSelection.setState({ source: 'recorded' });
  });
  settle();
}
