import { openEnvironment } from '../environments/registry.ts';
import { firstEpisodes } from '../rollouts/collect.ts';
import { TabularPolicy } from '../rollouts/policies/tabular.ts';
import { toySettings, type RunSettings } from '../training/run-settings.ts';
import { TabularLearner } from '../training/tabular-learner.ts';

/** A small run of the tabular policy on a fixed set of rooms XS. */
export function tabularRun(
  method: string,
  options: Record<string, unknown> = {},
  changes: Partial<RunSettings> & { episodeCount?: number } = {},
): RunSettings {
  const { episodeCount = 4, ...rest } = changes;
  const settings = toySettings(
    { method, options: { K: 1, groups: episodeCount, groupSize: method === 'ppo' ? 1 : 4, ...options } },
    'tabular',
  );
  const { stepLimit } = settings;
  return {
    settings,
    environment: 'rooms',
    preset: 'XS',
    policyKind: 'tabular',
    memory: 1,
    seed: 1,
    split: 'train',
    episodes: firstEpisodes(openEnvironment('rooms'), 'train', episodeCount, { preset: 'XS', stepLimit }),
    validationInterval: 0,
    validationEpisodes: 0,
    stop: { success: null, minutes: null },
    ...rest,
  };
}

export function freshTable(temperature = 1): TabularLearner {
  return new TabularLearner(new TabularPolicy({ environment: 'rooms', memory: 1, temperature }));
}
