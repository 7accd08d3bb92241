/** Live mode at YooKassa, as `yookassa.test.ts`: holds, charges, payouts. */
import { chargeFacts } from './charges.ts';
import { holdFacts } from './holds.ts';
import { payoutFacts } from './payouts.ts';
import { testFacts } from './shared-harness.ts';

testFacts([holdFacts, chargeFacts, payoutFacts]);
