/**
 * What kinds of receptacles, objects and tasks exist. The tables in `data/` are facts of ALFWorld's 120 rooms and of its
 * demonstrations (docs/environments.md says which); tests compare them with the project's fixtures.
 */
import objectTable from './data/object-types.json' with { type: 'json' };
import receptacleTable from './data/receptacle-types.json' with { type: 'json' };
import comboTable from './data/task-combos.json' with { type: 'json' };

export const roomKinds = ['kitchen', 'livingroom', 'bedroom', 'bathroom'] as const;
export type RoomKind = (typeof roomKinds)[number];

export const taskNames = ['pick', 'look', 'clean', 'heat', 'cool', 'two'] as const;
export type TaskName = (typeof taskNames)[number];

export interface Occurrence {
  /** In how many of the 30 source rooms of the kind the type occurs. */
  readonly rooms: number;
  /** Mean number of instances over those rooms. */
  readonly meanCount: number;
  /** Largest number of instances in one room. */
  readonly maxCount: number;
}

export interface ReceptacleType {
  readonly name: string;
  /** Whether instances have a door as a rule; an instance may lack it. */
  readonly openable: boolean;
  readonly role: 'heater' | 'cooler' | 'washer' | null;
  /** Object types that may be put here. */
  readonly accepts: ReadonlySet<string>;
  readonly occurrence: ReadonlyMap<RoomKind, Occurrence>;
}

export interface ObjectType {
  readonly name: string;
  readonly pickable: boolean;
  readonly heatable: boolean;
  readonly coolable: boolean;
  readonly cleanable: boolean;
  readonly lamp: boolean;
  /** Inspecting a vessel tells only that it is empty. */
  readonly vessel: boolean;
  /** In how many of the 30 source rooms of a kind the type occurs. */
  readonly rooms: ReadonlyMap<RoomKind, number>;
  /** Receptacle type → how often demonstrations picked the object up there. */
  readonly sources: ReadonlyMap<string, number>;
}

/** A legal task: `object` is a type; `target` a receptacle type, or the lamp type of `look`. */
export interface TaskCombo {
  readonly task: TaskName;
  readonly object: string;
  readonly target: string;
  /** Number of training demonstrations in the source. */
  readonly trainCount: number;
  readonly kinds: readonly RoomKind[];
}

const flags = (text: string) => new Set(text.split(' '));

function typedEntries<Value>(record: Readonly<Record<string, Value>>): [RoomKind, Value][] {
  return Object.entries(record) as [RoomKind, Value][];
}

export const receptacleTypes: ReadonlyMap<string, ReceptacleType> = new Map(
  Object.entries(receptacleTable).map(([name, row]) => [
    name,
    {
      name,
      openable: row.openable,
      role: row.role as ReceptacleType['role'],
      accepts: flags(row.accepts),
      occurrence: new Map(
        typedEntries(row.rooms as Record<string, number[]>).map(([kind, [rooms, meanCount, maxCount]]) => [
          kind,
          { rooms: rooms!, meanCount: meanCount!, maxCount: maxCount! },
        ]),
      ),
    },
  ]),
);

export const objectTypes: ReadonlyMap<string, ObjectType> = new Map(
  Object.entries(objectTable).map(([name, row]) => {
    const is = flags(row.is);
    return [
      name,
      {
        name,
        pickable: is.has('pickable'),
        heatable: is.has('heatable'),
        coolable: is.has('coolable'),
        cleanable: is.has('cleanable'),
        lamp: is.has('lamp'),
        vessel: is.has('vessel'),
        rooms: new Map(typedEntries(row.rooms as Record<string, number>)),
        sources: new Map(Object.entries(row.sources as Record<string, number>)),
      },
    ];
  }),
);

export const taskCombos: readonly TaskCombo[] = taskNames.flatMap((task) =>
  Object.entries(comboTable[task] as unknown as Record<string, Record<string, [number, string]>>).flatMap(
    ([object, targets]) =>
      Object.entries(targets).map(([target, [trainCount, kinds]]) => ({
        task,
        object,
        target,
        trainCount,
        kinds: kinds.split(' ') as RoomKind[],
      })),
  ),
);

/** `fridge 1` → `fridge`. */
export function typeOfName(name: string): string {
  return name.slice(0, name.lastIndexOf(' '));
}

/** Canonical order of listings: type name, then number, so that `cabinet 2` stands before `cabinet 10`. */
export function compareCanonically(a: string, b: string): number {
  const typeA = typeOfName(a);
  const typeB = typeOfName(b);
  if (typeA !== typeB) return typeA < typeB ? -1 : 1;
  return Number(a.slice(typeA.length + 1)) - Number(b.slice(typeB.length + 1));
}
