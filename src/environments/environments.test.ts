import { expect, test } from 'vitest';
import { environmentDigest, expectedDigest } from '../testing/environment-digest.ts';
import { environmentNames } from './environment.ts';

test.each(environmentNames)(
  'texts, lists, rewards and keys of %s are what they were when the digest was taken',
  (name) => {
    // When this fails, an episode has changed for some seed: raise the version number of its generator.
    expect(environmentDigest(name)).toBe(expectedDigest[name]);
  },
);
