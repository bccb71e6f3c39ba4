import { describe, expect, test } from 'vitest';
import { exampleRoom, exampleRoomNames } from '../environments/rooms/example-rooms.ts';
import { RoomsEnvironment } from '../environments/rooms/environment.ts';
import type { RoomDescription } from '../environments/rooms/room.ts';
import { uniformPolicy } from '../rollouts/policies/uniform.ts';
import { environmentFixtures } from '../testing/environment-fixtures.ts';
import { enumerateEpisode, type EpisodeModel } from './episode-model.ts';
import { exactValues } from './exact-values.ts';

function modelOf(room: RoomDescription, memory: number, stepLimit?: number): EpisodeModel {
  const environment = new RoomsEnvironment();
  environment.resetToRoom(room, stepLimit === undefined ? {} : { stepLimit });
  return enumerateEpisode(environment, { memory });
}

const least = (values: Int32Array) => values.reduce((a, b) => Math.min(a, b));
const most = (values: Int32Array) => values.reduce((a, b) => Math.max(a, b));

for (const { file, data } of environmentFixtures('state-space')) {
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  describe.each(data.rooms as any[])(`${file} $id`, (row) => {
    const { room, hidden, withObservationAndHistory = {}, uniformPolicy: uniform, optimalValueAtStart } = row;

    test.runIf(hidden)('has the counted hidden states', () => {
      const model = modelOf(room, 0);
      const wins = model.stateDepth.filter((_, state) => model.won[state] === 1);
      expect({
        states: model.stateCount,
        edges: model.stateEdgeCount,
        goalStates: wins.length,
        shortestWin: least(wins),
        eccentricity: most(model.stateDepth),
      }).toEqual(hidden);
    });

    test.each(Object.keys(withObservationAndHistory))('has the counted nodes with history %s', (name) => {
      const model = modelOf(room, Number(name.slice(2)));
      const wins = model.nodeDepth.filter((_, node) => model.won[model.nodeState[node]!] === 1);
      expect({
        states: model.nodeCount,
        edges: model.edgeCount,
        goalStates: wins.length,
        shortestWin: least(wins),
        eccentricity: most(model.nodeDepth),
      }).toEqual(withObservationAndHistory[name]);
    });

    // The uniform policy ignores the history, so its values are those of any K.
    test.runIf(uniform).each([0, 1])('has the known values of the uniform policy, with history K = %d', (memory) => {
      const values = exactValues(modelOf(room, memory, uniform.horizon), uniformPolicy, { gamma: uniform.gamma });
      // The reference is rounded to nine decimals: half a unit of the last, and the order of a sum.
      const agrees = (value: number, reference: number) => {
        expect(Math.abs(value - reference)).toBeLessThan(0.5e-9 + 1e-12);
      };
      agrees(values.valueAtStart, uniform.valueAtStart);
      agrees(values.successProbability, uniform.successProbability);
      expect(Object.keys(values.qAtStart).sort()).toEqual(Object.keys(uniform.qAtStart).sort());
      for (const [command, q] of Object.entries(values.qAtStart)) agrees(q, uniform.qAtStart[command]);
    });

    test.runIf(optimalValueAtStart)('has the known optimal value, which the oracle reaches', () => {
      const environment = new RoomsEnvironment();
      environment.resetToRoom(room);
      const oracle = environment.expert('oracle');
      while (!environment.done) environment.step(oracle.next());
      expect(10 * 0.95 ** (environment.stepIndex - 1)).toBeCloseTo(optimalValueAtStart, 8);
    });
  });
}

test('every example room of the product can be enumerated', () => {
  for (const name of exampleRoomNames) expect(modelOf(exampleRoom(name), 0).nodeCount).toBeGreaterThan(10);
});
