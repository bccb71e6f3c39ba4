import { describe, expect, it } from 'vitest';
import { hgpo } from '../testing/command-line.ts';

const row = (trajectory: string, step: number, observation: string, reward = 0) =>
  JSON.stringify({ uid: 'u', traj_uid: trajectory, step, anchor_obs: observation, action: 'a', reward, valid: true });
// Both trajectories begin in A; one goes on to B, one to C, and both end in D.
const file = [
  ...['A', 'B', 'D'].map((observation, step) => row('one', step, observation, step === 2 ? 1 : 0)),
  ...['A', 'C', 'D'].map((observation, step) => row('two', step, observation)),
].join('\n');

describe('groups', () => {
  it('counts sizes by rows and by groups, utilisation and silent rows at each level', async () => {
    const { code, lines } = await hgpo(['groups', '-', '--history', '1', '--json'], file);
    expect(code).toBe(0);
    expect(lines).toEqual([
      {
        k: 0,
        rows: 6,
        present: 6,
        groups: 4,
        histogram: [
          { size: 1, rows: 2, groups: 2 },
          { size: 2, rows: 4, groups: 2 },
        ],
        utilisation: 4 / 6,
        withoutSignal: 2 / 6,
      },
      {
        k: 1,
        rows: 6,
        present: 6,
        groups: 5,
        histogram: [
          { size: 1, rows: 4, groups: 4 },
          { size: 2, rows: 2, groups: 1 },
        ],
        utilisation: 2 / 6,
        withoutSignal: 4 / 6,
      },
    ]);
  });

  it('prints a table for people', async () => {
    const { stdout } = await hgpo(['groups', '-', '--history', '0'], file);
    expect(stdout).toMatch(
      /^level {2}rows in it {2}groups {2}utilisation {2}without signal\n +0 +6 +4 +66\.7 % +33\.3 %/,
    );
  });

  it('ends with 2 and one sentence for a file without a whole trajectory', async () => {
    expect(await hgpo(['groups', '-'], row('one', 1, 'A'))).toMatchObject({ code: 2, stdout: '' });
  });
});
