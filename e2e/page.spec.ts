import { expect, test } from '@playwright/test';

test('the page opens with recorded rollouts, grouped, and shows an advantage', async ({ page }) => {
  await page.goto('./');
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('HGPO Playground');
  await expect(page.getByRole('grid')).toBeVisible();
  await expect(page.getByRole('gridcell', { selected: true })).toHaveCount(1);
  await expect(page.getByText(/steps stand here/)).toBeVisible();
  await expect(page.getByRole('row', { name: /HGPO, summed/ })).toBeVisible();
});
