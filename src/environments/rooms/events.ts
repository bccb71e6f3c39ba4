import { COOL, CLEAN, EventKind, HOT, type RoomState } from './state.ts';
import { NONE, VESSEL, type Room } from './room.ts';

/** What one sees of a receptacle. Lists are in canonical order: type name, then number. */
export type View =
  { readonly status: 'closed' } | { readonly status: 'open' | 'surface'; readonly objects: readonly string[] };

export type Property = 'clean' | 'hot' | 'cool';

/** What an action of Rooms made known: all that an observation conveys. */
export type RoomsEvent =
  | { readonly kind: 'start'; readonly room: string; readonly receptacles: readonly string[]; readonly goal: string }
  | { readonly kind: 'none' }
  | { readonly kind: 'arrive' | 'view'; readonly receptacle: string; readonly view: View }
  | { readonly kind: 'open'; readonly receptacle: string; readonly view: View }
  | { readonly kind: 'close'; readonly receptacle: string }
  | {
      readonly kind: 'take' | 'put' | 'heat' | 'cool' | 'clean';
      readonly object: string;
      readonly receptacle: string;
    }
  | { readonly kind: 'use'; readonly object: string; readonly on: true }
  | {
      readonly kind: 'inspect';
      readonly object: string;
      readonly vessel: boolean;
      /** Empty for a vessel: inspecting one tells only that nothing is in it. */
      readonly properties: readonly Property[];
    }
  /** In the middle of the room one sees all receptacles; elsewhere those at one's place, not their contents. */
  | { readonly kind: 'look'; readonly facing: null; readonly receptacles: readonly string[] }
  | { readonly kind: 'look'; readonly facing: readonly string[] }
  | { readonly kind: 'inventory'; readonly holding: string | null }
  | { readonly kind: 'help' };

/** The structured form of the last event of a state. */
export function describeEvent(state: RoomState): RoomsEvent {
  const { room, eventObject, eventReceptacle } = state;
  const object = room.objectNames[eventObject]!;
  const receptacle = room.receptacleNames[eventReceptacle]!;
  switch (state.event) {
    case EventKind.start:
      return { kind: 'start', room: room.kind, receptacles: canonicalNames(room), goal: room.goalText };
    case EventKind.arrive:
      return { kind: 'arrive', receptacle, view: viewOf(state, eventReceptacle) };
    case EventKind.view:
      return { kind: 'view', receptacle, view: viewOf(state, eventReceptacle) };
    case EventKind.open:
      return { kind: 'open', receptacle, view: viewOf(state, eventReceptacle) };
    case EventKind.close:
      return { kind: 'close', receptacle };
    case EventKind.take:
      return { kind: 'take', object, receptacle };
    case EventKind.put:
      return { kind: 'put', object, receptacle };
    case EventKind.heat:
      return { kind: 'heat', object, receptacle };
    case EventKind.cool:
      return { kind: 'cool', object, receptacle };
    case EventKind.clean:
      return { kind: 'clean', object, receptacle };
    case EventKind.use:
      return { kind: 'use', object, on: true };
    case EventKind.inspect: {
      const vessel = (room.objectTraits[eventObject]! & VESSEL) !== 0;
      return {
        kind: 'inspect',
        object,
        vessel,
        properties: vessel ? [] : propertyNames(state.properties[eventObject]!),
      };
    }
    case EventKind.look:
      if (eventReceptacle === NONE) return { kind: 'look', facing: null, receptacles: canonicalNames(room) };
      return { kind: 'look', facing: facing(room, eventReceptacle) };
    case EventKind.inventory:
      return { kind: 'inventory', holding: eventObject === NONE ? null : object };
    case EventKind.help:
      return { kind: 'help' };
    default:
      return { kind: 'none' };
  }
}

/** What one would see of a receptacle now. */
export function viewOf(state: RoomState, receptacle: number): View {
  const { room } = state;
  if (!state.isAccessible(receptacle)) return { status: 'closed' };
  const objects: string[] = [];
  for (const o of room.canonicalObjects) if (state.in[o] === receptacle) objects.push(room.objectNames[o]!);
  return { status: room.openable[receptacle] === 1 ? 'open' : 'surface', objects };
}

export function propertyNames(bits: number): Property[] {
  const names: Property[] = [];
  if ((bits & CLEAN) !== 0) names.push('clean');
  if ((bits & HOT) !== 0) names.push('hot');
  if ((bits & COOL) !== 0) names.push('cool');
  return names;
}

function canonicalNames(room: Room): string[] {
  return Array.from(room.canonicalReceptacles, (r) => room.receptacleNames[r]!);
}

function facing(room: Room, receptacle: number): string[] {
  const here = room.together[receptacle]!;
  return Array.from(room.canonicalReceptacles.filter((r) => here.includes(r))).map((r) => room.receptacleNames[r]!);
}
