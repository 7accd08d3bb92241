/** Live mode at YooKassa, as `yookassa.test.ts`: holds, receipts, charges, payouts. */
import { chargeFacts } from './charges.ts';
import { holdFacts } from './holds.ts';
import { payoutFacts } from './payouts.ts';
import { receiptFacts } from './receipts.ts';
import { testFacts } from './shared-harness.ts';

testFacts([holdFacts, receiptFacts, chargeFacts, payoutFacts]);
