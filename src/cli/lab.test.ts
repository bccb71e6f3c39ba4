import { describe, expect, it } from 'vitest';
import { hgpo } from '../testing/command-line.ts';

const small = ['lab', '--room', 'S7', '--history', '0', '1', '--alpha', '0', '1', '--repeats', '12', '--probes', '4'];

describe('hgpo lab', () => {
  it('prints a line for each setting, level and truth, the same for the same seed', async () => {
    const { code, stdout, lines } = await hgpo([...small, '--methods', 'hgpo', 'grpo', '--json', '--seed', '3']);
    expect(code).toBe(0);
    const fields =
      'method memory K level alpha mode support truth target rmsBias rmsBiasCI signedBias variance varianceCI mse ' +
      'correlation signAgreement noSignal gradientCosine coverage probes repeats seed';
    for (const field of fields.split(' ')) expect(lines[0]).toHaveProperty(field);
    const of = (wanted: Record<string, unknown>) =>
      lines.filter((line) => Object.entries(wanted).every(([name, value]) => line[name] === value));
    expect(of({ method: 'hgpo', level: 1, mode: 'mean_norm', target: 'input', scale: 1 })).toHaveLength(1);
    // With and without zeros, side by side.
    expect(of({ method: 'hgpo', K: 1, alpha: 1, mode: 'mean_norm', target: 'state', scale: 1 })).toHaveLength(2);
    expect(of({ method: 'grpo', target: 'undiscounted', mode: 'mean_norm', scale: 1 })).toHaveLength(1);
    expect(lines.at(-1)).toMatchObject({ summary: true, tasks: 1, repeats: 12 });
    const again = await hgpo([...small, '--methods', 'hgpo', 'grpo', '--json', '--seed', '3']);
    expect(again.stdout).toBe(stdout);
  });

  it.each([
    ['--size 1', 'take N = 2 or more'],
    ['--methods ppo', 'PPO needs a critic'],
    ['--methods best', 'There is no method "best"'],
    ['--support some', 'There is no support "some"'],
    ['--repeats 1', 'take 8 or more'],
    ['--probes 1', 'take 2 or more'],
    ['--policy expert', 'cannot tell its probabilities'],
    ['--room S6 --memory 3', 'take memory 2'],
    ['--options {"gamma":2}', 'The option "gamma" takes'],
  ])('refuses %s in a sentence that says what works', async (flags, sentence) => {
    const { code, stdout, stderr } = await hgpo([...small, ...flags.split(' ')]);
    expect(code).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toContain(sentence);
  });
});
