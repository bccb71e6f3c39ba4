import { create } from 'zustand';
import { estimate, EstimatorWorkspace, type Estimate, type LevelEstimate } from '../../estimators/estimate.ts';
import { methods as methodTable } from '../../estimators/registry.ts';
import { resolveSettings, type Settings as EstimatorSettings } from '../../estimators/settings.ts';
import type { RolloutBatch } from '../../rollouts/batch.ts';
import { previousRows } from '../groups/hierarchy.ts';
import { trajectoryPlaces } from '../steps/flips.ts';
import { useSettings } from './controls.ts';
import { methods, settingFields, type Method, type Settings } from './fields.ts';
import { firstMembers } from './members.ts';
import { useRollouts } from './rollouts.ts';

/** What the views read: everything here is derived from the rollouts and the settings. */
export interface Estimates {
  /** The rollouts with the first N trajectories of each task. */
  readonly batch: RolloutBatch;
  readonly byMethod: Readonly<Record<Method, Estimate>>;
  readonly settings: Readonly<Record<Method, EstimatorSettings>>;
  /** [9] every level that K can ask for, whatever K is: groups, sizes and the comparison in each. */
  readonly deep: readonly Pick<LevelEstimate, 'k' | 'size' | 'advantage' | 'groups'>[];
  /** Keeps the stages that a change of settings leaves alone. */
  readonly workspace: EstimatorWorkspace;
  /** [rows] the row one step earlier, −1 at the start. */
  readonly previous: Int32Array;
  /** [trajectories] number inside the task. */
  readonly places: Int32Array;
}

interface EstimatesStore {
  readonly current: Estimates | null;
  /** What the last change of a control did to the shown method; null before the first. */
  readonly moved: { readonly flips: number; readonly changed: number } | null;
}

export const useEstimates = create<EstimatesStore>(() => ({ current: null, moved: null }));

/** The estimator settings behind the controls. */
export function estimatorSettings(method: Method, controls: Settings): EstimatorSettings {
  return resolveSettings({
    method,
    preset: controls.preset,
    options: {
      gamma: controls.gamma,
      mode: controls.normalisation,
      K: controls.depth,
      alpha: controls.alpha,
    },
  });
}

/** Equal for two settings that give a method the same advantages. */
const keyOf = (method: Method, settings: EstimatorSettings) =>
  JSON.stringify(methodTable[method].options.map((name) => settings[name]));

let keys: Partial<Record<Method, string>> = {};

function derive(source: RolloutBatch, controls: Settings, before: Estimates | null): Estimates {
  const batch = firstMembers(source, controls.members);
  const sameBatch = before?.batch === batch;
  const workspace = sameBatch ? before.workspace : new EstimatorWorkspace(batch);
  const all = { ...estimatorSettings('hgpo', controls), K: settingFields.depth.max };
  // The deepest hierarchy first: shallower ones are cut from it.
  const hierarchy = workspace.hierarchy(all);
  const compared = workspace.levels(all);
  const deep =
    sameBatch && before.deep[0]!.advantage === compared[0]!.comparison.advantage
      ? before.deep
      : compared.map(({ k, comparison, groups }) => ({
          k,
          groups,
          size: workspace.sizes(all, hierarchy)[k]!,
          advantage: comparison.advantage as Float64Array,
        }));
  const byMethod: Partial<Record<Method, Estimate>> = {};
  const settings = {} as Record<Method, EstimatorSettings>;
  const nextKeys: Partial<Record<Method, string>> = {};
  for (const method of methods) {
    settings[method] = estimatorSettings(method, controls);
    nextKeys[method] = keyOf(method, settings[method]);
    byMethod[method] =
      sameBatch && keys[method] === nextKeys[method]
        ? before.byMethod[method]
        : estimate(batch, settings[method], workspace);
  }
  keys = nextKeys;
  return {
    batch,
    byMethod: byMethod as Record<Method, Estimate>,
    settings,
    deep,
    workspace,
    previous: sameBatch ? before.previous : previousRows(batch),
    places: sameBatch ? before.places : trajectoryPlaces(batch),
  };
}

/** How many advantages of a method changed between two estimates of the same rows, and how many changed sign. */
export function movement(before: Float64Array, after: Float64Array): { flips: number; changed: number } {
  let flips = 0;
  let changed = 0;
  for (let row = 0; row < after.length; row++) {
    if (before[row]! * after[row]! < 0) flips++;
    if (Math.abs(before[row]! - after[row]!) > 1e-9) changed++;
  }
  return { flips, changed };
}

/** Keeps the estimates in step with rollouts and controls from now on. */
export function followSettings(): void {
  const update = () => {
    const { batch: source } = useRollouts.getState();
    if (!source) return;
    const controls = useSettings.getState();
    const before = useEstimates.getState().current;
    const current = derive(source, controls, before);
    const { method } = controls;
    const comparable = before?.batch === current.batch && before.byMethod[method] !== current.byMethod[method];
    useEstimates.setState({
      current,
      moved: comparable ? movement(before.byMethod[method].advantage, current.byMethod[method].advantage) : null,
    });
  };
  useRollouts.subscribe((state, before) => {
    if (state.batch !== before.batch) update();
  });
  useSettings.subscribe((state, before) => {
    // Colours and the compared method change no estimate.
    const { colour: _, against: __, ...now } = state;
    if (Object.entries(now).some(([name, value]) => before[name as keyof Settings] !== value)) update();
  });
  update();
}
