import type { Page } from '@playwright/test';
import { expect } from './quiet.ts';

/** Every view of the page in its order: a name, and the part of the document that holds it in any language. */
export const views = {
  rollouts: 'section[aria-labelledby=roll-out]',
  group: 'section[aria-labelledby=group]',
  advantage: 'section[aria-labelledby=compare]',
  steps: 'section[aria-labelledby=all-steps]',
  lab: 'section[aria-labelledby=how-wrong]',
  training: 'section[aria-labelledby=update]',
  play: 'section[aria-labelledby=play]',
  engine: '.engine-room',
} as const;

/** A link that also starts an episode by hand, in a room with a seed of its own. */
export const withEverything = '#v=1&play=rooms&moves=0.1';

/** Opens the page and each view on it, also what loads only when somebody comes near or opens it. */
export async function openEveryView(page: Page, fragment = withEverything): Promise<void> {
  await page.goto(`./${fragment}`);
  await expect(page.getByRole('gridcell', { selected: true })).toHaveCount(1);
  await page.locator('.group-sizes').scrollIntoViewIfNeeded();
  await expect(page.locator('.group-sizes .recharts-bar').first()).toBeVisible();
  await page.locator(views.lab).scrollIntoViewIfNeeded();
  await expect(page.locator(`${views.lab} figure`)).not.toHaveCount(0);
  await page.locator(views.training).scrollIntoViewIfNeeded();
  await expect(page.locator(`${views.training} .run-controls`)).toBeVisible();
  await page.locator(views.play).scrollIntoViewIfNeeded();
  await expect(page.locator(`${views.play} .play-commands`)).toBeVisible();
  // By its key: what loads above may move it from under a pointer.
  await page.locator(`${views.engine} summary`).press('Enter');
  await expect(page.locator(`${views.engine} h3`).first()).toBeVisible();
  // Whether there is a GPU, and which kernels were chosen on it, is found out in a worker.
  await expect(page.locator(`${views.engine} .engine-columns`)).not.toContainText(/…$/m);
}

/** Nothing on the page is wider than the window. */
export async function expectNoSidewaysScroll(page: Page): Promise<void> {
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
}
