import { describe, expect, it } from 'vitest';
import { isSelected, measure, quantile } from './harness.ts';
import type { Workload } from './workload.ts';

// A clock that only the workload moves: what is measured is then exact.
const fakeTime = () => {
  let now = 0;
  return { clock: () => now, spend: (ms: number) => void (now += ms) };
};

describe('bench', () => {
  it('reports the median of the repeats and not the warm-up', async () => {
    const { clock, spend } = fakeTime();
    const times = [900, 700, 1, 5, 3, 2, 4];
    const result = await measure(
      {
        id: 'a.b',
        unit: 'ms',
        better: 'lower',
        warmUps: 2,
        repeats: 5,
        prepare: () => ({ run: () => spend(times.shift()!) }),
      },
      clock,
    );
    expect(result).toMatchObject({ value: 3, spread: [2, 4], repeats: 5, peer: null, peerValue: null, ratio: null });
  });

  it.each([
    ['lower', 10, 5],
    ['higher', 10, 0.2],
  ] as const)('gives a ratio above 1 to what beats its peer when %s is better', async (better, peerValue, ratio) => {
    const { clock, spend } = fakeTime();
    const workload: Workload = {
      id: 'a.b',
      unit: 'x',
      better,
      peer: { name: 'peer', value: peerValue },
      prepare: () => ({ run: () => (spend(100), 2) }),
    };
    expect((await measure(workload, clock)).ratio).toBe(ratio);
  });

  it('runs a live peer alternately with ours and frees both', async () => {
    const { clock, spend } = fakeTime();
    const order: string[] = [];
    const side = (name: string, ms: number) => () => ({
      run: () => {
        order.push(name);
        spend(ms);
        return undefined;
      },
      dispose: () => void order.push(`${name} freed`),
    });
    const result = await measure(
      {
        id: 'a.b',
        unit: 'ms',
        better: 'lower',
        warmUps: 1,
        repeats: 2,
        prepare: side('ours', 1),
        peer: { name: 'peer', prepare: side('theirs', 3) },
      },
      clock,
    );
    expect(order.slice(2)).toEqual(['ours', 'theirs', 'ours', 'theirs', 'ours freed', 'theirs freed']);
    expect(result).toMatchObject({ peerValue: 3, ratio: 3 });
  });

  it('gives a slow workload few repeats and a quick one many', async () => {
    const { clock, spend } = fakeTime();
    const of = (ms: number): Workload => ({
      id: 'a.b',
      unit: 'ms',
      better: 'lower',
      prepare: () => ({ run: () => spend(ms) }),
    });
    expect((await measure(of(2000), clock)).repeats).toBe(5);
    expect((await measure(of(50), clock)).repeats).toBe(20);
    expect((await measure(of(1), clock)).repeats).toBe(101);
  });

  it('selects by id or by a prefix that ends at a dot', () => {
    expect(isSelected('engine.decode', ['engine.decode'])).toBe(true);
    expect(isSelected('engine.decode.b128', ['engine.decode'])).toBe(true);
    expect(isSelected('engine.decode.b128', ['engine.'])).toBe(true);
    expect(isSelected('engine.decoder', ['engine.decode'])).toBe(false);
    expect(isSelected('engine', ['engine.decode'])).toBe(false);
    expect(isSelected('anything', [])).toBe(true);
  });

  it('interpolates quantiles between order statistics', () => {
    expect(quantile([4, 1, 3, 2], 0.5)).toBe(2.5);
    expect(quantile([7], 0.25)).toBe(7);
  });
});
