/** A person proposes a payout in the console. */
import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';

/** Finds a bank by a part of its name, and takes the first that fits. */
export const chooseBank = async (dialog: Locator, name: string): Promise<void> => {
  await dialog.getByRole('combobox', { name: 'Bank' }).fill(name);
  // An empty list is an option, too, for programs that read the page.
  await dialog.page().locator('[role="option"][data-key]').first().click();
};

/** Proposes a payout by SBP, from the page of payouts; `amount` as a person writes it. */
export const proposePayout = async (page: Page, amount: string, name: string): Promise<void> => {
  await page.getByRole('button', { name: 'New payout' }).click();
  const dialog = page.getByRole('dialog', { name: 'Propose the payout' });
  const button = dialog.getByRole('button', { name: 'Propose the payout' });
  await dialog.getByLabel('Amount, RUB').fill('0');
  await dialog.getByLabel('Phone').fill('+7 916 123-45-67');
  await chooseBank(dialog, 'сбер');
  assert.equal(await button.isDisabled(), true, 'no amount yet');
  await dialog.getByLabel('Amount, RUB').fill(amount);
  await dialog.getByLabel('Name of the recipient').fill(name);
  await dialog.getByLabel('What it is for').fill('September');
  await dialog.getByLabel('What it is for').press('Enter');
  await dialog.getByText('another person must approve').waitFor();
  assert.equal(await button.isVisible(), true, 'Enter in a field proposes nothing');
  await button.click();
  await dialog.getByText('The draft waits for another person.').waitFor();
  await dialog.getByRole('button', { name: 'Close' }).last().click();
};
