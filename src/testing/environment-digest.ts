import type { EnvironmentName } from '../environments/environment.ts';
import { openEnvironment } from '../environments/registry.ts';
import { textKey } from '../environments/text-key.ts';
import { randomStream } from '../random/stream.ts';

/** The episodes whose every text and key is the same in Node, in a browser, in a worker and on the main thread. */
export const digestEpisodes = (['rooms', 'shop'] as const).flatMap((environment) =>
  (['XS', 'M'] as const).flatMap((preset) =>
    [0, 2, 4, 6, 8, 10].map((seed) => ({ environment, seed, options: { preset } })),
  ),
);

/** The place of the command to take among `count` admissible ones, at a step of the n-th episode. */
export function digestChoice(episode: number, step: number, count: number): number {
  return randomStream(episode, 'digest', step).below(count);
}

/** What `environmentDigest` gives on every machine, for the generator versions of the product. */
export const expectedDigest: Readonly<Record<EnvironmentName, string>> = {
  rooms: '2e850a67de47d887',
  shop: 'aa1143e0a4aaa624',
};

/** One hash over all texts, lists, rewards and keys of an environment's digest episodes, played at random. */
export function environmentDigest(name: EnvironmentName): string {
  const facts: unknown[] = [];
  digestEpisodes.forEach((start, episode) => {
    if (start.environment !== name) return;
    const environment = openEnvironment(name);
    environment.reset(start.seed, undefined, start.options);
    facts.push(environment.episodeId, environment.goal, environment.observation());
    while (!environment.done) {
      const commands = environment.admissible();
      const { observation, reward } = environment.step(digestChoice(episode, environment.stepIndex, commands.length));
      facts.push(commands, observation, reward, environment.anchorKey(), environment.stateKey());
    }
  });
  return textKey(JSON.stringify(facts));
}
