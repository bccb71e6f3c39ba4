import { describe, expect, it } from 'vitest';
import type { RoomsEvent } from '../../workers/views.ts';
import { knownRoom } from './known-room.ts';

const start: RoomsEvent = { kind: 'start', room: 'kitchen', receptacles: ['fridge 1', 'table 1'], goal: 'cool egg' };
const fridge = (...events: RoomsEvent[]) =>
  knownRoom([start, ...events]).receptacles.find(({ name }) => name === 'fridge 1')!;

describe('what the transcript tells of a room', () => {
  it('is nothing but names at the start', () => {
    expect(knownRoom([start])).toEqual({
      receptacles: [
        { name: 'fridge 1', door: null, objects: null },
        { name: 'table 1', door: null, objects: null },
      ],
      at: null,
      hand: null,
    });
  });

  it('does not see through a shut door, but remembers what was behind it', () => {
    const shut: RoomsEvent = { kind: 'arrive', receptacle: 'fridge 1', view: { status: 'closed' } };
    const opened: RoomsEvent = { kind: 'open', receptacle: 'fridge 1', view: { status: 'open', objects: ['egg 1'] } };
    expect(fridge(shut)).toMatchObject({ door: 'shut', objects: null });
    expect(fridge(shut, opened, { kind: 'close', receptacle: 'fridge 1' })).toMatchObject({
      door: 'shut',
      objects: ['egg 1'],
    });
  });

  it('follows an object from a place to the hand and to another place', () => {
    const take: RoomsEvent = { kind: 'take', object: 'egg 1', receptacle: 'fridge 1' };
    const opened: RoomsEvent = { kind: 'open', receptacle: 'fridge 1', view: { status: 'open', objects: ['egg 1'] } };
    const held = knownRoom([start, opened, take]);
    expect(held.hand).toBe('egg 1');
    expect(held.receptacles[0]).toMatchObject({ objects: [] });
    const put = knownRoom([start, opened, take, { kind: 'put', object: 'egg 1', receptacle: 'table 1' }]);
    expect(put.hand).toBeNull();
    expect(put.receptacles[1]).toMatchObject({ objects: ['egg 1'] });
  });
});
