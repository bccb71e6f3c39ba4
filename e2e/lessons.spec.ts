import { expectAccessible } from './accessible.ts';
import { expect, test } from './quiet.ts';

test('a lesson sets the scene, speaks of the chosen step, hides what it does not need, and gives everything back', async ({
  page,
}) => {
  await page.goto('./');
  await expect(page.getByRole('gridcell', { selected: true })).toHaveCount(1);
  await page.getByText('Learn', { exact: true }).click();
  await page.getByRole('button', { name: 'Same state, different past: HGPO' }).click();
  const lesson = page.getByRole('region', { name: 'Lesson: Same state, different past: HGPO' });
  await expect(lesson).toContainText(/\d+ steps stand where trajectory \d+, step \d+ stands/);
  await expect(page.getByRole('slider', { name: 'γ', exact: true })).toBeHidden();
  await expect(page.getByRole('slider', { name: 'K', exact: true })).toBeDisabled();
  await lesson.getByRole('button', { name: 'Next', exact: true }).click();
  await expect(lesson).toContainText('K = 1');
  await expect(page).toHaveURL(/lesson=hgpo&stage=1/);
  await expectAccessible(page, '.lesson');
  await lesson.getByRole('button', { name: 'Leave the lesson' }).click();
  await expect(page.getByRole('slider', { name: 'γ', exact: true })).toBeVisible();
});

test('a term opens its explanation, which the link brings back', async ({ page }) => {
  await page.goto('./');
  await page.getByRole('button', { name: 'advantage', exact: true }).first().click();
  await expect(page.getByRole('dialog', { name: 'Glossary' })).toContainText('How much better than its comparison');
  await expect(page).toHaveURL(/[#&?]word=advantage/);
  await page.reload();
  await expect(page.getByRole('dialog', { name: 'Glossary' })).toContainText('How much better than its comparison');
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog', { name: 'Glossary' })).toBeHidden();
  await expect(page).not.toHaveURL(/word=/);
});
