import { describe, expect, test } from 'vitest';
import { projectFixture } from '../../testing/fixtures.ts';
import { OptionError, presetNames, SeedError, UnknownNameError } from '../environment.ts';
import { RoomsEnvironment } from './environment.ts';
import { exampleRoom, exampleRoomNames } from './example-rooms.ts';
import { generateLayouts, searchingExpertLength, taskParity, type RoomsOptions } from './generator.ts';
import type { Room, RoomDescription } from './room.ts';
import { heldOutCombos, layoutsOf, roomsSplits, seedParity, type RoomsSplit } from './splits.ts';
import { objectTypes, receptacleTypes, roomKinds, taskCombos, taskNames, typeOfName } from './types.ts';

function roomsOf(split: RoomsSplit, count: number, options: RoomsOptions = {}): Room[] {
  const environment = new RoomsEnvironment();
  return Array.from({ length: count }, (_, i) => {
    environment.reset(environment.seedForEpisode(split, i), undefined, { split, ...options });
    return environment.hidden.room;
  });
}

/** A room back as a description; instances of one room are in one order, so equal rooms are equal texts. */
function contents(room: Room): RoomDescription {
  return {
    receptacles: room.receptacleNames.map((name, r) => ({ name, openable: room.openable[r] === 1 })),
    objects: room.objectNames.map((name, o) => ({ name, in: room.receptacleNames[room.start[o]!]! })),
    goal: room.goal,
  };
}

const comboOf = ({ goal }: Room) =>
  taskCombos.find(
    ({ task, object, target }) => task === goal.task && object === goal.object && target === goal.target,
  )!;

describe('the tables of the product are those of the fixtures', () => {
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  const table = (file: string) => projectFixture('environments', file) as any;

  test('receptacle types', () => {
    const ours = [...receptacleTypes.values()].map(({ name, openable, role, accepts, occurrence }) => ({
      type: name,
      openable,
      role,
      accepts: [...accepts].filter((type) => type !== ''),
      rooms: [...occurrence].map(([kind, { rooms, meanCount, maxCount }]) => [kind, rooms, meanCount, maxCount]),
    }));
    // eslint-disable-next-line @typescript-eslint/no-explicit-any
    const theirs = table('receptacles.json').receptacles.map((row: any) => ({
      type: row.type,
      openable: row.openable,
      role: row.role,
      accepts: row.accepts,
      // A type without a count has one instance.
      // eslint-disable-next-line @typescript-eslint/no-explicit-any
      rooms: Object.entries(row.rooms).map(([kind, facts]: [string, any]) => [
        kind,
        facts.roomsWithIt,
        facts.meanCountWhenListed ?? 1,
        facts.maxCount ?? 1,
      ]),
    }));
    expect(ours).toEqual(theirs);
  });

  test('object types', () => {
    const ours = [...objectTypes.values()].map(({ name, vessel, rooms, sources, ...traits }) => ({
      type: name,
      ...traits,
      stateHiddenOnInspect: vessel,
      fitsIn: [...receptacleTypes.values()]
        .filter(({ accepts }) => accepts.has(name))
        .map((type) => type.name)
        .sort(),
      roomsOf30: Object.fromEntries(rooms),
      observedSources: Object.fromEntries(sources),
    }));
    expect(ours).toEqual(table('objects.json').objects);
  });

  test('task combinations', () => {
    // eslint-disable-next-line @typescript-eslint/no-explicit-any
    const theirs = table('task-combos.json').tasks.flatMap(({ task, combos }: any) =>
      // eslint-disable-next-line @typescript-eslint/no-explicit-any
      combos.map(({ object, target, train, rooms }: any) => ({
        task,
        object,
        target,
        trainCount: train,
        kinds: [...rooms].sort(),
      })),
    );
    const sorted = (rows: { task: string; object: string; target: string }[]) =>
      rows.map((row) => JSON.stringify(row)).sort();
    expect(sorted(taskCombos.map((combo) => ({ ...combo, kinds: [...combo.kinds].sort() })))).toEqual(sorted(theirs));
  });

  test('example rooms', () => {
    // eslint-disable-next-line @typescript-eslint/no-explicit-any
    const theirs = table('state-space.json').rooms.map(({ id, title, room }: any) => [id, { title, ...room }]);
    expect(exampleRoomNames.map((name) => [name, exampleRoom(name)])).toEqual(theirs);
  });
});

describe('splits', () => {
  test('seeds of training are even, all others odd', () => {
    const environment = new RoomsEnvironment();
    for (const split of roomsSplits) {
      const seed = environment.seedForEpisode(split, 21);
      expect(seed % 2).toBe(split === 'train' ? 0 : 1);
      environment.reset(seed, undefined, { split });
      expect(environment.episodeId).toContain(`/${split}/`);
      expect(() => environment.reset(seed + 1, undefined, { split })).toThrow(SeedError);
    }
    environment.reset(3);
    expect(environment.episodeId).toBe('rooms-1/S/seen/3');
  });

  test('about 15 % of the combinations of each task are held out, and their types occur in the others', () => {
    for (const task of taskNames) {
      const combos = taskCombos.filter((combo) => combo.task === task);
      const heldOut = combos.filter((combo) => heldOutCombos.has(combo));
      const trained = combos.filter((combo) => !heldOutCombos.has(combo));
      // Each object of `look` has one combination, so none can be held out.
      const share = heldOut.length / combos.length;
      expect(Math.abs(share - (task === 'look' ? 0 : 0.15))).toBeLessThan(0.01);
      for (const { object, target } of heldOut) {
        expect(trained.some((combo) => combo.object === object)).toBe(true);
        expect(trained.some((combo) => combo.target === target)).toBe(true);
      }
    }
  });

  test.each(presetNames)('held-out layouts of size %s have receptacles that no training layout has', (preset) => {
    const receptacles = { XS: 4, S: 6, M: 10, L: 14, XL: 20 }[preset];
    for (const kind of roomKinds) {
      const layouts = generateLayouts(kind, { receptacles, openableShare: 0.85, sharedPlaces: false });
      expect(layouts.every((layout) => layout.receptacles.length === receptacles)).toBe(true);
      const names = layouts.map((layout) => layout.receptacles.map(({ name }) => name).join());
      for (const held of names.slice(27)) expect(names.slice(0, 27)).not.toContain(held);
    }
  });

  test.each(['XS', 'S', 'L'] as const)('of size %s are disjoint in layouts, combinations and whole rooms', (preset) => {
    const receptacles = { XS: 4, S: 6, L: 14 }[preset];
    const texts = (layouts: { receptacles: unknown }[]) => layouts.map((layout) => JSON.stringify(layout.receptacles));
    const layouts = roomKinds.map((kind) =>
      texts(generateLayouts(kind, { receptacles, openableShare: 0.85, sharedPlaces: false })),
    );
    const seen = new Map<RoomsSplit, Set<string>>();
    for (const split of roomsSplits) {
      const { first, end } = layoutsOf(split);
      const allowed = new Set(layouts.flatMap((ofKind) => ofKind.slice(first, end)));
      const isComboSplit = split === 'unseen-combo' || split === 'unseen-both';
      const rooms = roomsOf(split, 300, { preset });
      for (const room of rooms) {
        expect(allowed.has(JSON.stringify(contents(room).receptacles))).toBe(true);
        expect(heldOutCombos.has(comboOf(room))).toBe(isComboSplit);
        const { receptacles, objects, goal } = contents(room);
        const layout = { text: receptacles.map(({ name, openable }) => `${name} ${openable ? 1 : 0} `).join(';') };
        const ofTask = objects.filter(({ name }) => [goal.object, goal.target].includes(typeOfName(name)));
        const objectFirst = [...ofTask].sort(
          (a, b) => +b.name.startsWith(goal.object) - +a.name.startsWith(goal.object),
        );
        if (split === 'train' || split === 'seen') {
          expect(taskParity(layout, goal, objectFirst)).toBe(seedParity(split));
        }
      }
      seen.set(split, new Set(rooms.map((room) => JSON.stringify(contents(room)))));
    }
    for (const a of roomsSplits) {
      for (const b of roomsSplits) {
        if (a < b) expect([...seen.get(a)!].filter((room) => seen.get(b)!.has(room))).toEqual([]);
      }
    }
  });
});

describe('the generator', () => {
  test.each(presetNames)('gives each task its share within three points at size %s, in every split', (preset) => {
    const count = 3000;
    for (const split of roomsSplits) {
      const environment = new RoomsEnvironment();
      const counts = new Map<string, number>();
      // The task is drawn from the seed alone, whatever the size: one large sample measures the shares, small ones show
      // that no layout set lacks a task.
      const sample = preset === 'S' && split === 'train' ? count : 120;
      for (let i = 0; i < sample; i++) {
        environment.reset(environment.seedForEpisode(split, i), undefined, { preset, split });
        counts.set(environment.task, (counts.get(environment.task) ?? 0) + 1);
      }
      const tasks = split.includes('combo') || split.includes('both') ? 5 : 6;
      expect(counts.size).toBe(tasks);
      if (sample === count) {
        for (const n of counts.values()) expect(Math.abs(n / count - 1 / tasks)).toBeLessThan(0.03);
      }
    }
  });

  test('keeps its constraints', () => {
    for (const preset of presetNames) {
      for (const room of roomsOf('train', 150, { preset, sameType: 2 })) {
        const { task, object, target } = room.goal;
        const appliance = { heat: 'microwave', cool: 'fridge', clean: 'sinkbasin' }[task as 'heat'];
        const sameType = room.objectNames.filter((name) => typeOfName(name) === object);
        expect(sameType.length).toBe(2);
        const filling = new Map<number, number>();
        room.objectNames.forEach((name, o) => {
          const place = room.start[o]!;
          filling.set(place, (filling.get(place) ?? 0) + 1);
          const at = typeOfName(room.receptacleNames[place]!);
          if (room.objectTypes[o]!.lamp) expect(room.openable[place]).toBe(0);
          else expect(receptacleTypes.get(at)!.accepts.has(typeOfName(name))).toBe(true);
          if (typeOfName(name) !== object) return;
          expect(at).not.toBe(appliance);
          if (task === 'pick' || task === 'two') expect(at).not.toBe(target);
        });
        expect(Math.max(...filling.values())).toBeLessThanOrEqual(8);
        expect(searchingExpertLength(room)).toBeLessThanOrEqual(50);
      }
    }
  });

  test('adding objects does not move the object of the task', () => {
    const environment = new RoomsEnvironment();
    const goalPlaces = (objects: number) => {
      environment.reset(40, 'heat', { preset: 'M', objects });
      const { room } = environment.hidden;
      return [room.goal, Array.from(room.goalObjects, (o) => room.receptacleNames[room.start[o]!])];
    };
    for (const objects of [3, 10, 20]) expect(goalPlaces(objects)).toEqual(goalPlaces(14));
  });

  test('a hand-made option set has its own episode id', () => {
    const environment = new RoomsEnvironment();
    environment.reset(8, 'cool', { preset: 'M', roomKind: 'kitchen', objects: 9, stepLimit: 30 });
    expect(environment.episodeId).toBe('rooms-1/M/train/8/task=cool/roomKind=kitchen/objects=9/stepLimit=30');
    expect(environment.task).toBe('cool');
    expect(environment.observation().text).toMatch(/^A kitchen with .*\. Goal: cool \w+ then put in \w+\.$/);
  });

  test.each([
    [-1, undefined, {}, SeedError, 'a whole number from 0 to 2147483647'],
    [2 ** 31, undefined, {}, SeedError, 'a whole number from 0 to 2147483647'],
    [0.5, undefined, {}, SeedError, 'a whole number'],
    [NaN, undefined, {}, SeedError, 'a whole number'],
    [1, undefined, { split: 'train' }, SeedError, 'it takes even seeds only'],
    [0, undefined, { preset: 'XXL' }, UnknownNameError, 'accepted are XS, S, M, L, XL'],
    [0, undefined, { split: 'test' }, UnknownNameError, 'accepted are train, seen, unseen, unseen-combo, unseen-both'],
    [0, 'slice', {}, UnknownNameError, 'accepted are pick, look, clean, heat, cool, two'],
    [0, undefined, { roomKind: 'garage' }, UnknownNameError, 'accepted are kitchen'],
    [0, undefined, { receptacles: 3 }, OptionError, 'a whole number from 4 to 20'],
    [0, undefined, { objects: 41 }, OptionError, 'a whole number from 1 to 40'],
    [0, 'two', { objects: 1 }, OptionError, 'needs 2 objects'],
    [0, 'heat', { roomKind: 'bedroom' }, OptionError, 'accepted tasks are pick, look, two'],
    [1, 'look', { split: 'unseen-combo' }, OptionError, 'accepted tasks are pick, clean, heat, cool, two'],
  ])('refuses seed %s, task %s, %o', (seed, task, options, kind, sentence) => {
    const environment = new RoomsEnvironment();
    expect(() => environment.reset(seed, task, options as RoomsOptions)).toThrow(kind);
    expect(() => environment.reset(seed, task, options as RoomsOptions)).toThrow(sentence);
  });
});
