import type { Page } from '@playwright/test';
import { readFile } from 'node:fs/promises';

/** The file that a figure's menu saves in a form, SVG for example. */
export async function savedFile(page: Page, figure: string, form: string): Promise<Buffer> {
  await page.getByLabel(`Save: ${figure}`, { exact: true }).click();
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: form, exact: true }).locator('visible=true').click();
  return readFile(await (await download).path());
}
