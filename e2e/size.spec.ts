import { gzipSync } from 'node:zlib';
import { expect, test } from './quiet.ts';

test('everything before anybody opts in to more is at most 250 kB compressed', async ({ page }) => {
  const bodies: Promise<Buffer>[] = [];
  page.on('response', (response) => {
    if (response.url().startsWith('http')) bodies.push(response.body());
  });
  await page.goto('./');
  await expect(page.getByRole('gridcell', { selected: true })).toHaveCount(1);
  await expect(page.getByText('computing…')).toHaveCount(0);
  const sizes = (await Promise.all(bodies)).map((body) => {
    const isPacked = body.subarray(0, 4).toString() === 'wOF2';
    return isPacked ? body.length : gzipSync(body).length;
  });
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(250_000);
});
