import { describe, expect, test } from 'vitest';
import { environmentFixtures } from '../../testing/environment-fixtures.ts';
import { RoomsEnvironment } from './environment.ts';
import { describeEvent, propertyNames, type RoomsEvent } from './events.ts';
import { Room, RoomDescriptionError, type RoomDescription } from './room.ts';
import { admissibleLimit, RoomState, USED } from './state.ts';
import { longText } from './wording.ts';

interface Changes {
  readonly at?: string | null;
  readonly open?: readonly string[];
  readonly hand?: string | null;
  readonly in?: Readonly<Record<string, string | null>>;
  readonly clean?: readonly string[];
  readonly hot?: readonly string[];
  readonly cool?: readonly string[];
  readonly used?: readonly string[];
}

interface CaseStep {
  readonly command: string;
  readonly effective?: boolean;
  readonly event?: RoomsEvent;
  readonly changes?: Changes;
  readonly won?: boolean;
  readonly admissibleAfter?: readonly string[];
}

/** The whole state in the words of the fixtures. */
function wholeState(state: RoomState): Required<Changes> {
  const { room } = state;
  const objectsWith = (has: (o: number) => boolean) => room.objectNames.filter((_, o) => has(o));
  const having = (name: 'clean' | 'hot' | 'cool') =>
    objectsWith((o) => propertyNames(state.properties[o]!).includes(name));
  return {
    at: room.receptacleNames[state.at] ?? null,
    open: room.receptacleNames.filter((_, r) => state.open[r] === 1),
    hand: room.objectNames[state.hand] ?? null,
    in: Object.fromEntries(room.objectNames.map((name, o) => [name, room.receptacleNames[state.in[o]!] ?? null])),
    clean: having('clean'),
    hot: having('hot'),
    cool: having('cool'),
    used: objectsWith((o) => (state.properties[o]! & USED) !== 0),
  };
}

function admissible(state: RoomState): string[] {
  const codes = new Int32Array(admissibleLimit(state.room));
  return Array.from(codes.subarray(0, state.listAdmissible(codes)), (code) => state.room.commandText(code));
}

/** The fixtures list only what differs after the step. */
function afterChanges(before: Required<Changes>, changes: Changes): Required<Changes> {
  const sorted = (names: readonly string[]) => [...names].sort();
  return {
    ...before,
    ...changes,
    in: { ...before.in, ...changes.in },
    open: sorted(changes.open ?? before.open),
    clean: sorted(changes.clean ?? before.clean),
    hot: sorted(changes.hot ?? before.hot),
    cool: sorted(changes.cool ?? before.cool),
    used: sorted(changes.used ?? before.used),
  };
}

/** Plays the steps on the bare rules, which know no end of the episode, and compares all that a step says. */
function replay(state: RoomState, steps: readonly CaseStep[]): void {
  for (const step of steps) {
    const before = wholeState(state);
    const effective = state.apply(state.room.parseCommand(step.command));
    const where = JSON.stringify(step.command);
    if (step.effective !== undefined) expect(effective, `${where} effective`).toBe(step.effective);
    if (step.event !== undefined) expect(describeEvent(state), `${where} event`).toEqual(step.event);
    if (step.changes !== undefined) expect(wholeState(state), where).toEqual(afterChanges(before, step.changes));
    if (step.effective === false) expect(wholeState(state), `${where} changes nothing`).toEqual(before);
    if (step.won !== undefined) expect(state.isWon(), `${where} won`).toBe(step.won);
    if (step.admissibleAfter !== undefined) expect(admissible(state), where).toEqual(step.admissibleAfter);
  }
}

/** The same steps through the environment, up to the win that ends its episode. */
function replayEpisode(room: RoomDescription, steps: readonly CaseStep[]): void {
  const environment = new RoomsEnvironment();
  environment.resetToRoom(room, { stepLimit: Math.max(50, steps.length + 1) });
  for (const step of steps) {
    const { observation, reward, done, info } = environment.step(step.command);
    if (step.effective !== undefined) expect(info.effective).toBe(step.effective);
    if (step.event !== undefined) {
      expect(observation.event).toEqual(step.event);
      expect(observation.text).toBe(longText(step.event));
    }
    if (step.won !== undefined) expect({ won: info.won, reward }).toEqual({ won: step.won, reward: step.won ? 10 : 0 });
    if (step.admissibleAfter !== undefined) expect(environment.admissible()).toEqual(step.admissibleAfter);
    if (done) break;
  }
}

for (const { file, data } of environmentFixtures('conformance-rooms')) {
  describe(file, () => {
    for (const { id, title, room, admissibleAtStart, steps } of data.cases) {
      test(`${id} ${title}`, () => {
        const state = new RoomState(Room.of(room));
        expect(wholeState(state)).toMatchObject({ at: null, open: [], hand: null, clean: [], hot: [], cool: [] });
        if (admissibleAtStart !== undefined) expect(admissible(state)).toEqual(admissibleAtStart);
        replay(state, steps);
        replayEpisode(room, steps);
      });
    }
  });
}

for (const { file, data } of environmentFixtures('conformance-aliasing')) {
  describe(file, () => {
    for (const aliasing of data.cases) {
      test(`${aliasing.id} ${aliasing.title}`, () => {
        const play = (commands: readonly string[]) => {
          const environment = new RoomsEnvironment();
          environment.resetToRoom(aliasing.room);
          for (const command of commands) environment.step(command);
          return environment;
        };
        const a = play(aliasing.commandsA);
        const b = play(aliasing.commandsB);
        if (aliasing.lastEventOfBoth !== undefined) {
          expect(a.observation().event).toEqual(aliasing.lastEventOfBoth);
          expect(b.observation().event).toEqual(aliasing.lastEventOfBoth);
        }
        expect(a.anchorKey() === b.anchorKey()).toBe(aliasing.anchorEqual);
        expect(a.observation().text === b.observation().text).toBe(aliasing.anchorEqual);
        expect(a.observation().compact === b.observation().compact).toBe(aliasing.anchorEqual);
        expect(a.stateKey() === b.stateKey()).toBe(aliasing.hiddenStateEqual);
        const stateOfA: Record<string, unknown> = { ...wholeState(a.hidden) };
        const stateOfB: Record<string, unknown> = { ...wholeState(b.hidden) };
        const differing = Object.keys(stateOfA).filter(
          (part) => JSON.stringify(stateOfA[part]) !== JSON.stringify(stateOfB[part]),
        );
        expect(differing.sort()).toEqual([...(aliasing.hiddenDifference ?? differing)].sort());
      });
    }
  });
}

for (const { file, data } of environmentFixtures('episodes')) {
  describe(file, () => {
    for (const { id, room, task, length, steps } of data.episodes) {
      test(`${id}: every command is effective and only the last one wins`, () => {
        const described = { ...room, goal: room.goal ?? task };
        replay(
          new RoomState(Room.of(described)),
          steps.map((step: CaseStep) => ({ effective: true, ...step })),
        );
        const environment = new RoomsEnvironment();
        environment.resetToRoom(described);
        const results = steps.map((step: CaseStep) => environment.step(step.command));
        expect(results.map(({ info }: { info: { effective: boolean } }) => info.effective)).toEqual(
          steps.map(() => true),
        );
        expect(results.map(({ reward }: { reward: number }) => reward)).toEqual(
          steps.map((_: CaseStep, i: number) => (i === steps.length - 1 ? 10 : 0)),
        );
        expect([environment.done, environment.stepIndex]).toEqual([true, length ?? steps.length]);
      });
    }
  });
}

test.each([
  ['no receptacle', { receptacles: [] }, 'it has no receptacle'],
  ['an unknown type', { receptacles: [{ name: 'spaceship 1', openable: false }] }, 'no receptacle type "spaceship"'],
  ['a name without number', { receptacles: [{ name: 'fridge', openable: true }] }, 'not of the form'],
  ['an object nowhere', { objects: [{ name: 'apple 1', in: 'shelf 9' }] }, 'apple 1 is in "shelf 9", which it lacks'],
  ['an object twice', { objects: [1, 2].map(() => ({ name: 'apple 1', in: 'fridge 1' })) }, 'apple 1 occurs twice'],
  ['an unknown task', { goal: { task: 'slice', object: 'apple', target: 'fridge' } }, 'accepted are pick, look'],
  ['a lamp to carry', { goal: { task: 'pick', object: 'desklamp', target: 'fridge' } }, 'no object type to carry'],
  ['a fridge as lamp', { goal: { task: 'look', object: 'apple', target: 'fridge' } }, 'no target of look'],
])('a description with %s is refused with the reason', (_, change, reason) => {
  const room = {
    receptacles: [{ name: 'fridge 1', openable: true }],
    objects: [],
    goal: { task: 'pick', object: 'apple', target: 'fridge' },
    ...change,
  } as RoomDescription;
  expect(() => Room.of(room)).toThrow(RoomDescriptionError);
  expect(() => Room.of(room)).toThrow(reason);
});
