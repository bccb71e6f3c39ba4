import type { Page } from '@playwright/test';
import { recorded, typed } from '../src/rollouts/recorded.ts';
import { expect, test } from './quiet.ts';
import { savedFile } from './saved-file.ts';

const sum = (page: Page, method: string) => page.getByRole('row', { name: new RegExp(`^${method}.*, summed`) });
const slider = (page: Page, name: string) => page.getByRole('slider', { name, exact: true });
const chosen = (page: Page) => page.getByRole('gridcell', { selected: true });

test('the page opens with recorded rollouts, grouped, on a step that GiGPO and HGPO judge oppositely', async ({
  page,
}) => {
  await page.goto('./');
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('HGPO Playground');
  await expect(chosen(page)).toHaveCount(1);
  await expect(page.getByText(/steps stand here/)).toBeVisible();
  await expect(sum(page, 'HGPO')).toBeVisible();
  await expect(page.getByRole('row', { name: /^HGPO.*right sign/ })).toBeVisible();
  await expect(page.getByRole('row', { name: /^GiGPO.*wrong sign/ })).toBeVisible();
  await expect(page.getByRole('row', { name: /^Oracle.*right sign/ })).toBeVisible();
  await expect(page.getByRole('row', { name: /^True advantage.*±/ })).toBeVisible();
  await page.getByText('How they were made').click();
  await expect(page.getByText('Played by the shipped policy rooms-base (4-bit weights), seed 3:')).toBeVisible();
  await expect(page.getByText(typed(recorded.rollouts))).toBeVisible();
  await expect(page.getByText(/^The truth of 112 steps of task 1, .*standard errors/)).toBeVisible();
});

test('moving a control moves the numbers at once, and says by how much', async ({ page }) => {
  await page.goto('./');
  const before = await sum(page, 'HGPO').textContent();
  await slider(page, 'α').fill('4');
  await expect(sum(page, 'HGPO')).not.toHaveText(before!);
  await expect(page.getByText(/sign(s)? flipped|no sign flipped/)).toBeVisible();
  await slider(page, 'K').fill('0');
  await expect(page.getByText(/steps stand here\.$/)).toBeVisible();
  await page.getByRole('radio', { name: 'GRPO' }).check();
  await expect(sum(page, 'GRPO')).toBeVisible();
});

test('arrow keys move in the grid, the transcript follows, Escape clears, ? lists the keys', async ({ page }) => {
  await page.goto('./');
  await expect(chosen(page)).toHaveCount(1);
  await page.keyboard.press('g');
  await page.keyboard.press('Home');
  await expect(chosen(page)).toHaveAccessibleName(/step 0:/);
  await page.keyboard.press('ArrowRight');
  await expect(chosen(page)).toHaveAccessibleName(/step 1:/);
  await expect(page.locator('[aria-current=step]')).toContainText('1');
  await page.keyboard.press('Escape');
  await expect(chosen(page)).toHaveCount(0);
  await expect(page.getByText('Choose a step: its advantage appears here.')).toBeVisible();
  await page.keyboard.press('?');
  await expect(page.getByRole('dialog', { name: 'Keys' })).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog', { name: 'Keys' })).toBeHidden();
});

test('beside the transcript stands the room as it was known on the chosen step, and what is hidden only when asked for', async ({
  page,
}) => {
  await page.goto('./');
  const plan = page
    .locator('#roll-out')
    .locator('xpath=ancestor::section')
    .getByRole('img', { name: /^Floor plan/ });
  await expect(plan).toHaveAccessibleName(/: not seen\./);
  await page.keyboard.press('g');
  await page.keyboard.press('Home');
  await expect(page.getByText(/^In the middle of the room, hand empty\.$/)).toBeVisible();
  await page.keyboard.press('End');
  await expect(page.getByRole('paragraph').filter({ hasText: /^At .+, (hand empty|holding .+)\.$/ })).toBeVisible();
  await page.getByLabel('Show the hidden state', { exact: true }).check();
  await expect(plan).not.toHaveAccessibleName(/: not seen\./);
  await expect(plan.getByText('?', { exact: true })).toHaveCount(0);
});

test('every number opens to its members and arithmetic', async ({ page }) => {
  await page.goto('./');
  await page
    .getByRole('button', { name: /^HGPO .*arithmetic/ })
    .first()
    .click();
  const panel = page.getByRole('complementary', { name: /The arithmetic: HGPO/ });
  await expect(panel).toBeFocused();
  await expect(panel.locator('.katex').first()).toBeVisible();
  await expect(panel.getByRole('button', { name: /^trajectory \d+, step \d+$/ }).first()).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(panel).toBeHidden();
});

test('a sign flip in the list is chosen everywhere', async ({ page }) => {
  await page.goto('./');
  const flip = page.locator('.sign-flip').nth(2);
  await flip.click();
  await expect(flip).toHaveAttribute('aria-current', 'true');
  const where = /trajectory (\d+), step (\d+)/.exec((await flip.textContent())!)!;
  await expect(chosen(page)).toHaveAccessibleName(new RegExp(`^Trajectory ${where[1]}, step ${where[2]}:`));
});

test('the link holds what is on screen, and Back and Forward walk through it', async ({ page }) => {
  await page.goto('./');
  await expect(chosen(page)).toHaveCount(1);
  await expect(page).toHaveURL(/trajectory=/);
  await page.getByRole('radio', { name: 'GiGPO' }).check();
  await expect(page).toHaveURL(/method=gigpo/);
  await slider(page, 'K').fill('4');
  await expect(page).toHaveURL(/K=4/);
  const link = page.url();
  await page.goBack();
  await expect(page.getByText('HGPO Playground')).toBeVisible();
  await expect(slider(page, 'K')).toHaveValue('2');
  await expect(page.getByRole('radio', { name: 'GiGPO' })).toBeChecked();
  await page.goBack();
  await expect(page.getByRole('radio', { name: 'HGPO' })).toBeChecked();
  await page.goForward();
  await page.goForward();
  await expect(slider(page, 'K')).toHaveValue('4');
  await page.goto('about:blank');
  await page.goto(link);
  await expect(slider(page, 'K')).toHaveValue('4');
  await expect(page.getByRole('radio', { name: 'GiGPO' })).toBeChecked();
});

test('a link brings back what was unfolded, opened and turned over, and Back folds it again', async ({ page }) => {
  await page.goto('./');
  await expect(chosen(page)).toHaveCount(1);
  await page.getByLabel('Show the hidden state', { exact: true }).check();
  await expect(page).toHaveURL(/unfold=hidden-state/);
  await page.getByRole('button', { name: 'Table: Utilisation' }).click();
  await expect(page).toHaveURL(/numbers=utilisation/);
  await page
    .getByRole('button', { name: /^GiGPO .*arithmetic/ })
    .first()
    .click();
  await expect(page).toHaveURL(/open=gigpo/);
  const link = page.url();
  const arithmetic = page.getByRole('complementary', { name: /The arithmetic: GiGPO/ });
  await page.goBack();
  await expect(arithmetic).toBeHidden();
  await page.goto('about:blank');
  await page.goto(link);
  await expect(arithmetic).toBeVisible();
  await expect(page.getByLabel('Show the hidden state', { exact: true })).toBeChecked();
  await expect(page.getByRole('region', { name: 'Utilisation' })).toBeVisible();
});

test('a hostile link is mended and says what was changed', async ({ page }) => {
  await page.goto(
    './#v=9&alpha=1e308&K=-7&method=%3Cimg%20src%3Dx%3E&__proto__=1&constructor=x&gamma=NaN&step=999999&task=0&trajectory=0',
  );
  await expect(page.getByText(/newer version/)).toBeVisible();
  await expect(
    page.getByText(/This link held values that cannot be used: .*α is now 8.*K is now 0.*γ is now 0.95/),
  ).toBeVisible();
  await expect(page.locator('img')).toHaveCount(0);
  await expect(chosen(page)).toHaveCount(1);
});

test('settings survive a reload, and corrupt storage starts clean with a notice', async ({ page }) => {
  await page.goto('./');
  await slider(page, 'α').fill('2');
  await page.getByRole('button', { name: /Theme/ }).click();
  await page.goto('about:blank');
  await page.goto('./');
  await expect(slider(page, 'α')).toHaveValue('2');
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'light');
  await page.evaluate(() => {
    localStorage.setItem('hgpo-playground/settings', '{"state":{"alpha":');
    localStorage.setItem('hgpo-playground/appearance', '{"state":{},"version":99}');
  });
  await page.goto('about:blank');
  await page.goto('./');
  await expect(page.getByText(/starts fresh/).first()).toBeVisible();
  await expect(slider(page, 'α')).toHaveValue('1');
});

const own = [
  { uid: 'mine', traj_uid: 'a', step: 0, anchor_obs: '<b>hall</b>', action: 'go', reward: 0, valid: true },
  { uid: 'mine', traj_uid: 'a', step: 1, anchor_obs: { room: 'kitchen' }, action: 'take', reward: 10, valid: true },
  { uid: 'mine', traj_uid: 'b', step: 0, anchor_obs: '<b>hall</b>', action: 'wait', reward: 0, valid: false },
  { uid: 'mine', traj_uid: 'c', step: 1, anchor_obs: 'nowhere', action: 'wait', reward: 0, valid: true },
];

test('a file of one’s own is read here, reported on, and sent nowhere', async ({ page, requests }) => {
  await page.goto('./');
  await expect(page.getByText('computing…')).toHaveCount(0);
  const before = requests.length;
  await page.getByLabel('Open rollouts').setInputFiles({
    name: 'mine.jsonl',
    mimeType: 'application/json',
    buffer: Buffer.from(own.map((row) => JSON.stringify(row)).join('\n') + '\n{"broken'),
  });
  await expect(page.getByText('mine.jsonl')).toBeVisible();
  await page.getByText('Import report').click();
  await expect(page.getByText(/Accepted 3 rows of 2 trajectories/)).toBeVisible();
  await expect(page.getByText(/Trajectory "c" refused/)).toBeVisible();
  await expect(page.getByText('<b>hall</b>').first()).toBeVisible();
  // Parts of the page itself may still be on their way: they are the same files whatever is opened.
  const isPartOfPage = (url: string) => /\/hgpo-playground\/assets\/[\w.-]+$/.test(url);
  expect(requests.slice(before).filter((url) => !isPartOfPage(url))).toEqual([]);
  await expect(page.getByText(/is not in these rollouts/)).toHaveCount(0);
  await page.getByRole('button', { name: 'Back to the recorded rollouts' }).click();
  await expect(page.getByText('mine.jsonl')).toBeHidden();
  await expect(page.getByText(/is not in these rollouts/)).toHaveCount(0);
});

test('a file that holds no rollouts leaves everything as it was', async ({ page }) => {
  await page.goto('./');
  await expect(chosen(page)).toHaveCount(1);
  await page
    .getByLabel('Open rollouts')
    .setInputFiles({ name: 'not.jsonl', mimeType: 'text/plain', buffer: Buffer.from('hello\n') });
  await expect(page.getByText(/The file could not be used/)).toBeVisible();
  await expect(chosen(page)).toHaveCount(1);
  await page.getByLabel('Open rollouts').setInputFiles({
    name: 'mine.jsonl',
    mimeType: 'application/json',
    buffer: Buffer.from(own.map((row) => JSON.stringify(row)).join('\n')),
  });
  await expect(page.getByText('mine.jsonl')).toBeVisible();
  await expect(page.getByText(/The file could not be used/)).toHaveCount(0);
});

test('sections 1 to 3 fit one screen of 1280 × 720', async ({ page }) => {
  await page.setViewportSize({ width: 1280, height: 720 });
  await page.goto('./');
  await expect(chosen(page)).toHaveCount(1);
  const bottom = await page.locator('.story').evaluate((story) => story.getBoundingClientRect().bottom);
  expect(bottom).toBeLessThanOrEqual(720);
});

test('a large file is read and estimated away from the page', async ({ page }) => {
  const lines: string[] = [];
  for (let trajectory = 0; trajectory < 160; trajectory++) {
    for (let step = 0; step < 50; step++) {
      const place = `room ${(trajectory * 7 + step * step) % 23} ${'with a long description '.repeat(15)}`;
      const row = {
        uid: `task ${trajectory >> 3}`,
        traj_uid: `t${trajectory}`,
        step,
        anchor_obs: place,
        action: 'go',
        valid: true,
      };
      lines.push(JSON.stringify({ ...row, reward: step === 49 ? trajectory % 2 : 0 }));
    }
  }
  await page.goto('./');
  await expect(chosen(page)).toHaveCount(1);
  await page
    .getByLabel('Open rollouts')
    .setInputFiles({ name: 'large.jsonl', mimeType: 'text/plain', buffer: Buffer.from(lines.join('\n')) });
  await expect(page.getByText('large.jsonl')).toBeVisible();
  await expect(page.getByText(/of 8,000 steps/)).toBeVisible();
  const before = await sum(page, 'HGPO').textContent();
  await slider(page, 'γ').fill('0.6');
  await expect(sum(page, 'HGPO')).not.toHaveText(before!);
  await page.getByRole('radio', { name: /^ProGPO/ }).check();
  await expect(sum(page, 'ProGPO')).toBeVisible();
});

test('figures are saved as SVG and PNG, tables as CSV, rollouts as JSONL', async ({ page }) => {
  await page.goto('./');
  await expect(page.getByText('computing…')).toHaveCount(0);
  const saved = (menu: string, form: string) => savedFile(page, menu, form);
  expect((await saved('Utilisation', 'SVG')).toString()).toMatch(/^<svg .*xmlns="http:\/\/www\.w3\.org\/2000\/svg"/);
  expect((await saved('Utilisation', 'PNG')).subarray(1, 4).toString()).toBe('PNG');
  expect((await saved('Utilisation', 'CSV')).toString()).toMatch(/^\uFEFFk,measured here,paper\r\n0,0\.88,0\.97\r\n/);
  const rows = (await saved('Rollouts on screen', 'JSONL')).toString().trim().split('\n');
  expect(rows).toHaveLength(1630);
  expect(JSON.parse(rows[0]!)).toMatchObject({ step: 0, valid: true });
  expect((await saved('Rollouts on screen', 'CSV')).toString()).toMatch(
    /^uid,.*,return,advantage_grpo,advantage_rloo,advantage_gigpo,advantage_hgpo,advantage_progpo\r\n/,
  );
  for (const [figure, columns] of [
    ['Rollout grid', 'Trajectory,Step,State,'],
    ['Groups of the chosen step', 'Level,Steps,'],
    ['Advantage of this step', 'Compared with,n,A,'],
    ['Floor plan', 'Place,Door,Contents'],
  ] as const) {
    expect((await saved(figure, 'SVG')).toString()).toMatch(/^<svg .*<text/);
    expect((await saved(figure, 'PNG')).length).toBeGreaterThan(5000);
    expect((await saved(figure, 'CSV')).toString().slice(1).startsWith(columns)).toBe(true);
  }
  const step = (await saved('Advantage of this step', 'SVG')).toString();
  for (const word of ['HGPO', 'Oracle', 'True advantage']) expect(step).toContain(word);
  expect((await saved('Rollouts on screen', 'verl-agent')).toString()).toMatch(/^#!.*\n# HGPO on ALFWorld/);
  await page.getByRole('radio', { name: 'ProGPO' }).check();
  await page.getByLabel('Save: Rollouts on screen', { exact: true }).click();
  await page.getByRole('button', { name: 'verl-agent', exact: true }).click();
  await expect(page.getByText(/^Nothing was saved\. .*ProGPO/)).toBeVisible();
});

test('the first screen says how many steps have company at each level, beside the paper, and leads to all steps', async ({
  page,
}) => {
  await page.setViewportSize({ width: 1280, height: 720 });
  await page.goto('./');
  const line = page.getByText('Utilisation, steps with company:').locator('..');
  await expect(line).toContainText(/measured here0\.88 at k = 0.*at k = 4paper0\.97 at k = 0.*0\.19 at k = 4/);
  await expect(line).toBeInViewport();
  // Levels beyond K are said softly.
  const soft = line.locator('.utilisation-of .soft');
  await expect(soft).toHaveText([/at k = 3$/, /at k = 4$/]);
  await slider(page, 'K').fill('5');
  await expect(soft).toHaveCount(0);
  await expect(line).toContainText('at k = 5');
  await line.getByRole('button', { name: 'All steps' }).click();
  await expect(page.getByRole('figure', { name: 'Utilisation' })).toBeInViewport();
});

test('the library of charts comes when group sizes are on screen, and their file has every level', async ({ page }) => {
  await page.goto('./');
  await expect(page.getByText('computing…')).toHaveCount(0);
  const sizes = page.getByRole('figure', { name: 'Group sizes' });
  const room = sizes.getByRole('img', { name: /^At k = 2/ });
  const { height } = (await room.boundingBox())!;
  await expect(sizes.locator('svg')).toHaveCount(0);
  await room.scrollIntoViewIfNeeded();
  await expect(sizes.locator('svg')).toHaveCount(1);
  expect((await room.boundingBox())!.height).toBe(height);
  const drawing = (await savedFile(page, 'Group sizes', 'SVG')).toString();
  for (let k = 0; k <= 8; k++) expect(drawing).toContain(`>k = ${k}<`);
  // Nine levels of seven bins, each with what it says.
  expect(drawing.match(/: \d\.\d\d<\/title>/g)).toHaveLength(9 * 7);
  expect(drawing).toContain('height: share of all');
  expect((await savedFile(page, 'Group sizes', 'PNG')).length).toBeGreaterThan(5000);
});

test('group sizes are counted per step or per group, in doubling bins or one by one, and the link says which', async ({
  page,
}) => {
  await page.goto('./');
  const sizes = page.getByRole('figure', { name: 'Group sizes' });
  await sizes.getByRole('button', { name: /^Table/ }).click();
  const columns = sizes.getByRole('columnheader');
  await expect(columns.nth(3)).toHaveText('3–4');
  const first = sizes.getByRole('row').nth(1).getByRole('cell').first();
  const steps = await first.textContent();
  await sizes.getByRole('button', { name: 'per group' }).click();
  await sizes.getByRole('button', { name: /^every size/ }).click();
  await expect(columns.nth(3)).toHaveText('3');
  // A lone step is a group.
  await expect(first).toHaveText(steps!);
  await expect(page).toHaveURL(/sizes=groups.*bins=single/);
});

test('the interface speaks Chinese', async ({ page }) => {
  await page.goto('./#v=1&lang=zh');
  await expect(page.locator('html')).toHaveAttribute('lang', 'zh-Hans');
  await expect(page.getByText('同样的状态，不同的过去：功劳归谁？')).toBeVisible();
  await expect(page.getByText(/步处于这里/)).toBeVisible();
  await expect(page.getByRole('slider', { name: 'α', exact: true })).toHaveAttribute('aria-valuetext', /各层权重/);
});
