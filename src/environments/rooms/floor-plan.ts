import { propertyNames, type Property } from './events.ts';
import { HAND, NONE } from './room.ts';
import { USED, type RoomState } from './state.ts';
import type { TaskName } from './types.ts';

/** The whole hidden state of a room as plain data, for people who ask to see it. Lists are in canonical order. */
export interface FloorPlan {
  readonly kind: string;
  readonly goal: { readonly task: TaskName; readonly object: string; readonly target: string };
  /** Where the agent stands; null in the middle of the room. */
  readonly at: string | null;
  readonly hand: string | null;
  readonly receptacles: readonly {
    readonly name: string;
    readonly type: string;
    readonly door: 'open' | 'shut' | null;
    /** Whether the agent can use it from where it stands. */
    readonly isHere: boolean;
    /** Everything that lies there, behind a shut door too. */
    readonly objects: readonly string[];
  }[];
  readonly objects: readonly {
    readonly name: string;
    readonly type: string;
    /** A receptacle; null for the hand. */
    readonly in: string | null;
    readonly properties: readonly Property[];
    /** For lamps: whether it has been used. */
    readonly lit: boolean;
  }[];
}

export function floorPlan(state: RoomState): FloorPlan {
  const { room } = state;
  const objectsIn = (place: number) =>
    Array.from(room.canonicalObjects.filter((o) => state.in[o] === place)).map((o) => room.objectNames[o]!);
  return {
    kind: room.kind,
    goal: room.goal,
    at: state.at === NONE ? null : room.receptacleNames[state.at]!,
    hand: state.hand === NONE ? null : room.objectNames[state.hand]!,
    receptacles: Array.from(room.canonicalReceptacles).map((r) => ({
      name: room.receptacleNames[r]!,
      type: room.receptacleTypes[r]!.name,
      door: room.openable[r] === 0 ? null : state.open[r] === 1 ? 'open' : 'shut',
      isHere: state.isHere(r),
      objects: objectsIn(r),
    })),
    objects: Array.from(room.canonicalObjects).map((o) => ({
      name: room.objectNames[o]!,
      type: room.objectTypes[o]!.name,
      in: state.in[o] === HAND ? null : room.receptacleNames[state.in[o]!]!,
      properties: propertyNames(state.properties[o]!),
      lit: (state.properties[o]! & USED) !== 0,
    })),
  };
}
