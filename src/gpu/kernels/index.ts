/** All kernels, for the self-test and the unit tests: a kernel that is not listed here is not tested, so it does not land. */
import type { KernelTest } from '../selftest.ts';
import { attentionTest } from './attention.ts';
import { rmsNormTest } from './rms-norm.ts';
import { cachedAttentionTest, rotaryTest } from './rotary.ts';
import { sampleTest } from './sample.ts';
import { sumRowsTest } from './sum-rows.ts';
import { threefryTest } from './threefry.ts';

export const kernelTests: readonly KernelTest[] = [
  sumRowsTest,
  rmsNormTest,
  rotaryTest,
  attentionTest,
  cachedAttentionTest,
  threefryTest,
  sampleTest,
];
