/** Live mode at YooKassa, emulated as a process of its own: payments, refunds, accounts, access. */
import { accessFacts } from './access.ts';
import { accountFacts } from './accounts.ts';
import { modeFacts } from './modes.ts';
import { paymentFacts } from './payments.ts';
import { refundFacts } from './refunds.ts';
import { testFacts } from './shared-harness.ts';

// The modes come first: they find that no alert has been raised.
testFacts([modeFacts, paymentFacts, refundFacts, accountFacts, accessFacts]);
