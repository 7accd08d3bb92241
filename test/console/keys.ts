/** What a person without a mouse does in the console: Tab, Enter, letters. */
import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';

/** More than any screen has to walk through. */
const tabs_max = 120;

/** Continues by Tab until this has the focus; fails when Tab does not come to it. */
export const tabTo = async (page: Page, target: Locator): Promise<void> => {
  await target.waitFor();
  for (let tabs = 0; tabs <= tabs_max; tabs += 1) {
    if (await target.evaluate((element) => element.matches(':focus'))) return;
    await page.keyboard.press('Tab');
  }
  assert.fail(`${tabs_max} times Tab did not come to ${String(target)}`);
};

/** Goes there by Tab, and presses Enter. */
export const enter = async (page: Page, target: Locator): Promise<void> => {
  await tabTo(page, target);
  await page.keyboard.press('Enter');
};

/** Goes to a field by Tab, and types over what it has. */
export const typeInto = async (page: Page, target: Locator, text: string): Promise<void> => {
  await tabTo(page, target);
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type(text);
};

/** Goes by Ctrl-K to what a text names, once this option is the first. */
export const goTo = async (page: Page, text: string, first: RegExp): Promise<void> => {
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: /Order, amount/ }).waitFor();
  await page.keyboard.type(text);
  await page.locator('#found-0', { hasText: first }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('combobox', { name: /Order, amount/ }).waitFor({ state: 'detached' });
};

/** Closes the dialog that is on top. */
export const escapeFrom = async (page: Page, dialog: Locator): Promise<void> => {
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
};
