import { afterEach, describe, expect, test } from 'vitest';
import { environmentNames } from '../environments/environment.ts';
import { openEnvironment } from '../environments/registry.ts';
import { digestChoice, digestEpisodes, environmentDigest, expectedDigest } from '../testing/environment-digest.ts';
import { WorkerLostError } from './calls.ts';
import { Environments } from './environments.ts';

let environments = new Environments();
afterEach(() => {
  environments.end();
  environments = new Environments();
});

describe('in a browser', () => {
  test.each(environmentNames)('%s gives the same texts and keys on the main thread as in Node', (name) => {
    expect(environmentDigest(name)).toBe(expectedDigest[name]);
  });

  test('a worker gives the same texts and lists as the main thread', async () => {
    const ids = digestEpisodes.map((_, i) => i);
    const local = digestEpisodes.map(({ environment, seed, options }) => {
      const opened = openEnvironment(environment);
      opened.reset(seed, undefined, options);
      return opened;
    });
    let rows = await environments.reset(ids, digestEpisodes);
    while (rows.count > 0) {
      for (let row = 0; row < rows.count; row++) {
        const environment = local[rows.reply.ids[row]!]!;
        expect(rows.text(row)).toBe(environment.observation().text);
        expect(rows.admissible(row)).toEqual(environment.admissible());
      }
      const choices = local.map((environment, i) =>
        digestChoice(i, environment.stepIndex, environment.admissible().length || 1),
      );
      local.forEach((environment, i) => environment.step(choices[i]!));
      rows = await environments.step(ids, choices);
    }
    expect(local.every(({ done }) => done)).toBe(true);
  });

  test('a worker whose script is not there ends in a sentence, and the next call finds a good one', async () => {
    let script = '/no-such-worker.js';
    environments = new Environments(() =>
      script === ''
        ? new Worker(new URL('./environment-worker.ts', import.meta.url), { type: 'module' })
        : new Worker(script, { type: 'module' }),
    );
    const start = [{ environment: 'rooms', seed: 0 }] as const;
    const lost = environments.reset([0], start);
    await expect(lost).rejects.toBeInstanceOf(WorkerLostError);
    await expect(lost).rejects.toThrow('Check the connection and try again.');
    script = '';
    expect((await environments.reset([0], start)).text(0)).toContain('Goal:');
  });

  test('environments go on where they were after their worker was ended', async () => {
    await environments.reset([7], [{ environment: 'rooms', seed: 2, options: { preset: 'S' } }]);
    await environments.step([7], [0]);
    const before = await environments.view(7);
    environments.end();
    expect(await environments.view(7)).toEqual(before);
  });
});
