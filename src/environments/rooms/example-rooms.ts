import exampleRooms from './data/example-rooms.json' with { type: 'json' };
import { checkName } from '../environment.ts';
import type { RoomDescription } from './room.ts';

/** Small rooms whose states can be counted and whose values are known exactly: S1 to S7. */
export const exampleRoomNames: readonly string[] = Object.keys(exampleRooms);

/** @throws UnknownNameError with the names that are accepted. */
export function exampleRoom(name: string): RoomDescription & { readonly title: string } {
  const known = checkName('example room', name, exampleRoomNames);
  return (exampleRooms as Readonly<Record<string, unknown>>)[known] as RoomDescription & { readonly title: string };
}
