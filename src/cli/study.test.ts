import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readStudy, StudyFileError } from '../analysis/study/recorded-study.ts';
import { TabularPolicy } from '../rollouts/policies/tabular.ts';
import { hgpo } from '../testing/command-line.ts';
import { readStudyPlan } from './study-file.ts';

const plan = {
  title: 'small',
  seeds: [3, 4],
  window: 2,
  settings: [
    { name: 'rooms', preset: 'XS', groups: 2, size: 2, episodes: 2, iterations: 3 },
    { name: 'shop', env: 'shop', preset: 'XS', groups: 2, size: 2, episodes: 2, iterations: 3 },
  ],
  methods: [
    { name: 'GRPO', method: 'grpo' },
    { name: 'HGPO K 1', method: 'hgpo', options: { K: 1 } },
  ],
  compare: [['HGPO K 1', 'GRPO']],
};

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hgpo-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function planFile(name: string, changes: object = {}): Promise<string> {
  const file = join(folder, `${name}.json`);
  await writeFile(file, JSON.stringify({ ...plan, ...changes }));
  return file;
}

const resultsOf = (name: string) => readFile(join(folder, `${name}-results.json`), 'utf8');

describe('study', () => {
  it('runs every method in every setting with every seed, and pairs the seeds', async () => {
    const { code } = await hgpo(['study', await planFile('whole')]);
    expect(code).toBe(0);
    const results = readStudy(await resultsOf('whole'));
    expect(results.cells.map(({ setting, method }) => [setting, method])).toEqual([
      [0, 0],
      [0, 1],
      [1, 0],
      [1, 1],
    ]);
    for (const { curves, final, trajectories } of results.cells) {
      expect(curves.map((curve) => curve.length)).toEqual([2, 2]);
      expect(final.map(({ set, temperature }) => [set, temperature])).toEqual([
        ['set', 1],
        ['set', 0.4],
      ]);
      expect(trajectories).toBe(3 * 2 * 2);
    }
    // The same start: before training the methods do not differ.
    const [grpo, hgpoCell] = results.cells;
    expect(grpo!.final[0]!.before).toEqual(hgpoCell!.final[0]!.before);
    const [difference] = results.differences;
    const after = (cell: typeof grpo) => cell!.final[0]!.success.mean;
    expect(difference!.final[0]!.mean).toBeCloseTo(after(hgpoCell) - after(grpo), 0);
  });

  it('ends in the same file after an interruption in the middle of a line', async () => {
    const file = await planFile('broken');
    await hgpo(['study', file, '--only', 'rooms']);
    const kept = join(folder, 'broken-results.runs', 'finished.jsonl');
    const lines = await readFile(kept, 'utf8');
    expect(lines.split('\n')).toHaveLength(5);
    await writeFile(kept, lines.slice(0, lines.length - 40));
    const goneOn = await hgpo(['study', file]);
    expect(goneOn.stderr).toMatch(/1 unreadable lines are left out/);
    expect(goneOn.stderr).toMatch(/3 of 8 runs are finished already/);
    expect(await resultsOf('broken')).toBe(await resultsOf('whole'));
    const again = await hgpo(['study', file, '--json']);
    expect(again.stderr).toMatch(/8 of 8 runs are finished already/);
    expect(again.lines).toEqual([JSON.parse(await resultsOf('whole'))]);
  });

  it('runs again what another plan would do differently, and that alone', async () => {
    const file = await planFile('changed');
    await hgpo(['study', file]);
    const methods = [plan.methods[0], { name: 'HGPO K 1', method: 'hgpo', options: { K: 1, alpha: 3 } }];
    await planFile('changed', { methods });
    const { stderr } = await hgpo(['study', file]);
    expect(stderr).toMatch(/4 of 8 runs are finished already/);
  });

  it('runs again when the policy of that name has other weights', async () => {
    const policy = join(folder, 'start.json');
    const table = new TabularPolicy({ environment: 'rooms', memory: 1 });
    await writeFile(policy, JSON.stringify(table.toJson()));
    const settings = [{ ...plan.settings[0], policy: `tabular:${policy}` }];
    const file = await planFile('weights', { settings });
    await hgpo(['study', file]);
    table.temperature = 2;
    await writeFile(policy, JSON.stringify(table.toJson()));
    const { stderr } = await hgpo(['study', file]);
    expect(stderr).not.toMatch(/finished already/);
    expect((await hgpo(['study', file])).stderr).toMatch(/4 of 4 runs are finished already/);
  });

  it.each([
    ['no JSON', '{', /is not JSON/],
    ['an unknown field', JSON.stringify({ ...plan, repeats: 2 }), /repeats/],
    ['no seeds', JSON.stringify({ ...plan, seeds: [] }), /seeds/],
    ['a seed twice', JSON.stringify({ ...plan, seeds: [1, 1] }), /the seed 1 stands there twice/],
    ['an unknown method', JSON.stringify({ ...plan, methods: [{ name: 'X', method: 'x' }] }), /methods.0.method/],
    ['an unknown name', JSON.stringify({ ...plan, compare: [['GRPO', 'X']] }), /compare names "X".*GRPO, HGPO K 1/],
    [
      'an option out of range',
      JSON.stringify({ ...plan, methods: [{ name: 'X', method: 'hgpo', options: { alpha: -1 } }], compare: [] }),
      /rooms, X, seed 3: The option "alpha" takes/,
    ],
    [
      'one trajectory for a group method',
      JSON.stringify({ ...plan, settings: [{ name: 'one', size: 1 }] }),
      /groupSize 1.*use 8/,
    ],
    ['no policy', JSON.stringify({ ...plan, settings: [{ name: 'p', policy: 'nope' }] }), /There is no policy "nope"/],
  ])('refuses %s with one sentence before anything runs', async (_, text, sentence) => {
    const file = join(folder, 'refused.json');
    await writeFile(file, text);
    const { code, stdout, stderr } = await hgpo(['study', file]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr.trim().split('\n')).toEqual([expect.stringMatching(sentence)]);
  });

  it.each(['studies/tabular.json', 'studies/neural.json'])('can read %s', async (file) => {
    const { compare, methods } = await readStudyPlan(file);
    expect(methods.length).toBeGreaterThanOrEqual(3);
    expect(compare.length).toBeGreaterThan(0);
  });

  it('refuses a setting to run alone that the study does not have', async () => {
    const { code, stderr } = await hgpo(['study', await planFile('only'), '--only', 'attic']);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/no setting "attic".*rooms, shop/)]);
  });
});

describe('results of a study', () => {
  it('are refused where they are damaged', async () => {
    const text = await resultsOf('whole');
    const damaged = (change: (results: ReturnType<typeof readStudy>) => unknown) => () =>
      readStudy(JSON.stringify(change(readStudy(text))));
    expect(() => readStudy('[')).toThrow(StudyFileError);
    expect(damaged((results) => ({ ...results, version: 2 }))).toThrow(/version/);
    expect(damaged((results) => ({ ...results, seeds: [1] }))).toThrow(/do not fit/);
    expect(damaged((results) => ({ ...results, methods: [] }))).toThrow(/do not fit/);
  });
});
