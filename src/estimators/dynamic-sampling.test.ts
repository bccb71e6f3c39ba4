import { describe, expect, test } from 'vitest';
import { DynamicSampler, DynamicSamplingError, type SampledGroup, type SamplingRule } from './dynamic-sampling.ts';

const mixed = (name: string): SampledGroup<string> => ({ group: name, episodeRewards: [0, 10] });
const dull = (name: string): SampledGroup<string> => ({ group: name, episodeRewards: [10, 10] });
const sampler = (rule: SamplingRule, maxGenerationBatches = 3) =>
  new DynamicSampler<string>(rule, { groups: 2, groupSize: 2, maxGenerationBatches });

describe('dynamic sampling', () => {
  test('goes on until the batch is full', () => {
    const sampling = sampler('tolerant');
    sampling.offer([mixed('a'), dull('b')]);
    expect(sampling.wantsMore).toBe(true);
    sampling.offer([mixed('c'), mixed('d')]);
    expect(sampling.wantsMore).toBe(false);
    expect(sampling.finish()).toMatchObject({ groups: ['a', 'c'], tries: 2, dropped: 1, notices: [] });
  });

  test('as verl-agent keeps a surplus and takes the last try whole', () => {
    const full = sampler('agent');
    full.offer([mixed('a'), dull('b')]);
    full.offer([mixed('c'), mixed('d')]);
    expect(full.finish().groups).toEqual(['a', 'c', 'd']);

    const short = sampler('agent');
    for (const name of ['a', 'b', 'c']) short.offer([dull(name)]);
    expect(short.wantsMore).toBe(false);
    expect(short.finish().groups).toEqual(['c']);
  });

  test('as in the DAPO recipe stops with an error when tries run out', () => {
    const sampling = sampler('dapo', 1);
    sampling.offer([mixed('a'), dull('b')]);
    expect(() => sampling.finish()).toThrow(DynamicSamplingError);
  });

  test('of ours trains on what there is when tries run out, says so, and never loops for ever', () => {
    const sampling = sampler('tolerant', 0);
    let tries = 0;
    while (sampling.wantsMore) {
      sampling.offer([dull('a')]);
      tries++;
    }
    expect(tries).toBe(100);
    const { groups, notices } = sampling.finish();
    expect(groups).toEqual([]);
    expect(notices[0]).toContain('0 of 2');
  });

  test('does not take a rollout that it did not ask for', () => {
    const sampling = sampler('tolerant');
    sampling.offer([mixed('a'), mixed('b')]);
    expect(() => sampling.offer([mixed('c')])).toThrow(RangeError);
  });
});
