import { describe, expect, test } from 'vitest';
import { randomStream } from '../../random/stream.ts';
import { gradientError } from '../selftest.ts';
import { kernelTests } from './index.ts';

const cases = kernelTests.flatMap(({ kernel, cases }) =>
  cases.flatMap((one) => (one.gradient ? [[kernel, one.label, one.gradient] as const] : [])),
);

describe('the backward twin is the derivative of the forward twin', () => {
  test.each(cases)('%s: %s', (kernel, label, gradient) => {
    expect(gradientError(gradient(randomStream(2, kernel, label)))).toBeLessThan(1e-6);
  });
});
