import {
  compareCanonically,
  objectTypes,
  receptacleTypes,
  taskNames,
  typeOfName,
  type ObjectType,
  type ReceptacleType,
  type TaskName,
} from './types.ts';

/** A room and its task as plain data: what the generator makes, and what a person may write by hand. */
export interface RoomDescription {
  readonly receptacles: readonly {
    readonly name: string;
    /** Whether this instance has a door; all doors are shut at the start. */
    readonly openable: boolean;
    /** Receptacles with the same place are reached together; left out: a place of its own. */
    readonly place?: string;
  }[];
  readonly objects: readonly { readonly name: string; readonly in: string }[];
  readonly goal: { readonly task: TaskName; readonly object: string; readonly target: string };
  /** For the start text; `room` when left out. */
  readonly kind?: string;
}

/** A description that is not a room: the sentence names the entry. */
export class RoomDescriptionError extends Error {
  override readonly name = 'RoomDescriptionError';
}

/** Stands for "no receptacle" and "no object" in byte columns. */
export const NONE = 255;
/** The place of an object in the hand. */
export const HAND = 254;
/** Receptacles, and objects, that one room may have: their numbers are bytes below HAND. */
const LIMIT = 250;

// What an object type allows, as bits of `objectTraits`.
export const PICKABLE = 1;
export const HEATABLE = 2;
export const COOLABLE = 4;
export const CLEANABLE = 8;
export const LAMP = 16;
export const VESSEL = 32;

// What an appliance does to the object in the hand, as bits of `receptacleTraits`.
export const HEATER = 1;
export const COOLER = 2;
export const WASHER = 4;

/**
 * Verbs in the order of their character codes. A command is the number verb·2¹⁶ + first·2⁸ + second, and receptacles and
 * objects are numbered in character-code order too, so ascending numbers are sorted texts (`examine` apart, whose
 * argument is an object or a receptacle).
 */
export const Verb = {
  clean: 0,
  close: 1,
  cool: 2,
  examine: 3,
  examineObject: 4,
  go: 5,
  heat: 6,
  help: 7,
  inventory: 8,
  look: 9,
  move: 10,
  open: 11,
  take: 12,
  use: 13,
} as const;

/** No command of the room. */
export const NO_COMMAND = -1;

export function command(verb: number, first = 0, second = 0): number {
  return (verb << 16) | (first << 8) | second;
}

/** Verb, object and preposition of the commands with an object and a receptacle. */
const transfers = [
  [Verb.clean, 'clean ', ' with '],
  [Verb.cool, 'cool ', ' with '],
  [Verb.heat, 'heat ', ' with '],
  [Verb.move, 'move ', ' to '],
  [Verb.take, 'take ', ' from '],
] as const;

/** The receptacles of a room, compiled: the columns of the same names in Room. Rooms of one layout share them. */
export interface Receptacles {
  readonly names: readonly string[];
  readonly numbers: ReadonlyMap<string, number>;
  readonly types: readonly ReceptacleType[];
  readonly traits: Uint8Array;
  readonly openable: Uint8Array;
  readonly place: Uint8Array;
  readonly together: readonly Uint8Array[];
  readonly canonical: Uint8Array;
}

export function compileReceptacles(described: RoomDescription['receptacles']): Receptacles {
  const receptacles = [...described].sort((a, b) => (a.name < b.name ? -1 : 1));
  const names = receptacles.map(({ name }) => name);
  const types = names.map((name) => receptacleTypes.get(typeOfName(name))!);
  const firstAt = new Map<string, number>();
  const place = Uint8Array.from(receptacles, ({ place }, r) => {
    if (place === undefined) return r;
    if (!firstAt.has(place)) firstAt.set(place, r);
    return firstAt.get(place)!;
  });
  const all = Uint8Array.from(names.keys());
  return {
    names,
    numbers: new Map(names.map((name, r) => [name, r])),
    types,
    traits: Uint8Array.from(types, receptacleTraits),
    openable: Uint8Array.from(receptacles, ({ openable }) => (openable ? 1 : 0)),
    place,
    together: Array.from(all, (r) => all.filter((other) => place[other] === place[r])),
    canonical: canonicalOrder(names),
  };
}

/**
 * The fixed part of an episode, compiled: everything that no action changes. Receptacles and objects are numbers in
 * character-code order of their names. Shared by all environments that play the episode.
 */
export class Room {
  readonly kind: string;
  readonly goal: RoomDescription['goal'];
  readonly receptacleNames: readonly string[];
  readonly objectNames: readonly string[];
  readonly receptacleTypes: readonly ReceptacleType[];
  readonly objectTypes: readonly ObjectType[];
  /** [receptacles] HEATER | COOLER | WASHER */
  readonly receptacleTraits: Uint8Array;
  /** [objects] PICKABLE | … | VESSEL */
  readonly objectTraits: Uint8Array;
  /** [receptacles] 1 = has a door */
  readonly openable: Uint8Array;
  /** [receptacles] the lowest receptacle at the same place */
  readonly place: Uint8Array;
  /** [receptacles] → all receptacles at the same place, itself included, ascending */
  readonly together: readonly Uint8Array[];
  /** [objects] receptacle at the start */
  readonly start: Uint8Array;
  /** [receptacles × objects] 1 = the object may be put there */
  readonly accepts: Uint8Array;
  /** Receptacles and objects in the order of listings. */
  readonly canonicalReceptacles: Uint8Array;
  readonly canonicalObjects: Uint8Array;
  /** Objects of the goal's type. */
  readonly goalObjects: Uint8Array;
  /** Receptacles of the goal's target type; empty for `look`. */
  readonly goalReceptacles: Uint8Array;
  /** Lamps of the goal's target type; empty for the other tasks. */
  readonly goalLamps: Uint8Array;
  /** Objects that are lamps. */
  readonly lamps: Uint8Array;

  private readonly receptacleNumber: ReadonlyMap<string, number>;
  private readonly objectNumber: ReadonlyMap<string, number>;
  // Filled on demand; at most one entry for each command that the room has. Texts stand at [verb][object, receptacle].
  private readonly textOfCommand: (string | undefined)[][] = Array.from({ length: Verb.use + 1 }, () => []);
  private readonly commandOfText = new Map<string, number>();

  /**
   * Compiles a description from outside.
   * @throws RoomDescriptionError
   */
  static of(description: RoomDescription): Room {
    checkDescription(description);
    return new Room(description);
  }

  /**
   * Compiles a description that is known to be sound, such as the generator's.
   * @param compiled its receptacles, where they have been compiled before
   */
  constructor(description: RoomDescription, compiled = compileReceptacles(description.receptacles)) {
    this.kind = description.kind ?? 'room';
    this.goal = description.goal;
    const { names, types, openable, traits, place, together, canonical, numbers } = compiled;
    this.receptacleNames = names;
    this.receptacleTypes = types;
    this.openable = openable;
    this.receptacleTraits = traits;
    this.place = place;
    this.together = together;
    this.canonicalReceptacles = canonical;
    this.receptacleNumber = numbers;

    const objects = [...description.objects].sort((a, b) => (a.name < b.name ? -1 : 1));
    const count = objects.length;
    this.objectNames = objects.map(({ name }) => name);
    this.objectTypes = this.objectNames.map((name) => objectTypes.get(typeOfName(name))!);
    this.objectTraits = new Uint8Array(count);
    this.start = new Uint8Array(count);
    this.accepts = new Uint8Array(names.length * count);
    const objectNumber = new Map<string, number>();
    const goalObjects: number[] = [];
    const lamps: number[] = [];
    const goalLamps: number[] = [];
    const isLook = this.goal.task === 'look';
    for (let o = 0; o < count; o++) {
      const object = objects[o]!;
      const type = this.objectTypes[o]!;
      objectNumber.set(object.name, o);
      this.start[o] = numbers.get(object.in)!;
      this.objectTraits[o] = objectTraits(type);
      if (type.name === this.goal.object) goalObjects.push(o);
      if (type.lamp) lamps.push(o);
      if (isLook && type.name === this.goal.target) goalLamps.push(o);
      for (let r = 0; r < names.length; r++) if (types[r]!.accepts.has(type.name)) this.accepts[r * count + o] = 1;
    }
    this.objectNumber = objectNumber;
    this.canonicalObjects = canonicalOrder(this.objectNames);
    this.goalObjects = Uint8Array.from(goalObjects);
    this.lamps = Uint8Array.from(lamps);
    this.goalLamps = Uint8Array.from(goalLamps);
    this.goalReceptacles = Uint8Array.from(types.keys()).filter((r) => !isLook && types[r]!.name === this.goal.target);
  }

  /** The instruction: one canonical form for each task. */
  get goalText(): string {
    return goalText(this.goal);
  }

  /** The number of a receptacle, or NONE. */
  receptacle(name: string): number {
    return this.receptacleNumber.get(name) ?? NONE;
  }

  /** The number of an object, or NONE. */
  object(name: string): number {
    return this.objectNumber.get(name) ?? NONE;
  }

  /** The text of a command of this room. */
  commandText(code: number): string {
    const texts = this.textOfCommand[code >> 16]!;
    const place = ((code >> 8) & 255) * this.receptacleNames.length + (code & 255);
    let text = texts[place];
    if (text === undefined) {
      text = this.writeCommand(code);
      // Filled up, so that the engine keeps a plain array instead of a dictionary.
      while (texts.length < place) texts.push(undefined);
      texts[place] = text;
      this.commandOfText.set(text, code);
    }
    return text;
  }

  /** The command that a text spells exactly (both ends trimmed), or NO_COMMAND. It need not be admissible. */
  parseCommand(text: string): number {
    const known = this.commandOfText.get(text);
    if (known !== undefined) return known;
    const spelled = text.trim();
    const code = this.commandOfText.get(spelled) ?? this.readCommand(spelled);
    // Only exact spellings of this room's commands are kept, so that no stream of inputs makes the tables grow.
    if (code !== NO_COMMAND) this.commandText(code);
    return code;
  }

  private writeCommand(code: number): string {
    const first = (code >> 8) & 255;
    const receptacle = this.receptacleNames[code & 255]!;
    switch (code >> 16) {
      case Verb.go:
        return `go to ${receptacle}`;
      case Verb.open:
        return `open ${receptacle}`;
      case Verb.close:
        return `close ${receptacle}`;
      case Verb.examine:
        return `examine ${receptacle}`;
      case Verb.examineObject:
        return `examine ${this.objectNames[first]!}`;
      case Verb.use:
        return `use ${this.objectNames[first]!}`;
      case Verb.help:
        return 'help';
      case Verb.inventory:
        return 'inventory';
      case Verb.look:
        return 'look';
    }
    const [, verb, preposition] = transfers.find(([verb]) => verb === code >> 16)!;
    return verb + this.objectNames[first]! + preposition + receptacle;
  }

  private readCommand(text: string): number {
    if (text === 'help') return command(Verb.help);
    if (text === 'inventory') return command(Verb.inventory);
    if (text === 'look') return command(Verb.look);
    const withReceptacle = (verb: number, name: string) => {
      const r = this.receptacle(name);
      return r === NONE ? NO_COMMAND : command(verb, 0, r);
    };
    const withObject = (verb: number, name: string) => {
      const o = this.object(name);
      return o === NONE ? NO_COMMAND : command(verb, o);
    };
    if (text.startsWith('go to ')) return withReceptacle(Verb.go, text.slice(6));
    if (text.startsWith('open ')) return withReceptacle(Verb.open, text.slice(5));
    if (text.startsWith('close ')) return withReceptacle(Verb.close, text.slice(6));
    if (text.startsWith('use ')) return withObject(Verb.use, text.slice(4));
    if (text.startsWith('examine ')) {
      const code = withReceptacle(Verb.examine, text.slice(8));
      return code === NO_COMMAND ? withObject(Verb.examineObject, text.slice(8)) : code;
    }
    for (const [verb, start, preposition] of transfers) {
      if (!text.startsWith(start)) continue;
      const end = text.indexOf(preposition, start.length);
      if (end < 0) return NO_COMMAND;
      const o = this.object(text.slice(start.length, end));
      const r = this.receptacle(text.slice(end + preposition.length));
      return o === NONE || r === NONE ? NO_COMMAND : command(verb, o, r);
    }
    return NO_COMMAND;
  }
}

export function goalText({ task, object, target }: RoomDescription['goal']): string {
  switch (task) {
    case 'pick':
      return `put ${object} in ${target}`;
    case 'two':
      return `put two ${object} in ${target}`;
    case 'look':
      return `look at ${object} with ${target}`;
    case 'clean':
    case 'heat':
    case 'cool':
      return `${task} ${object} then put in ${target}`;
  }
}

// Names in character-code order are canonical but for instances of one type from number 10 on, so an insertion sort has
// next to nothing to do.
function canonicalOrder(names: readonly string[]): Uint8Array {
  const order = Uint8Array.from(names.keys());
  for (let i = 1; i < order.length; i++) {
    const moved = order[i]!;
    let j = i;
    while (j > 0 && compareCanonically(names[moved]!, names[order[j - 1]!]!) < 0) {
      order[j] = order[j - 1]!;
      j--;
    }
    order[j] = moved;
  }
  return order;
}

function receptacleTraits(type: ReceptacleType): number {
  return type.role === 'heater' ? HEATER : type.role === 'cooler' ? COOLER : type.role === 'washer' ? WASHER : 0;
}

function objectTraits(type: ObjectType): number {
  return (
    (type.pickable ? PICKABLE : 0) |
    (type.heatable ? HEATABLE : 0) |
    (type.coolable ? COOLABLE : 0) |
    (type.cleanable ? CLEANABLE : 0) |
    (type.lamp ? LAMP : 0) |
    (type.vessel ? VESSEL : 0)
  );
}

function checkDescription({ receptacles, objects, goal }: RoomDescription): void {
  const fail = (sentence: string) => {
    throw new RoomDescriptionError(`This is not a room: ${sentence}.`);
  };
  if (receptacles.length === 0) fail('it has no receptacle');
  if (receptacles.length > LIMIT || objects.length > LIMIT) {
    fail(`it has ${receptacles.length} receptacles and ${objects.length} objects, more than ${LIMIT} of one sort`);
  }
  const names = new Set<string>();
  const checkEntry = (name: string, sort: string, types: ReadonlyMap<string, unknown>) => {
    if (!/^[a-z]+ [1-9][0-9]*$/.test(name)) fail(`${JSON.stringify(name)} is not of the form "type number"`);
    if (!types.has(typeOfName(name))) fail(`there is no ${sort} type ${JSON.stringify(typeOfName(name))}`);
    if (names.has(name)) fail(`${name} occurs twice`);
    names.add(name);
  };
  for (const { name } of receptacles) checkEntry(name, 'receptacle', receptacleTypes);
  const receptacleNames = new Set(names);
  for (const object of objects) {
    checkEntry(object.name, 'object', objectTypes);
    if (!receptacleNames.has(object.in)) fail(`${object.name} is in ${JSON.stringify(object.in)}, which it lacks`);
  }
  if (!taskNames.includes(goal.task)) {
    fail(`there is no task ${JSON.stringify(goal.task)}, accepted are ${taskNames.join(', ')}`);
  }
  if (!objectTypes.get(goal.object)?.pickable) fail(`${JSON.stringify(goal.object)} is no object type to carry`);
  const isTarget = goal.task === 'look' ? objectTypes.get(goal.target)?.lamp : receptacleTypes.has(goal.target);
  if (!isTarget) fail(`${JSON.stringify(goal.target)} is no target of ${goal.task}`);
}
