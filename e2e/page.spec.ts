import { expect, test } from '@playwright/test';

test('the page opens and says what it is', async ({ page }) => {
  await page.goto('./');
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('HGPO Playground');
});
