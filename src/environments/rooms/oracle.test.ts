import { expect, test } from 'vitest';
import { exampleRoom, exampleRoomNames } from './example-rooms.ts';
import { Oracle } from './oracle.ts';
import { Room, type RoomDescription } from './room.ts';
import { admissibleLimit, RoomState } from './state.ts';

/** Distance to the goal from every reachable state, by breadth-first search from the goal states backwards. */
function distances(room: Room): { readonly states: Uint8Array[]; readonly distance: Int32Array } {
  const state = new RoomState(room);
  const codes = new Int32Array(admissibleLimit(room));
  const numbers = new Map<string, number>();
  const states: Uint8Array[] = [];
  const before: number[][] = [];
  const queue: number[] = [];
  const numberOf = () => {
    const key = state.key();
    let number = numbers.get(key);
    if (number === undefined) {
      number = states.length;
      numbers.set(key, number);
      const bytes = new Uint8Array(state.size);
      state.save(bytes);
      states.push(bytes);
      before.push([]);
      if (state.isWon()) queue.push(number);
    }
    return number;
  };
  numberOf();
  for (let from = 0; from < states.length; from++) {
    state.load(states[from]!);
    if (state.isWon()) continue;
    for (const code of codes.slice(0, state.listAdmissible(codes))) {
      state.load(states[from]!);
      state.apply(code);
      before[numberOf()]!.push(from);
    }
  }
  const distance = new Int32Array(states.length).fill(-1);
  for (const goal of queue) distance[goal] = 0;
  for (const to of queue) {
    for (const from of before[to]!) {
      if (distance[from] !== -1) continue;
      distance[from] = distance[to]! + 1;
      queue.push(from);
    }
  }
  return { states, distance };
}

// Beside the example rooms: doors everywhere, places that are shared, and a hand that may be full of the wrong thing.
const awkward: Readonly<Record<string, RoomDescription>> = {
  'shut drawers at one place': {
    receptacles: [
      { name: 'drawer 1', openable: true, place: 'a' },
      { name: 'drawer 2', openable: true, place: 'a' },
      { name: 'safe 1', openable: true },
    ],
    objects: [
      { name: 'cd 1', in: 'drawer 1' },
      { name: 'watch 1', in: 'drawer 2' },
    ],
    goal: { task: 'pick', object: 'cd', target: 'safe' },
  },
  'two from shut places, a third object in the way': {
    receptacles: [
      { name: 'cabinet 1', openable: true },
      { name: 'cabinet 2', openable: true },
      { name: 'fridge 1', openable: true },
    ],
    objects: [
      { name: 'cup 1', in: 'fridge 1' },
      { name: 'cup 2', in: 'fridge 1' },
      { name: 'kettle 1', in: 'cabinet 2' },
    ],
    goal: { task: 'two', object: 'cup', target: 'cabinet' },
  },
  'a lamp beside the object': {
    receptacles: [
      { name: 'desk 1', openable: false },
      { name: 'shelf 1', openable: false },
      { name: 'drawer 1', openable: true },
    ],
    objects: [
      { name: 'pen 1', in: 'desk 1' },
      { name: 'pen 2', in: 'drawer 1' },
      { name: 'desklamp 1', in: 'desk 1' },
      { name: 'cd 1', in: 'shelf 1' },
    ],
    goal: { task: 'look', object: 'pen', target: 'desklamp' },
  },
};

test.each([...exampleRoomNames.map((name) => [name, exampleRoom(name)] as const), ...Object.entries(awkward)])(
  'the oracle plans as short as a search finds, from every state of %s',
  (_, description) => {
    const room = Room.of(description);
    const { states, distance } = distances(room);
    const state = new RoomState(room);
    const oracle = new Oracle(state);
    states.forEach((bytes, i) => {
      state.load(bytes);
      if (oracle.distance() !== distance[i]) {
        expect.fail(`from ${state.key()}: planned ${oracle.distance()}, shortest ${distance[i]}`);
      }
    });
    expect(distance[0]).toBeGreaterThan(0);
  },
);

test('a plan is carried out as planned', () => {
  for (const name of exampleRoomNames) {
    const state = new RoomState(Room.of(exampleRoom(name)));
    const plan = new Oracle(state).shortestPlan()!;
    const wins = plan.map((code) => state.apply(code) && state.isWon());
    expect(wins).toEqual(plan.map((_, i) => i === plan.length - 1));
  }
});

test('a goal that cannot be reached has no plan', () => {
  const state = new RoomState(
    Room.of({
      receptacles: [
        { name: 'countertop 1', openable: false },
        { name: 'fridge 1', openable: true },
      ],
      objects: [{ name: 'egg 1', in: 'countertop 1' }],
      goal: { task: 'heat', object: 'egg', target: 'fridge' },
    }),
  );
  expect(new Oracle(state).shortestPlan()).toBeNull();
});
