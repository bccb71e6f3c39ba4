import { expect, test } from 'vitest';
import { labChecks } from './checks.ts';

test.each(labChecks.map((check) => [check.claim, check] as const))('%s', async (_claim, check) => {
  const { pass, found } = await check.run('short');
  expect(pass, found.join('\n')).toBe(true);
});
