import { presetNames, type Environment, type EnvironmentName, type PresetName } from '../environments/environment.ts';
import { RoomsEnvironment } from '../environments/rooms/environment.ts';
import { ShopEnvironment } from '../environments/shop/environment.ts';
import type { PromptInput } from '../policy/prompt.ts';
import { randomStream } from '../random/stream.ts';

export function openEnvironment(name: EnvironmentName): Environment {
  return name === 'rooms' ? new RoomsEnvironment() : new ShopEnvironment();
}

export const environmentsAndPresets = (['rooms', 'shop'] as const).flatMap((environment) =>
  presetNames.map((preset) => [environment, preset] as const),
);

/** Inputs of a policy that plays random admissible commands, through as many episodes as it takes. */
export function* randomInputs(
  name: EnvironmentName,
  preset: PresetName,
  count: number,
  seed = 0,
): Generator<PromptInput> {
  const environment = openEnvironment(name);
  const stream = randomStream(seed, 'random play', name, preset);
  for (let made = 0, episode = 0; made < count; episode++) {
    const split = environment.splits[episode % environment.splits.length]!;
    let observation = environment.reset(environment.seedForEpisode(split, episode), undefined, { preset, split });
    const history: { observation: typeof observation; action: string }[] = [];
    for (; made < count && !environment.done; made++) {
      const admissible = environment.admissible().filter((command) => command !== 'help');
      yield { environment: name, goal: environment.goal, observation, history: [...history], admissible };
      const action = stream.pick(admissible);
      history.push({ observation, action });
      observation = environment.step(action).observation;
    }
  }
}
