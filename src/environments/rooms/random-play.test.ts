import { expect, test } from 'vitest';
import { presetNames } from '../environment.ts';
import { randomStream } from '../../random/stream.ts';
import { RoomsEnvironment } from './environment.ts';
import { Oracle } from './oracle.ts';
import { command, HAND, NO_COMMAND, NONE, Verb, type Room } from './room.ts';
import { roomsSplits } from './splits.ts';
import { admissibleLimit, COOL, HOT, type RoomState } from './state.ts';
import { compareCanonically } from './types.ts';

// 1,000 rooms: 40 of each preset and split, some with the options that change the rules' surroundings.
const ROOMS = 1000;
const STEPS = 100;
const BLOCK = 40;

const sharesPlaces = (i: number) => i % BLOCK >= 30;

function generatedRoom(i: number): RoomsEnvironment {
  const environment = new RoomsEnvironment();
  const block = Math.floor(i / BLOCK);
  const split = roomsSplits[block % roomsSplits.length]!;
  const preset = presetNames[Math.floor(block / roomsSplits.length) % presetNames.length]!;
  environment.reset(environment.seedForEpisode(split, i), undefined, {
    preset,
    split,
    sharedPlaces: sharesPlaces(i),
    ...(sharesPlaces(i) ? { sameType: 2 } : {}),
  });
  return environment;
}

/** Every command that can be spelled in a room. */
function* everyCommand(room: Room): Generator<number> {
  for (let verb = 0; verb <= Verb.use; verb++) {
    if (verb === Verb.look || verb === Verb.inventory || verb === Verb.help) yield command(verb);
    else if (verb === Verb.go || verb === Verb.open || verb === Verb.close || verb === Verb.examine) {
      for (let r = 0; r < room.receptacleNames.length; r++) yield command(verb, 0, r);
    } else if (verb === Verb.use || verb === Verb.examineObject) {
      for (let o = 0; o < room.objectNames.length; o++) yield command(verb, o);
    } else {
      for (let o = 0; o < room.objectNames.length; o++) {
        for (let r = 0; r < room.receptacleNames.length; r++) yield command(verb, o, r);
      }
    }
  }
}

const saved = (state: RoomState) => {
  const bytes = new Uint8Array(state.size);
  state.save(bytes);
  return bytes;
};

test('exactly the listed commands are effective, the list is sorted and complete, and the state stays sound', () => {
  for (let i = 0; i < ROOMS; i++) {
    const { hidden: state } = generatedRoom(i);
    const { room } = state;
    const stream = randomStream(i, 'random play');
    const codes = new Int32Array(admissibleLimit(room));
    for (let step = 0; step < STEPS; step++) {
      const count = state.listAdmissible(codes);
      const listed = new Set(codes.subarray(0, count));
      const before = saved(state);

      const texts = Array.from(codes.subarray(0, count), (code) => room.commandText(code));
      for (let k = 1; k < count; k++) {
        if (!(texts[k - 1]! < texts[k]!)) expect.fail(`${texts[k - 1]} is listed before ${texts[k]}`);
      }

      // All commands of the room at some steps; they are thousands in a large room.
      const tried = step % 50 === 0 ? everyCommand(room) : listed;
      for (const code of tried) {
        const effective = state.apply(code);
        if (effective !== listed.has(code)) expect.fail(`${room.commandText(code)}: effective is ${effective}`);
        if (effective) state.load(before);
        else {
          const after = saved(state);
          for (let k = 0; k < after.length; k++) {
            // Bytes 2 to 4 are the event, which says that there was no effect.
            if ((k < 2 || k > 4) && after[k] !== before[k]) expect.fail(`${room.commandText(code)} changed the state`);
          }
        }
      }

      const held = state.in.reduce((n, place) => n + (place === HAND ? 1 : 0), 0);
      if (held !== (state.hand === NONE ? 0 : 1)) expect.fail(`${held} objects in the hand`);
      if (state.hand !== NONE && state.in[state.hand] !== HAND) expect.fail('the hand and the places disagree');
      for (let o = 0; o < state.in.length; o++) {
        if (state.in[o] !== HAND && state.in[o]! >= room.receptacleNames.length) expect.fail('an object is nowhere');
        if ((state.properties[o]! & HOT) !== 0 && (state.properties[o]! & COOL) !== 0) expect.fail('hot and cool');
      }

      state.load(before);
      state.apply(codes[stream.below(count)]!);
    }
  }
});

test('what is not spelled exactly like a listed command has no effect', () => {
  const environment = new RoomsEnvironment();
  environment.reset(0);
  const { room } = environment.hidden;
  for (const code of everyCommand(room)) {
    const text = room.commandText(code);
    expect(room.parseCommand(`  ${text}\n`)).toBe(code);
    for (const other of [text.toUpperCase(), `${text} 1`, text.replace(' ', '  '), `the ${text}`, text.slice(0, -1)]) {
      if (other !== text && room.parseCommand(other) !== NO_COMMAND) {
        // Cutting the last digit can leave another command of the room; nothing else can.
        expect(room.commandText(room.parseCommand(other))).toBe(other);
      }
    }
  }
  for (const nonsense of ['', ' ', 'fly', 'take', 'take ', 'move apple 1', 'go to __proto__', '🏠']) {
    expect(environment.step(nonsense)).toMatchObject({ reward: 0, info: { effective: false, active: true } });
  }
});

test('a restored snapshot gives the same observation, keys, list and future', () => {
  for (let i = 0; i < ROOMS; i += 10) {
    const environment = generatedRoom(i);
    const stream = randomStream(i, 'snapshots');
    const walk = (steps: number) => {
      for (let k = 0; k < steps && !environment.done; k++)
        environment.step(stream.below(environment.admissible().length));
    };
    const facts = () => ({
      observation: environment.observation(),
      anchor: environment.anchorKey(),
      state: environment.stateKey(),
      admissible: environment.admissible(),
      acting: environment.acting(),
      step: environment.stepIndex,
      done: environment.done,
      won: environment.won,
    });
    walk(stream.below(45));
    const snapshot = structuredClone(environment.snapshot());
    expect(snapshot.state.length).toBeLessThan(300);
    const then = facts();
    const future = Array.from({ length: 6 }, () => stream.below(1000));
    const play = () =>
      future.map((choice) => {
        const result = environment.step(choice % environment.admissible().length);
        return { result, ...facts() };
      });
    const first = play();
    walk(10);
    environment.restore(snapshot);
    expect(facts()).toEqual(then);
    expect(play()).toEqual(first);

    const elsewhere = generatedRoom(i);
    elsewhere.restore(snapshot);
    expect(elsewhere.observation()).toEqual(then.observation);
    expect(elsewhere.stateKey()).toBe(then.state);
  }
});

test('lists in observations are in canonical order', () => {
  for (let i = 0; i < ROOMS; i += 20) {
    const environment = generatedRoom(i);
    const stream = randomStream(i, 'listings');
    while (!environment.done) {
      const { event } = environment.step(stream.below(environment.admissible().length)).observation;
      const names = 'view' in event && event.view.status !== 'closed' ? event.view.objects : [];
      expect([...names].sort(compareCanonically)).toEqual(names);
    }
  }
});

test('the oracle and the searching expert solve every episode within the limit, the oracle in the planned length', () => {
  for (let i = 0; i < ROOMS; i++) {
    const environment = generatedRoom(i);
    const planned = new Oracle(environment.hidden).distance();
    for (const kind of ['oracle', 'searching'] as const) {
      const start = environment.snapshot();
      const expert = environment.expert(kind);
      let last: string | null = null;
      while (!environment.done) {
        expert.observe(last, environment.observation());
        last = expert.next();
        const { info } = environment.step(last);
        if (!info.effective && !sharesPlaces(i)) expect.fail(`${environment.episodeId}: ${last} had no effect`);
      }
      expect(environment.won, `${kind} on ${environment.episodeId}`).toBe(true);
      if (kind === 'oracle') expect(environment.stepIndex).toBe(planned);
      else expect(environment.stepIndex).toBeGreaterThanOrEqual(planned);
      environment.restore(start);
    }
    expect(planned).toBeLessThanOrEqual(12);
  }
});

test('the searching expert recovers from random commands in one step of five', () => {
  let solved = 0;
  for (let i = 0; i < ROOMS; i += 4) {
    const environment = generatedRoom(i);
    const stream = randomStream(i, 'slips');
    const expert = environment.expert('searching');
    let last: string | null = null;
    while (!environment.done) {
      expert.observe(last, environment.observation());
      last = expert.next();
      const commands = environment.admissible();
      if (stream.below(5) === 0) last = commands[stream.below(commands.length)]!;
      environment.step(last);
    }
    if (environment.won) solved++;
  }
  // 50 steps are not always enough in a room of 20 receptacles when a slip closes or misplaces things.
  expect(solved).toBeGreaterThan(237);
});
