import { readFile } from 'node:fs/promises';
import { openLongRun, smallRun } from './long-run.ts';
import { expect, test } from './quiet.ts';

test('20,000 iterations are drawn with few points that keep the extreme, and their file has every one', async ({
  page,
}) => {
  test.setTimeout(120_000);
  await page.goto(`./${smallRun}`);
  await openLongRun(page, 20_000);
  const section = page.locator('section[aria-labelledby=update]');
  const lines = section.getByRole('figure', { name: 'Episode success' }).locator('.recharts-line-curve');
  const longLine = async () => {
    const paths = await lines.evaluateAll((all) => all.map((line) => line.getAttribute('d')!));
    return paths.find((path) => path.split('L').length > 300) ?? '';
  };
  await expect.poll(longLine).not.toBe('');
  const long = await longLine();
  expect(long.split('L').length).toBeLessThanOrEqual(400);
  // The one iteration with a success of 1 reaches the top of the chart, which no other comes near.
  const heights = long
    .slice(1)
    .split('L')
    .map((point) => Number(point.split(',')[1]));
  const [top, next] = heights.toSorted((a, b) => a - b);
  expect(next! - top!).toBeGreaterThan(20);
  const saving = page.waitForEvent('download');
  await section.getByLabel('Save: Files of run 2').click();
  await section.locator('.runs').getByRole('button', { name: 'CSV', exact: true }).locator('visible=true').click();
  const csv = await readFile(await (await saving).path(), 'utf8');
  expect(csv.trimEnd().split('\n')).toHaveLength(20_001);
});
