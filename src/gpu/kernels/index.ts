/** All kernels, for the self-test and the unit tests: a kernel that is not listed here is not tested, so it does not land. */
import type { KernelTest } from '../selftest.ts';
import { adamwTest } from './adamw.ts';
import { attentionTest } from './attention.ts';
import { embeddingTest } from './embedding.ts';
import { gatherRowsTest } from './gather-rows.ts';
import { linearTest } from './linear.ts';
import { logSoftmaxTest } from './log-softmax.ts';
import { rmsNormTest } from './rms-norm.ts';
import { cachedAttentionTest, rotaryTest } from './rotary.ts';
import { sampleTest } from './sample.ts';
import { sumRowsTest } from './sum-rows.ts';
import { swigluTest } from './swiglu.ts';
import { threefryTest } from './threefry.ts';

export const kernelTests: readonly KernelTest[] = [
  sumRowsTest,
  gatherRowsTest,
  embeddingTest,
  rmsNormTest,
  linearTest,
  rotaryTest,
  attentionTest,
  cachedAttentionTest,
  swigluTest,
  logSoftmaxTest,
  adamwTest,
  threefryTest,
  sampleTest,
];
