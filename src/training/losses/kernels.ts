/** The kernels of the losses, for the self-test and the unit tests. */
import type { KernelTest } from '../../gpu/selftest.ts';
import { policyLossTest } from './policy-loss.ts';
import { valueLossTest } from './value-loss.ts';

export const lossKernelTests: readonly KernelTest[] = [policyLossTest, valueLossTest];
