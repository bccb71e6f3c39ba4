import type { Page } from '@playwright/test';
import { expectAccessible } from './accessible.ts';
import { expect, test } from './quiet.ts';
import { savedFile } from './saved-file.ts';

const section = (page: Page) => page.getByRole('region', { name: /Update/ });
const button = (page: Page, name: string | RegExp) => section(page).getByRole('button', { name, exact: true });
const state = (page: Page) => section(page).getByRole('status');
const success = (page: Page) => section(page).getByRole('figure', { name: 'Episode success' });

async function openTrainer(page: Page, fragment = '#v=1'): Promise<void> {
  await page.goto(`./${fragment}`);
  await page.locator('#update').scrollIntoViewIfNeeded();
  await expect(button(page, 'Train')).toBeEnabled();
}

/** A batch so small that an iteration takes a tenth of a second, and more of them than anybody waits for. */
const small = '#v=1&t-groups=4&t-N=4&t-iterations=5000';

test('a table trains to visibly higher success within seconds; the page says beforehand how long it takes', async ({
  page,
}) => {
  test.setTimeout(90_000);
  await openTrainer(page, '#v=1&t-until=50');
  await button(page, 'Train').click();
  await expect(section(page).getByText(/Measured here: at most about/)).toBeVisible({ timeout: 20_000 });
  await expect(state(page)).toContainText('The success that was asked for is reached', { timeout: 60_000 });
  await success(page)
    .getByRole('button', { name: /^Table/ })
    .click();
  const shares = (await success(page).getByRole('row').locator('td').allTextContents()).map(Number);
  expect(shares[0]).toBeLessThan(0.25);
  expect(shares.at(-1)).toBeGreaterThanOrEqual(0.5);
  await expectAccessible(page, '#update', '.run-controls');
});

test('phases run one at a time, each says what it gave, and the rest of an iteration follows', async ({ page }) => {
  await openTrainer(page, small);
  for (const [name, gave] of [
    ['Roll out', /^Roll out: 16 trajectories of 4 tasks/],
    ['Group', /^Group: \d+ groups at k = 0, \d+ groups at k = 1/],
    ['Compare', /^Compare: Mean size of an advantage/],
  ] as const) {
    await button(page, `${name}: run this phase alone`).click();
    await expect(section(page).getByText(gave)).toBeVisible({ timeout: 20_000 });
  }
  await expect(button(page, 'Roll out: run this phase alone')).toBeDisabled();
  await button(page, 'Look at these rollouts above').click();
  const source = page.getByRole('region', { name: 'Rollouts on screen' });
  await expect(source).toContainText('Rolled out by training run 1 in iteration 0.');
  await expect(page.getByRole('gridcell', { selected: true })).toHaveCount(1);
  await button(page, 'Update: run this phase alone').click();
  await expect(state(page)).toContainText('iteration 1 of 5,000: roll out comes next');
  await button(page, 'One iteration').click();
  await expect(state(page)).toContainText('iteration 2 of 5,000: roll out comes next');
});

test('a run pauses, goes on, stops at once, and a reload offers to continue it', async ({ page }) => {
  await openTrainer(page, small);
  await button(page, 'Train').click();
  await expect(state(page)).toContainText(/iteration [1-9][\d,]* of 5,000: training/, { timeout: 20_000 });
  await button(page, 'Pause').click();
  await expect(state(page)).toContainText('paused');
  await button(page, 'Go on').click();
  await expect(state(page)).toContainText('training');
  // What answers is the page: the button is spent in the next frame, whatever the worker is busy with.
  const isSpent = await button(page, 'Stop').evaluate(async (stop: HTMLButtonElement) => {
    stop.click();
    await new Promise(requestAnimationFrame);
    await new Promise(requestAnimationFrame);
    return stop.disabled;
  });
  expect(isSpent).toBe(true);
  await expect(state(page)).toContainText('comes next');
  await page.reload();
  await page.locator('#update').scrollIntoViewIfNeeded();
  await expect(section(page).getByText(/^Run 1 was kept from your last visit, at iteration/)).toBeVisible();
  await button(page, 'Go on with it').click();
  await expect(state(page)).toContainText(/Run 1, iteration [\d,]+ of 5,000: roll out comes next/);
  await button(page, 'One iteration').click();
  await expect(success(page).getByText(/^Run 1: [\d.]+ after iteration [\d,]+\.$/)).toBeVisible();
});

test('an alarm stops a run that loses what it could, and a roll-back answers it', async ({ page }) => {
  test.setTimeout(90_000);
  await openTrainer(page);
  await button(page, 'An entropy bonus that drowns the reward').click();
  await expect(page).toHaveURL(/t-entropy=1/);
  await button(page, 'Train').click();
  const alarm = section(page).getByRole('alert', { name: 'Training stopped by an alarm' });
  await expect(alarm).toContainText(/success fell from \d+ % to \d+ %/, { timeout: 60_000 });
  await expect(alarm).toContainText('Last values of “Episode success”');
  await alarm.getByLabel('Learning rate from there on').fill('0.05');
  await alarm.getByRole('button', { name: /^Back to the best checkpoint/ }).click();
  await expect(alarm).toHaveCount(0);
  await expect(state(page)).toContainText('iteration 0 of 50: roll out comes next');
});

test('a link brings the settings of a run back, and refuses what cannot be with a reason', async ({ page }) => {
  await openTrainer(page, '#v=1&t-method=gigpo&t-ablation=0&t-N=4&t-rate=0.1&t-hidden=keep+going');
  await expect(section(page).getByLabel('Method')).toHaveValue('gigpo');
  await expect(section(page).getByLabel('Ablation')).toHaveValue('0');
  await expect(section(page).getByLabel('In a hidden tab')).toHaveValue('keep going');
  await expect(section(page).getByText(/^GiGPO from .* batches of 16 × 4 .* learning rate 0\.1\./)).toBeVisible();
  await section(page).getByText('Hyper-parameters').click();
  await section(page).getByLabel('N, trajectories of each').fill('1');
  await expect(section(page).getByRole('alert')).toContainText('leaves nothing to compare with');
  await expect(button(page, 'Train')).toBeDisabled();
  await expect(page).toHaveURL(/t-N=1/);
});

test('a hidden tab lets the run wait, and a visible one lets it go on', async ({ page }) => {
  const hide = (hidden: boolean) =>
    page.evaluate((is) => {
      Object.defineProperty(document, 'hidden', { value: is, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    }, hidden);
  await openTrainer(page, small);
  await button(page, 'Train').click();
  await expect(state(page)).toContainText('training', { timeout: 20_000 });
  await hide(true);
  await expect(state(page)).toContainText('Paused because the tab was hidden.');
  await hide(false);
  await expect(state(page)).toContainText('training');
  await button(page, 'Stop').click();
});

test('the policy plays the same episode as before training and as it is now', async ({ page }) => {
  await openTrainer(page, small);
  await button(page, 'One iteration').click();
  await expect(state(page)).toContainText('iteration 1 of 5,000: roll out comes next', { timeout: 20_000 });
  await button(page, 'Play').click();
  await expect(
    section(page).getByRole('list', { name: 'Before training' }).getByRole('listitem').first(),
  ).toBeVisible();
  await expect(section(page).getByRole('list', { name: 'Now (1)' }).getByRole('listitem').first()).toBeVisible();
});

test('files leave the page whole: metrics, checkpoint, policy, a script for a cluster', async ({ page }) => {
  await openTrainer(page, small);
  await button(page, 'One iteration').click();
  await expect(state(page)).toContainText('iteration 1 of 5,000: roll out comes next', { timeout: 20_000 });
  const saved = async (press: () => Promise<void>) => {
    const download = page.waitForEvent('download');
    await press();
    return (await download).suggestedFilename();
  };
  const fromMenu = (name: string) => () =>
    section(page)
      .getByLabel('Save: Files of run 1')
      .click()
      .then(() => section(page).locator('.runs').getByRole('button', { name, exact: true }).click());
  expect(await saved(fromMenu('CSV'))).toBe('run-1-hgpo-seed-1.csv');
  expect(await saved(fromMenu('Checkpoint'))).toBe('run-1-hgpo-seed-1.hgpo');
  expect(await saved(() => button(page, 'Policy').click())).toBe('run-1-hgpo-seed-1-policy.json');
  expect(await saved(() => button(page, 'Script for verl-agent').click())).toBe('verl-agent-hgpo.sh');
});

test('the recorded study opens with means, intervals and every seed, and stands beside one’s own runs', async ({
  page,
}) => {
  await openTrainer(page, small);
  await section(page).getByText('Recorded study').click();
  const outcomes = section(page).getByRole('figure', { name: 'Success by method, rooms XS' });
  await expect(outcomes.getByRole('row', { name: /^GRPO / })).toContainText(/\d\d\.\d \[\d\d\.\d, \d\d\.\d\]/);
  const curves = section(page).getByRole('figure', { name: /^Success during training, / });
  const drawn = curves.locator('path.recharts-line-curve');
  await expect(drawn).toHaveCount(3);
  await outcomes.getByRole('checkbox', { name: 'RLOO' }).check();
  await expect(drawn).toHaveCount(4);
  await section(page).getByRole('checkbox', { name: 'Every seed' }).check();
  await expect(drawn).toHaveCount(4 + 4 * 20);
  await section(page).getByRole('combobox', { name: 'Setting' }).selectOption('small shop');
  await expect(section(page).getByRole('figure', { name: 'Success by method, small shop' })).toBeVisible();
  await section(page).getByRole('combobox', { name: 'Study' }).selectOption('neural');
  await expect(section(page).getByText(/^9 runs of hgpo study, 3 paired seeds: policy rooms-novice/)).toBeVisible();
  await expect(drawn).toHaveCount(3 + 3 * 3);
  await button(page, 'One iteration').click();
  await section(page).getByRole('checkbox', { name: 'My runs beside them' }).check();
  await expect(curves.locator('.curve-key').getByText('run 1')).toBeVisible({ timeout: 20_000 });
  // A picture that leaves the page takes its key with it.
  const drawing = (await savedFile(page, 'Success during training, rooms S', 'SVG')).toString();
  for (const curve of ['GRPO', 'GiGPO', 'HGPO K 2', 'run 1']) expect(drawing).toContain(`>${curve}</text>`);
  await expectAccessible(page, '#update');
});
