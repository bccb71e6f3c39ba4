import { describe, expect, it } from 'vitest';
import { hgpo } from '../testing/command-line.ts';

const play = (input: string, ...args: string[]) => hgpo(['play', '--preset', 'XS', '--seed', '3', ...args], input);

describe('play', () => {
  it('shows the observation and the numbered commands, carries out what is typed, and ends politely with the input', async () => {
    const { code, stdout, stderr } = await play('1\nfly to the moon\n');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^\w.*\(rooms-\d+\/XS\/seen\/3; :help/);
    expect(stdout).toMatch(/\[0\/50\] A \w+.*\n {3}1 {2}go to/);
    expect(stdout).toContain('[1/50] Now at');
    expect(stdout).toContain('fly to the moon has no effect.\n[2/50] No effect.');
    expect(stderr).toBe('Left after 2 steps: the goal is not reached.\n');
  });

  it('needs no line feed at the end and stops at :quit', async () => {
    expect((await play('1\n1')).stderr).toContain('Left after 2 steps');
    expect((await play('1\n:quit\n1\n1\n')).stderr).toContain('Left after 1 step:');
    expect((await play('')).code).toBe(0);
  });

  it.each(['rooms', 'shop'])('is won in %s by following the hints', async (env) => {
    let typed = '';
    for (let i = 0; i < 40; i++) {
      const { lines } = await play(`${typed}:hint\n`, '--env', env, '--json');
      const last = lines.at(-1);
      if (last.done) {
        expect(last.won).toBe(true);
        return;
      }
      typed += `${last.message}\n`;
    }
    expect.unreachable('the expert did not finish');
  });

  it('takes steps back, remembers moments and returns to them', async () => {
    const { lines } = await play('1\n:save here\n2\n3\n:restore here\n:undo\n:undo\n:restore\n:restart\n', '--json');
    const [start, first, , , , back, undone, atStart, list, again] = lines;
    expect([back.step, back.observation, back.admissible]).toEqual([1, first.observation, first.admissible]);
    expect([undone.step, undone.observation]).toEqual([0, start.observation]);
    expect(atStart.message).toBe('This is the start.');
    expect(list.message).toBe('Remembered are here.');
    expect(again).toEqual(start.message === undefined ? start : { ...start, message: undefined });
  });

  it.each([
    [':state', /in hand: nothing/],
    [':help', /:restore NAME/],
    [':nonsense', /There is no :nonsense; :help lists what can be typed/],
    ['99', /The list has the numbers 1 to \d+\./],
    [':save', /Give the moment a name/],
    [':restore', /Nothing is remembered yet/],
  ])('%s answers without taking a step', async (typed, answer) => {
    const { stdout, stderr } = await play(`${typed}\n`);
    expect(stdout).toMatch(answer);
    expect(stderr).toContain('Left after 0 steps');
  });

  it('says that a finished episode is over', async () => {
    const { stdout } = await play('look\n'.repeat(51));
    expect(stdout).toContain('[50/50] ');
    expect(stdout.trimEnd().endsWith('The episode is over: :undo, :restore, :restart or :quit.\n>')).toBe(true);
  });

  it('shows the query and the target of the shop only on request', async () => {
    const { lines } = await play('1\n:state\n', '--env', 'shop', '--json');
    expect(lines[1].observation).not.toMatch(/wanted/);
    expect(lines[2].message).toMatch(/^wanted product: B\d{4}\nquery: \w.*\nselected: nothing$/);
  });

  it.each([
    [['--seed', '2147483648'], 'Seed 2147483648 is out of range: a whole number from 0 to 2147483647 is accepted.'],
    [['--preset', 'paper'], '--preset takes a size here: XS, S, M, L, XL, not paper.'],
    [['--env', 'shop', '--task', 'cars'], /^There is no category "cars": accepted are /],
  ])('answers %j with 2 and one sentence', async (args, sentence) => {
    const { code, stderr } = await hgpo(['play', ...args]);
    expect(code).toBe(2);
    expect(stderr.trimEnd()).toMatch(sentence);
  });
});
