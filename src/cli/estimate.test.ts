import { describe, expect, it } from 'vitest';
import { hgpo } from '../testing/command-line.ts';
import { readFixtures, type FixtureFile } from '../testing/fixtures.ts';
import { fixtureAsJsonl } from '../testing/rollout-jsonl.ts';

// The polluted batch has rows twice, which importing refuses. The ProGPO file brings its own similarity of
// observations, which a rollout file cannot say.
const files = readFixtures(
  'advantages',
  (_, data) => data.schema === 'hgpo-advantages/1' && !data.columns.copyOf && !data.similarity,
);

type Data = FixtureFile['data'];

/** The arguments that ask for what a case of a fixture expects. */
function argumentsOf(data: Data, one: Data): string[] {
  const { gamma, invalidPenalty } = data.pipelines.find(({ id }: Data) => id === one.pipeline);
  const options = JSON.stringify({ gamma, invalidPenalty, ...one.params });
  return ['estimate', '-', '--json', '--method', one.estimator, '--preset', 'reference', '--options', options];
}

const row = (trajectory: string, step: number, reward: unknown, observation: unknown = 'room') =>
  JSON.stringify({ uid: 'u', traj_uid: trajectory, step, anchor_obs: observation, action: 'a', reward, valid: true });
const file = [row('a', 0, 0), row('a', 1, 1), row('b', 0, 0), row('b', 1, 0)].join('\n');

describe('estimate', () => {
  for (const { file, data } of files) {
    it(`prints what ${file} expects`, async () => {
      const jsonl = fixtureAsJsonl(data);
      for (const one of data.cases) {
        const { code, lines } = await hgpo(argumentsOf(data, one), jsonl);
        expect(code).toBe(0);
        expect(lines).toHaveLength(data.nRows);
        const expected = [...one.expected];
        for (const [row, value] of one.noisy ?? []) expected[row] = value;
        const { stepReturn } = data.pipelines.find(({ id }: Data) => id === one.pipeline);
        const wrong = lines.filter(
          (line, row) =>
            !(Math.abs(line.advantage - expected[row]) <= 1e-4 + 1e-5 * Math.abs(expected[row])) ||
            !(Math.abs(line.return - stepReturn[row]) <= 1e-6 * Math.max(1, Math.abs(stepReturn[row]))) ||
            line.uid !== data.tables.uid[data.columns.uid[row]] ||
            line.traj_uid !== data.tables.traj[data.columns.traj[row]] ||
            line.step !== data.columns.step[row],
        );
        expect(wrong, one.id).toEqual([]);
      }
    });
  }

  it('says the levels of a row, whose weighted advantages add up to its advantage', async () => {
    const { lines } = await hgpo(['estimate', '-', '--method', 'hgpo', '--json', '--history', '1'], file);
    for (const line of lines) {
      expect(Object.keys(line)).toEqual(['uid', 'traj_uid', 'step', 'return', 'advantage', 'levels']);
      const sum = line.levels.reduce(
        (total: number, { advantage, weight }: Data) => total + (advantage ?? 0) * weight,
        0,
      );
      expect(sum).toBeCloseTo(line.advantage, 12);
    }
    expect(lines[1].levels.map(({ k, size }: Data) => [k, size])).toEqual([
      [0, 4],
      [1, 2],
    ]);
  });

  it('leaves out the levels that a row does not have', async () => {
    const { lines } = await hgpo(['estimate', '-', '--method', 'hgpo', '--json', '--preset', 'reference'], file);
    expect(lines.map(({ levels }) => levels.map(({ k }: Data) => k))).toEqual([[0], [0, 1], [0], [0, 1]]);
  });

  it('marks the rows that a variant leaves out of the loss', async () => {
    const args = ['estimate', '-', '--method', 'hgpo', '--json', '--options', '{"variant":"oracle_only"}'];
    const { lines } = await hgpo(args, [file, row('c', 0, 1, 'elsewhere')].join('\n'));
    expect(lines.map(({ in_loss }) => in_loss)).toEqual([undefined, undefined, undefined, undefined, false]);
  });

  it('prints refused rows in their place with the reason, and goes on', async () => {
    const broken = [row('a', 0, 0), row('c', 0, '1'), '{oops', row('a', 1, 1), row('d', 1, 0)].join('\n');
    const { code, lines, stderr } = await hgpo(['estimate', '-', '--method', 'grpo', '--json'], broken);
    expect(code).toBe(0);
    expect(lines.map(({ advantage }) => advantage === null)).toEqual([false, true, false, true]);
    expect(lines[1]).toEqual({
      uid: 'u',
      traj_uid: 'c',
      step: 0,
      advantage: null,
      refused: '`reward` is a string, not a finite number',
      line: 2,
    });
    expect(lines[3].refused).toContain('step 0 is missing');
    expect(stderr).toContain('1 line: not JSON (line 3)');
    expect(stderr).toContain('Trajectory "d" refused');
  });

  it('ends with 2 and one sentence when no trajectory remains, after the refused rows', async () => {
    const { code, lines, stderr } = await hgpo(['estimate', '-', '--method', 'grpo', '--json'], row('a', 1, 0));
    expect(code).toBe(2);
    expect(lines).toMatchObject([{ advantage: null, refused: expect.stringContaining('step 0 is missing') }]);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  });

  it('takes an option preset and a size together, and no two of a kind', async () => {
    const run = (...presets: string[]) =>
      hgpo(['estimate', '-', '--method', 'rloo', '--json', ...presets.flatMap((name) => ['--preset', name])], file);
    expect((await run('reference', 'XS')).stdout).toBe((await run('reference')).stdout);
    expect((await run('paper', 'paper')).stdout).toBe((await run()).stdout);
    expect(await run('paper', 'reference')).toMatchObject({ code: 2, stdout: '' });
  });

  it('takes the defaults of the environment that the episodes name, unless told otherwise', async () => {
    const shop = file.replaceAll('"step"', '"episode_id":"shop/1/S/seen/7","step"');
    const run = async (input: string, ...args: string[]) =>
      (await hgpo(['estimate', '-', '--method', 'hgpo', '--json', ...args], input)).stdout;
    expect(await run(shop)).toBe(await run(file, '--env', 'shop'));
    expect(await run(shop, '--env', 'rooms')).toBe(await run(file));
    expect(await run(shop)).not.toBe(await run(file));
  });

  it('without --json prints a table in which no text of the file can steer the terminal', async () => {
    const { stdout } = await hgpo(['estimate', '-', '--method', 'hgpo'], row('\u001b[31mred\u009b', 0, 1));
    expect(stdout).toContain('\\u001b[31mred\\u009b');
    expect(stdout.split('\n')[0]).toMatch(/^uid +traj_uid +step +return +advantage/);
  });

  it.each([
    [['--method', 'nope'], 'There is no method "nope"; known are grpo,'],
    [['--method', 'hgpo', '--options', '{'], '--options is not JSON: "{"'],
    [['--method', 'hgpo', '--options', '[1]'], '--options is not a JSON object'],
    [['--method', 'hgpo', '--options', '{"nope":1}'], 'There is no option "nope"; the options are gamma,'],
    [['--method', 'hgpo', '--options', '{"__proto__":1}'], 'There is no option "__proto__"'],
    [['--method', 'hgpo', '--options', '{"K":-1}'], 'The option "K" takes a whole number from 0'],
    [['--method', 'hgpo', '--history', '2', '--options', '{"K":3}'], '--history 2 and "K":3'],
    [['--method', 'hgpo', '--history', '1.5'], 'It must be a whole number'],
    [['--method', 'hgpo', '--alpha', 'x'], 'It must be a number'],
    [['--method', 'hgpo', '--preset', 'XXL'], 'There is no preset "XXL"; known are paper, reference, XS'],
    [['--method', 'hgpo', '--env', 'moon'], 'There is no environment "moon"'],
    [['--method', 'hgpo', '--dialect', 'csv'], 'There is no dialect "csv"; known: rollout-jsonl'],
    [['--method', 'hgpo', '--seed', '-1'], 'It must be a whole number'],
    [['--method', 'hgpo', '--frob'], "Unknown option '--frob'"],
    [[], '--method <name>'],
  ])('refuses %j with 2 and one sentence', async (args, sentence) => {
    const { code, stdout, stderr } = await hgpo(['estimate', '-', ...args], file);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(sentence);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  });

  it.each([
    ['/no/such/file', 'there is no such file'],
    ['.', 'it is a folder'],
  ])('refuses to read %s with 2 and one sentence', async (path, sentence) => {
    const { code, stderr } = await hgpo(['estimate', path, '--method', 'grpo']);
    expect(code).toBe(2);
    expect(stderr).toBe(`${path} could not be read: ${sentence}.\n`);
  });
});

describe('report and formats', () => {
  it('report says what was found and what was left out', async () => {
    const broken = `${file}\n{oops`;
    const { code, lines } = await hgpo(['report', '-', '--json'], broken);
    expect(code).toBe(0);
    expect(lines).toMatchObject([{ rows: 4, acceptedRows: 4, unreadable: [{ count: 1, lines: [5] }] }]);
    expect((await hgpo(['report', '-'], broken)).stdout).toContain('Accepted 4 rows of 2 trajectories in 1 task');
  });

  it('formats lists the dialects', async () => {
    expect((await hgpo(['formats', '--json'])).lines).toMatchObject([{ id: 'rollout-jsonl', reads: true }]);
    expect((await hgpo(['formats'])).stdout).toContain('rollout-jsonl');
  });
});
