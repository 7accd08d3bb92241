/**
 * Live mode at YooKassa, emulated as a process of its own: one service for all the facts. The last
 * one looks back on the whole exchange.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accessFacts } from './access.ts';
import { accountFacts } from './accounts.ts';
import { chargeFacts } from './charges.ts';
import { holdFacts } from './holds.ts';
import { modeFacts } from './modes.ts';
import { paymentFacts } from './payments.ts';
import { payoutFacts } from './payouts.ts';
import { receiptFacts } from './receipts.ts';
import { refundFacts } from './refunds.ts';
import { harness } from './shared-harness.ts';

// The modes come first: they find that no alert has been raised.
for (const facts of [
  modeFacts,
  paymentFacts,
  refundFacts,
  holdFacts,
  receiptFacts,
  chargeFacts,
  payoutFacts,
  accountFacts,
  accessFacts,
]) {
  for (const [sentence, fact] of Object.entries(facts)) test(sentence, fact);
}

test('everything that was asked and answered was as the description says', async () => {
  const { violations, payments } = await harness().acquirer.books();
  assert.ok(payments.length > 15, `saw only ${payments.length} payments`);
  assert.deepEqual(violations, []);
});
