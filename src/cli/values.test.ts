import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exampleRoom, exampleRoomNames } from '../environments/rooms/example-rooms.ts';
import { TabularPolicy } from '../rollouts/policies/tabular.ts';
import { hgpo } from '../testing/command-line.ts';
import { environmentFixtures } from '../testing/environment-fixtures.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hgpo-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function file(name: string, content: unknown): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

const round = (value: number) => Number(value.toFixed(9));

describe('values', () => {
  for (const { file: name, data } of environmentFixtures('state-space')) {
    it(`prints the counted sizes and known values of each room of ${name}, given as a file`, async () => {
      for (const { id, room, hidden, withObservationAndHistory, uniformPolicy: uniform } of data.rooms) {
        if (!hidden || !withObservationAndHistory?.['K=1'] || !uniform) continue;
        const path = await file(`${id}.json`, room);
        const args = ['--policy', 'uniform', '--history', '1', '--gamma', String(uniform.gamma)];
        args.push('--step-limit', String(uniform.horizon));
        const { code, lines } = await hgpo(['values', '--room', path, ...args, '--json']);
        expect(code).toBe(0);
        const [line] = lines;
        const nodes = withObservationAndHistory['K=1'];
        expect(line).toMatchObject({
          hiddenStates: hidden.states,
          hiddenEdges: hidden.edges,
          nodes: nodes.states,
          edges: nodes.edges,
        });
        expect(round(line.valueAtStart)).toBe(uniform.valueAtStart);
        expect(round(line.successProbability)).toBe(uniform.successProbability);
        expect(Object.entries(line.qAtStart).map(([command, q]) => [command, round(q as number)])).toEqual(
          Object.entries(uniform.qAtStart),
        );
      }
    });
  }

  it('knows the example rooms by name, and a file may hold the room as `room`', async () => {
    for (const name of exampleRoomNames.slice(0, 2)) {
      const path = await file('wrapped.json', { id: 'any', room: exampleRoom(name) });
      const [named] = (await hgpo(['values', '--room', name, '--history', '0', '--json'])).lines;
      const [read] = (await hgpo(['values', '--room', path, '--history', '0', '--json'])).lines;
      expect({ ...read, room: name }).toEqual(named);
    }
  });

  it('a fresh table is worth what the uniform policy is, and its memory is that of its file', async () => {
    const path = await file('table.json', new TabularPolicy({ environment: 'rooms', memory: 0 }).toJson());
    const [table] = (await hgpo(['values', '--room', 'S1', '--policy', `tabular:${path}`, '--json'])).lines;
    const [uniform] = (await hgpo(['values', '--room', 'S1', '--history', '0', '--json'])).lines;
    expect(table.history).toBe(0);
    expect(table.valueAtStart).toBeCloseTo(uniform.valueAtStart, 12);
    expect(table.nodes).toBe(uniform.nodes);
  });

  it('the random policy wastes steps on looking about', async () => {
    const [random] = (await hgpo(['values', '--room', 'S7', '--policy', 'random', '--json'])).lines;
    const [uniform] = (await hgpo(['values', '--room', 'S7', '--json'])).lines;
    expect(Object.keys(random.qAtStart)).toContain('look');
    expect(random.valueAtStart).toBeLessThan(uniform.valueAtStart);
  });

  it('solves a small shop', async () => {
    const { lines, code } = await hgpo(['values', '--env', 'shop', '--history', '0', '--step-limit', '8', '--json']);
    expect(code).toBe(0);
    expect(lines[0].hiddenStates).toBeGreaterThan(50);
    expect(Object.values(lines[0].qAtStart)).toEqual([lines[0].valueAtStart]);
    expect(lines[0].successProbability).toBeGreaterThan(0);
  });

  it('prints a table for people', async () => {
    const { stdout } = await hgpo(['values', '--room', 'S1']);
    expect(stdout).toContain('161 hidden states, 588 edges; 1107 nodes, 4332 edges.');
    expect(stdout).toContain('Value at the start 0.481804948, probability of success 0.183158894.');
  });

  it.each([
    [['--room', 'S99'], 'There is no room or file "S99"; known rooms are S1, S2, S3, S4, S5, S6, S7.'],
    [['--room', 'S1', '--env', 'shop'], '--room and --env shop exclude each other.'],
    [
      ['--room', 'S1', '--policy', 'expert'],
      'Policy expert cannot tell its probabilities; known are uniform, random, tabular:FILE.',
    ],
    [['--room', 'S1', '--gamma', '2'], '--gamma must be from 0 to 1.'],
    [['--preset', 'XL', '--node-limit', '1000'], /^The episode has more than 1000 hidden states: /],
    [['--room', 'S1', '--node-limit', '1000'], /^The episode has more than 1000 nodes: /],
  ])('answers %j with 2 and one sentence', async (args, sentence) => {
    const { code, stdout, stderr } = await hgpo(['values', ...args]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr.trimEnd()).toMatch(sentence);
  });

  it.each([
    ['{', 'is not JSON.'],
    ['[]', 'holds no room: the whole: '],
    [{ room: null }, 'holds no room: the whole: '],
    [{ receptacles: [{ name: 'fridge 1' }], objects: [], goal: {} }, 'holds no room: receptacles.0.openable: '],
    [{ receptacles: [], objects: [], goal: { task: 'pick', object: 'mug', target: 'shelf' } }, 'This is not a room: '],
  ])('refuses the room %j', async (content, sentence) => {
    const { code, stderr } = await hgpo(['values', '--room', await file('bad.json', content)]);
    expect([code, stderr.trimEnd().split('\n').length]).toEqual([2, 1]);
    expect(stderr).toContain(sentence);
  });
});
