import {
  CLEANABLE,
  command,
  COOLABLE,
  COOLER,
  HAND,
  HEATABLE,
  HEATER,
  NONE,
  PICKABLE,
  Verb,
  WASHER,
  type Room,
} from './room.ts';

// Properties of an object, as bits of `properties`. Hot and cool exclude each other.
export const CLEAN = 1;
export const HOT = 2;
export const COOL = 4;
/** A lamp that has been used; never cleared. */
export const USED = 8;

/** What the last step made known; together with the state it determines the observation. */
export const EventKind = {
  start: 0,
  none: 1,
  arrive: 2,
  view: 3,
  open: 4,
  close: 5,
  take: 6,
  put: 7,
  heat: 8,
  cool: 9,
  clean: 10,
  use: 11,
  inspect: 12,
  look: 13,
  inventory: 14,
  help: 15,
} as const;

// What each kind of event names, by number: 1 = an object, 2 = a receptacle.
const eventNeeds: readonly number[] = [0, 0, 2, 2, 2, 2, 3, 3, 3, 3, 3, 1, 1, 0, 0, 0];

const HEADER = 5;

/**
 * The hidden state of a room and its rules: what each command needs and does. No step limit, no reward, no texts.
 * All of it lies in one byte array, so that a snapshot is a copy.
 */
export class RoomState {
  /** Number of the last event: one of EventKind, with its object and receptacle (NONE where it has none). */
  event: number = EventKind.start;
  eventObject = NONE;
  eventReceptacle = NONE;

  /** Rises whenever the door or the contents of a receptacle change, so that texts of views can be kept. [receptacles] */
  readonly viewVersion: Uint32Array;

  /** at, hand, 3 spare for the event; then open [receptacles], in [objects], properties [objects] */
  private readonly bytes: Uint8Array;
  /** [receptacles] 1 = open */
  readonly open: Uint8Array;
  /** [objects] receptacle, or HAND */
  readonly in: Uint8Array;
  /** [objects] CLEAN | HOT | COOL | USED */
  readonly properties: Uint8Array;

  constructor(readonly room: Room) {
    const receptacles = room.receptacleNames.length;
    const objects = room.objectNames.length;
    this.bytes = new Uint8Array(HEADER + receptacles + 2 * objects);
    this.open = this.bytes.subarray(HEADER, HEADER + receptacles);
    this.in = this.bytes.subarray(HEADER + receptacles, HEADER + receptacles + objects);
    this.properties = this.bytes.subarray(HEADER + receptacles + objects);
    this.viewVersion = new Uint32Array(receptacles);
    this.reset();
  }

  /** Back to the start: in the middle of the room, all doors shut, nothing in the hand. */
  reset(): void {
    this.bytes.fill(0);
    this.bytes[0] = NONE;
    this.bytes[1] = NONE;
    this.in.set(this.room.start);
    this.say(EventKind.start, NONE, NONE);
    for (let r = 0; r < this.open.length; r++) this.viewVersion[r]!++;
  }

  /** The receptacle the agent went to last, or NONE in the middle of the room. */
  get at(): number {
    return this.bytes[0]!;
  }

  /** The object in the hand, or NONE. */
  get hand(): number {
    return this.bytes[1]!;
  }

  /** Whether objects in a receptacle can be seen and reached: it has no door, or the door is open. */
  isAccessible(receptacle: number): boolean {
    return this.room.openable[receptacle] === 0 || this.open[receptacle] === 1;
  }

  /** Whether the agent stands where it can use a receptacle. */
  isHere(receptacle: number): boolean {
    const at = this.at;
    return at !== NONE && this.room.place[receptacle] === this.room.place[at];
  }

  /** Number of bytes that `save` writes. */
  get size(): number {
    return this.bytes.length;
  }

  /** The state and the last event. */
  save(out: Uint8Array): void {
    this.bytes[2] = this.event;
    this.bytes[3] = this.eventObject;
    this.bytes[4] = this.eventReceptacle;
    out.set(this.bytes);
  }

  /** Takes over what `save` wrote for the same room. */
  load(saved: Uint8Array): void {
    const { open, viewVersion } = this;
    const receptacles = open.length;
    for (let r = 0; r < receptacles; r++) {
      if (open[r] !== saved[HEADER + r]) viewVersion[r]!++;
    }
    for (let o = 0; o < this.in.length; o++) {
      const before = this.in[o]!;
      const after = saved[HEADER + receptacles + o]!;
      if (before === after) continue;
      if (before !== HAND) viewVersion[before]!++;
      if (after !== HAND) viewVersion[after]!++;
    }
    this.bytes.set(saved);
    this.say(this.bytes[2]!, this.bytes[3]!, this.bytes[4]!);
  }

  /** Whether bytes are what `save` can write for this room: snapshots come from outside. */
  accepts(saved: Uint8Array): boolean {
    const { room } = this;
    const receptacles = this.open.length;
    const objects = this.in.length;
    if (saved.length !== this.bytes.length) return false;
    const isReceptacle = (r: number) => r < receptacles || r === NONE;
    const isObject = (o: number) => o < objects || o === NONE;
    const [at, hand, event, eventObject, eventReceptacle] = saved;
    if (!isReceptacle(at!) || !isObject(hand!)) return false;
    if (event! > EventKind.help || !isObject(eventObject!) || !isReceptacle(eventReceptacle!)) return false;
    const needs = eventNeeds[event!]!;
    if ((needs & 1) !== 0 && eventObject === NONE) return false;
    if ((needs & 2) !== 0 && eventReceptacle === NONE) return false;
    for (let r = 0; r < receptacles; r++) if (saved[HEADER + r]! > room.openable[r]!) return false;
    for (let o = 0; o < objects; o++) {
      const place = saved[HEADER + receptacles + o]!;
      if (place === HAND ? hand !== o : place >= receptacles || hand === o) return false;
      const properties = saved[HEADER + receptacles + objects + o]!;
      if (properties > 15 || (properties & (HOT | COOL)) === (HOT | COOL)) return false;
    }
    return true;
  }

  /** Canonical text of the hidden state: place, doors, where each object is, its properties; hexadecimal. */
  key(): string {
    let key = hex2[this.at === NONE ? NONE : this.room.place[this.at]!]!;
    for (let r = 0; r < this.open.length; r++) key += this.open[r] === 1 ? '1' : '0';
    for (let o = 0; o < this.in.length; o++) key += hex2[this.in[o]!]! + hex1[this.properties[o]!]!;
    return key;
  }

  /** Carries out a command of this room. False when it is not admissible: nothing changes but the event. */
  apply(code: number): boolean {
    const effective = code >= 0 && this.perform(code >> 16, (code >> 8) & 255, code & 255);
    if (!effective) this.say(EventKind.none, NONE, NONE);
    return effective;
  }

  /**
   * Writes the admissible commands in character-code order and gives their number, at most
   * `admissibleLimit(room)`.
   */
  listAdmissible(out: Int32Array): number {
    const { room, at, hand } = this;
    const here = at === NONE ? nowhere : room.together[at]!;
    const traits = hand === NONE ? 0 : room.objectTraits[hand]!;
    let n = 0;
    if (traits & CLEANABLE) n = this.listTreatments(out, n, here, Verb.clean, WASHER);
    for (const r of here) if (this.open[r] === 1) out[n++] = command(Verb.close, 0, r);
    if (traits & COOLABLE) n = this.listTreatments(out, n, here, Verb.cool, COOLER);
    n = this.listExamine(out, n, here);
    for (let r = 0; r < room.place.length; r++) {
      if (at === NONE || room.place[r] !== room.place[at]) out[n++] = command(Verb.go, 0, r);
    }
    if (traits & HEATABLE) n = this.listTreatments(out, n, here, Verb.heat, HEATER);
    out[n++] = command(Verb.help);
    out[n++] = command(Verb.inventory);
    out[n++] = command(Verb.look);
    if (hand !== NONE) {
      for (const r of here) {
        if (room.accepts[r * this.in.length + hand] === 1 && this.isAccessible(r)) {
          out[n++] = command(Verb.move, hand, r);
        }
      }
    }
    for (const r of here) if (room.openable[r] === 1 && this.open[r] === 0) out[n++] = command(Verb.open, 0, r);
    if (hand === NONE && at !== NONE) {
      for (let o = 0; o < this.in.length; o++) {
        const r = this.in[o]!;
        if (this.isHere(r) && (room.objectTraits[o]! & PICKABLE) !== 0 && this.isAccessible(r)) {
          out[n++] = command(Verb.take, o, r);
        }
      }
    }
    for (const lamp of room.lamps) if (this.isHere(this.in[lamp]!)) out[n++] = command(Verb.use, lamp);
    return n;
  }

  /** The goal predicate, over the state alone. */
  isWon(): boolean {
    const { room, properties } = this;
    switch (room.goal.task) {
      case 'pick':
        return this.isSomeGoalObjectDelivered(0);
      case 'clean':
        return this.isSomeGoalObjectDelivered(CLEAN);
      case 'heat':
        return this.isSomeGoalObjectDelivered(HOT);
      case 'cool':
        return this.isSomeGoalObjectDelivered(COOL);
      case 'look': {
        const { hand } = this;
        if (hand === NONE || !room.goalObjects.includes(hand)) return false;
        for (const lamp of room.goalLamps) {
          if ((properties[lamp]! & USED) !== 0 && this.isHere(this.in[lamp]!)) return true;
        }
        return false;
      }
      case 'two': {
        for (const target of room.goalReceptacles) {
          let delivered = 0;
          for (const o of room.goalObjects) if (this.in[o] === target) delivered++;
          if (delivered >= 2) return true;
        }
        return false;
      }
    }
  }

  private isSomeGoalObjectDelivered(property: number): boolean {
    const { goalObjects, goalReceptacles } = this.room;
    for (const o of goalObjects) {
      if ((this.properties[o]! & property) === property && goalReceptacles.includes(this.in[o]!)) return true;
    }
    return false;
  }

  private listTreatments(out: Int32Array, n: number, here: Uint8Array, verb: number, appliance: number): number {
    for (const r of here) {
      if ((this.room.receptacleTraits[r]! & appliance) !== 0) out[n++] = command(verb, this.hand, r);
    }
    return n;
  }

  // The receptacles here and the object in the hand, in the order of their names.
  private listExamine(out: Int32Array, n: number, here: Uint8Array): number {
    const { hand, room } = this;
    let held = hand === NONE ? '' : room.objectNames[hand]!;
    for (const r of here) {
      if (held !== '' && held < room.receptacleNames[r]!) {
        out[n++] = command(Verb.examineObject, hand);
        held = '';
      }
      out[n++] = command(Verb.examine, 0, r);
    }
    if (held !== '') out[n++] = command(Verb.examineObject, hand);
    return n;
  }

  private say(event: number, object: number, receptacle: number): true {
    this.event = event;
    this.eventObject = object;
    this.eventReceptacle = receptacle;
    return true;
  }

  private perform(verb: number, o: number, r: number): boolean {
    const { room, bytes, hand } = this;
    switch (verb) {
      case Verb.go:
        if (this.isHere(r)) return false;
        bytes[0] = r;
        return this.say(EventKind.arrive, NONE, r);
      case Verb.open:
        if (!this.isHere(r) || room.openable[r] === 0 || this.open[r] === 1) return false;
        this.open[r] = 1;
        this.viewVersion[r]!++;
        return this.say(EventKind.open, NONE, r);
      case Verb.close:
        if (!this.isHere(r) || this.open[r] === 0) return false;
        this.open[r] = 0;
        this.viewVersion[r]!++;
        return this.say(EventKind.close, NONE, r);
      case Verb.take:
        if (hand !== NONE || this.in[o] !== r || !this.isHere(r) || !this.isAccessible(r)) return false;
        if ((room.objectTraits[o]! & PICKABLE) === 0) return false;
        this.in[o] = HAND;
        bytes[1] = o;
        this.viewVersion[r]!++;
        return this.say(EventKind.take, o, r);
      case Verb.move:
        if (hand !== o || !this.isHere(r) || !this.isAccessible(r)) return false;
        if (room.accepts[r * this.in.length + o] === 0) return false;
        this.in[o] = r;
        bytes[1] = NONE;
        this.viewVersion[r]!++;
        return this.say(EventKind.put, o, r);
      case Verb.heat:
        return this.treat(o, r, HEATABLE, HEATER, COOL, HOT, EventKind.heat);
      case Verb.cool:
        return this.treat(o, r, COOLABLE, COOLER, HOT, COOL, EventKind.cool);
      case Verb.clean:
        return this.treat(o, r, CLEANABLE, WASHER, 0, CLEAN, EventKind.clean);
      case Verb.use:
        if (!room.lamps.includes(o) || !this.isHere(this.in[o]!)) return false;
        this.properties[o] = USED;
        return this.say(EventKind.use, o, NONE);
      case Verb.examine:
        return this.isHere(r) && this.say(EventKind.view, NONE, r);
      case Verb.examineObject:
        return hand === o && this.say(EventKind.inspect, o, NONE);
      case Verb.look:
        return this.say(EventKind.look, NONE, this.at);
      case Verb.inventory:
        return this.say(EventKind.inventory, hand, NONE);
      case Verb.help:
        return this.say(EventKind.help, NONE, NONE);
    }
    return false;
  }

  private treat(
    o: number,
    r: number,
    trait: number,
    appliance: number,
    cleared: number,
    set: number,
    event: number,
  ): boolean {
    if (this.hand !== o || !this.isHere(r)) return false;
    if ((this.room.objectTraits[o]! & trait) === 0 || (this.room.receptacleTraits[r]! & appliance) === 0) return false;
    this.properties[o] = (this.properties[o]! & ~cleared) | set;
    return this.say(event, o, r);
  }
}

/** Largest number of commands that can be admissible at once. */
export function admissibleLimit(room: Room): number {
  const most = room.receptacleNames.length;
  return 4 + room.objectNames.length + 6 * most;
}

const nowhere = new Uint8Array(0);
const hex1 = Array.from({ length: 16 }, (_, i) => i.toString(16));
const hex2 = Array.from({ length: 256 }, (_, i) => i.toString(16).padStart(2, '0'));
