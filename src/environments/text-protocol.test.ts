import { describe, expect, test } from 'vitest';
import { environmentFixtures } from '../testing/environment-fixtures.ts';
import { projectFixture } from '../testing/fixtures.ts';
import { RoomsEnvironment } from './rooms/environment.ts';
import { exampleRoom } from './rooms/example-rooms.ts';
import type { RoomDescription } from './rooms/room.ts';
import type { RoomsSplit } from './rooms/splits.ts';

// The protocol cases are prose with expected figures: each is recognised by its wording and played here.

interface ProtocolCase {
  readonly id: string;
  readonly title: string;
  readonly given: string;
  // Each case has expectations of its own; its player names the fields that it reads.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly expect: any;
}

interface Episode {
  readonly room: RoomDescription;
  readonly commands: readonly string[];
}

function episode(id: string): Episode {
  interface File {
    episodes: { id: string; task: RoomDescription['goal']; room: RoomDescription; steps: { command: string }[] }[];
  }
  const files = [
    ...environmentFixtures('episodes').map(({ data }) => data as File),
    projectFixture('environments', 'episodes.json') as File,
  ];
  const { room, task, steps } = files.flatMap(({ episodes }) => episodes).find((candidate) => candidate.id === id)!;
  return { room: { ...room, goal: room.goal ?? task }, commands: steps.map(({ command }) => command) };
}

function play(environment: RoomsEnvironment, commands: readonly string[]) {
  return commands.map((command) => environment.step(command));
}

function wholeState(environment: RoomsEnvironment): unknown {
  return {
    observation: environment.observation(),
    anchorKey: environment.anchorKey(),
    admissible: environment.admissible(),
    stepIndex: environment.stepIndex,
    stateKey: environment.stateKey(),
    done: environment.done,
  };
}

const solved = () => episode('E02');

const players: readonly [RegExp, (given: RegExpExecArray, testCase: ProtocolCase) => void][] = [
  [
    /limit (\d+); play the no-effect command (.+?) \w+ times/,
    ([, limit, command], { expect: expected }) => {
      const environment = new RoomsEnvironment();
      environment.reset(0, undefined, { stepLimit: Number(limit) });
      const results = [];
      while (!environment.done) results.push(environment.step(command!));
      expect({
        doneAfterStep: results.length,
        won: environment.won,
        returnSum: results.reduce((sum, { reward }) => sum + reward, 0),
        noEffectSteps: results.filter(({ info }) => !info.effective).length,
      }).toMatchObject(expected);
      expect(results.at(-1)!.info.truncated).toBe(true);
    },
  ],
  [
    /limit (\d+) on episode (\w+)/,
    ([, limit, id], { expect: expected }) => {
      const { room, commands } = episode(id!);
      const environment = new RoomsEnvironment();
      environment.resetToRoom(room, { stepLimit: Number(limit) });
      const results = play(environment, commands);
      const doneAfterStep = results.findIndex(({ done }) => done) + 1;
      const { info, reward } = results[doneAfterStep - 1]!;
      expect({ doneAfterStep, won: info.won, rewardOnLast: reward }).toMatchObject(expected);
      expect(info.truncated).toBe(!info.won);
    },
  ],
  [
    /^episode (\w+) of/,
    ([, id], { expect: expected }) => {
      const { room, commands } = episode(id!);
      const environment = new RoomsEnvironment();
      environment.resetToRoom(room);
      const results = play(environment, commands);
      expect({
        rewards: results.map(({ reward }) => reward),
        doneAfterStep: results.findIndex(({ done }) => done) + 1,
      }).toMatchObject(expected);
    },
  ],
  [
    /^state (\w+) of .*: play (.+); snapshot; play (.+); restore/,
    ([, room, before, after]) => {
      const environment = new RoomsEnvironment();
      environment.resetToRoom(exampleRoom(room!));
      play(environment, before!.split(', '));
      const snapshot = structuredClone(environment.snapshot());
      const atSnapshot = wholeState(environment);
      const diverging = after!.split(', ');
      const first = [...play(environment, diverging), wholeState(environment)];
      environment.restore(snapshot);
      expect(wholeState(environment)).toEqual(atSnapshot);
      expect([...play(environment, diverging), wholeState(environment)]).toEqual(first);
    },
  ],
  [
    /^reset twice with one seed/,
    () => {
      const start = (environment: RoomsEnvironment, split: RoomsSplit, seed: number) => {
        const observation = environment.reset(seed, undefined, { preset: 'M', split });
        return JSON.stringify([environment.goal, environment.episodeId, observation, environment.admissible()]);
      };
      const one = new RoomsEnvironment();
      for (const split of one.splits) {
        const seed = one.seedForEpisode(split, 11);
        const first = start(one, split, seed);
        start(one, split, one.seedForEpisode(split, 12));
        expect(start(one, split, seed)).toBe(first);
        expect(start(new RoomsEnvironment(), split, seed)).toBe(first);
      }
    },
  ],
  [
    /^a room with (\w+) 1 to \w+ (\d+)/,
    ([, type, last], { expect: expected }) => {
      const receptacles = Array.from({ length: Number(last) }, (_, i) => ({
        name: `${type} ${i + 1}`,
        openable: true,
      }));
      const goal = { task: 'pick', object: 'mug', target: type! } as const;
      const environment = new RoomsEnvironment();
      environment.resetToRoom({
        receptacles: [...receptacles, { name: 'shelf 1', openable: false }],
        objects: [],
        goal,
      });
      const listed = environment.admissible();
      const places = (expected.orderContains as string[]).map((command) => listed.indexOf(command));
      expect(places).toEqual(places.map((_, i) => places[0]! + i));
      expect(places[0]).toBeGreaterThanOrEqual(0);
    },
  ],
  [
    /^reset of a batch with (\d+) tasks and group size (\d+)/,
    ([, tasks, size]) => {
      const members = Array.from({ length: Number(tasks) * Number(size) }, (_, i) => {
        const environment = new RoomsEnvironment();
        environment.reset(environment.seedForEpisode('train', Math.floor(i / Number(size))), undefined, {
          preset: 'S',
        });
        return environment;
      });
      const starts = members.map((member) => `${member.episodeId} ${member.stateKey()} ${member.anchorKey()}`);
      for (const [i, start] of starts.entries()) expect(start).toBe(starts[i - (i % Number(size))]);
      expect(new Set(members.map(({ episodeId }) => episodeId)).size).toBe(Number(tasks));
    },
  ],
  [
    /^any finished episode, one more step/,
    () => {
      const { room, commands } = solved();
      const environment = new RoomsEnvironment();
      environment.resetToRoom(room);
      play(environment, commands);
      const finished = wholeState(environment);
      const { reward, done, info } = environment.step(environment.admissible()[0]!);
      expect({ reward, done, active: info.active }).toEqual({ reward: 0, done: true, active: false });
      expect(wholeState(environment)).toEqual(finished);
    },
  ],
];

const files = environmentFixtures('conformance-text-policy').filter(({ data }) => data.protocol?.length > 0);

describe.each(files)('$file: protocol', ({ data }) => {
  test.for(data.protocol as ProtocolCase[])('$id $title', (testCase, context) => {
    const player = players.find(([wording]) => wording.test(testCase.given));
    if (player === undefined) return context.skip(`No player for ${JSON.stringify(testCase.given)}.`);
    const [wording, run] = player;
    run(wording.exec(testCase.given)!, testCase);
  });
});

test('an index outside the admissible list has no effect and counts as a step', () => {
  const environment = new RoomsEnvironment();
  environment.reset(0, undefined, { preset: 'XS' });
  for (const index of [-1, environment.admissible().length, 0.5, NaN]) {
    const key = environment.stateKey();
    const { info } = environment.step(index);
    expect([info.active, info.effective, environment.stateKey()]).toEqual([true, false, key]);
  }
  expect(environment.stepIndex).toBe(4);
});
