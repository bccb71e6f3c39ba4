import { describe, expect, test } from 'vitest';
import { randomStream } from '../../random/stream.ts';
import { heapInUse } from '../../testing/heap.ts';
import { EnvironmentNotResetError, ForeignSnapshotError, OptionError, type Snapshot } from '../environment.ts';
import { RoomsEnvironment } from './environment.ts';
import { exampleRoom } from './example-rooms.ts';
import { floorPlan } from './floor-plan.ts';

function started(seed = 0): RoomsEnvironment {
  const environment = new RoomsEnvironment();
  environment.reset(seed, undefined, { preset: 'XS' });
  return environment;
}

describe('a snapshot is refused', () => {
  const environment = started();
  const own = environment.snapshot();
  const bytes = (change: (state: Uint8Array) => void): Snapshot => {
    const state = own.state.slice();
    change(state);
    return { ...own, state };
  };
  const receptacles = environment.hidden.room.receptacleNames.length;

  test.each<[string, Snapshot]>([
    ['of another episode', started(2).snapshot()],
    ['of another environment', { ...own, environment: 'shop' }],
    ['of another version', { ...own, version: 99 }],
    ['without bytes', { ...own, state: [...own.state] as unknown as Uint8Array }],
    ['cut short', { ...own, state: own.state.slice(0, -1) }],
    ['with a step beyond the limit', bytes((state) => (state[0] = 51))],
    ['with the agent nowhere', bytes((state) => (state[3] = receptacles))],
    ['with an unknown event', bytes((state) => (state[5] = 16))],
    ['whose event names nothing', bytes((state) => (state[5] = 6))],
    ['with an open surface', bytes((state) => state.fill(2, 8, 8 + receptacles))],
    ['with an object nowhere', bytes((state) => (state[8 + receptacles] = receptacles))],
    ['with an object in a hand that is empty', bytes((state) => (state[8 + receptacles] = 254))],
    ['with an object that is hot and cool', bytes((state) => (state[state.length - 1] = 6))],
  ])('%s, and the episode goes on where it was', (_, snapshot) => {
    const before = environment.stateKey();
    expect(() => environment.restore(snapshot)).toThrow(ForeignSnapshotError);
    expect(environment.stateKey()).toBe(before);
  });
});

test('nothing but reset works before the first episode', () => {
  const environment = new RoomsEnvironment();
  for (const call of [
    () => environment.step('look'),
    () => environment.admissible(),
    () => environment.observation(),
    () => environment.snapshot(),
    () => environment.stateKey(),
    () => environment.goal,
    () => environment.episodeId,
    () => environment.expert('oracle'),
  ]) {
    expect(call).toThrow(EnvironmentNotResetError);
  }
});

test('rooms made by hand have ids of their own, and a checked step limit', () => {
  const environment = new RoomsEnvironment();
  const id = (name: string, stepLimit?: number) => {
    environment.resetToRoom(exampleRoom(name), stepLimit === undefined ? {} : { stepLimit });
    return environment.episodeId;
  };
  expect(id('S1')).toBe(id('S1'));
  expect(new Set([id('S1'), id('S2'), id('S1', 20)]).size).toBe(3);
  expect(() => id('S1', 0)).toThrow(OptionError);
});

test('equal hidden states have equal keys whatever the path, and the key tells every difference', () => {
  const environment = new RoomsEnvironment();
  environment.resetToRoom(exampleRoom('S6'));
  const plans = new Map<string, string>();
  const seen = new Map<string, string>();
  for (let seed = 0; seed < 100; seed++) {
    const stream = randomStream(seed);
    environment.resetToRoom(exampleRoom('S6'));
    while (!environment.done) {
      environment.step(stream.below(environment.admissible().length));
      const key = environment.stateKey();
      const plan = JSON.stringify(floorPlan(environment.hidden));
      expect(seen.get(plan) ?? key).toBe(key);
      expect(plans.get(key) ?? plan).toBe(plan);
      seen.set(plan, key);
      plans.set(key, plan);
    }
  }
  expect(plans.size).toBeGreaterThan(100);
});

test('the floor plan shows what observations hide', () => {
  const environment = new RoomsEnvironment();
  environment.resetToRoom(exampleRoom('S1'));
  expect(floorPlan(environment.hidden)).toMatchObject({
    at: null,
    hand: null,
    receptacles: [
      { name: 'countertop 1', door: null, isHere: false, objects: ['knife 1'] },
      { name: 'diningtable 1', door: null, objects: [] },
      { name: 'drawer 1', type: 'drawer', door: 'shut', objects: ['fork 1'] },
      { name: 'sidetable 1', objects: [] },
    ],
  });
  for (const command of ['go to drawer 1', 'open drawer 1', 'take fork 1 from drawer 1']) environment.step(command);
  expect(floorPlan(environment.hidden)).toMatchObject({
    at: 'drawer 1',
    hand: 'fork 1',
    objects: [{ name: 'fork 1', in: null, properties: [], lit: false }, { name: 'knife 1' }],
  });
});

test.runIf(process.env.HGPO_LONG)('a million resets leave memory as it was', { timeout: 1_200_000 }, () => {
  const environment = new RoomsEnvironment();
  const play = (from: number, to: number) => {
    for (let i = from; i < to; i++) {
      environment.reset(2 * i, undefined, { preset: 'S' });
      environment.step(environment.admissible()[0]!);
      environment.step(`nonsense ${i}`);
    }
  };
  play(0, 50_000);
  const before = heapInUse();
  play(50_000, 1_000_000);
  expect(heapInUse() - before).toBeLessThan(2);
});
