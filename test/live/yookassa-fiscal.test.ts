/** Live mode at YooKassa, as `yookassa.test.ts`: receipts. */
import { receiptFacts } from './receipts.ts';
import { testFacts } from './shared-harness.ts';

testFacts([receiptFacts]);
