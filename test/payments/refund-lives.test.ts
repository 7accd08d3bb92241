import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { live } from './life.ts';
import { startMigratedDatabase, type MigratedDatabase } from '../support/migrated.ts';

let migrated: MigratedDatabase;
before(async () => void (migrated = await startMigratedDatabase()));
after(() => migrated.close());

const life = (name: string, table: string): void =>
  void test(name, async () => {
    assert.ok((await live(migrated, await migrated.merchant(), table)) > 1);
  });

life(
  'a partial refund leaves the payment succeeded; never more than what is left; the last one makes it refunded',
  `create   P1 10_000 sbp  -> pending
     refund   P1             -> refused payment_not_succeeded
     session  P1             -> processing
     after    5 s
     bank     P1 asked       -> succeeded fee 0
     refund   P1 4_000       -> succeeded 4_000, P1 succeeded refunded 4_000
     refund   P1 6_001       -> refused amount_exceeds_remainder
     balance                 -> 6_000
     refund   P1 0           -> succeeded 6_000, P1 refunded refunded 10_000
     refund   P1 1           -> refused already_refunded
     balance                 -> 0
     available               -> 0
     ledger                  -> payment 10_000, refund -4_000, refund -6_000
     webhooks                -> payment.succeeded payment.refunded payment.refunded`,
);

life(
  'a failed refund leaves the payment and the balance as they are, and its amount may be asked for again',
  `create   P1 10_000 sbp  -> pending
     session  P1             -> processing
     after    5 s
     bank     P1 asked       -> succeeded fee 0
     refund   P1 4_001       -> failed 4_001 do_not_honor, P1 succeeded refunded 0
     refund   P1 4_004       -> failed 4_004 fraud_suspected, P1 succeeded refunded 0
     balance                 -> 10_000
     available               -> 10_000
     ledger                  -> payment 10_000
     refund   P1             -> succeeded 10_000, P1 refunded refunded 10_000
     refunds  P1             -> failed 4_001 do_not_honor, failed 4_004 fraud_suspected, succeeded 10_000
     webhooks                -> payment.succeeded refund.failed refund.failed payment.refunded`,
);

life(
  'a pending refund counts against the remainder and is reserved from what is available; it is no row of the ledger',
  `create   P1 10_000 sbp  -> pending
     session  P1             -> processing
     after    5 s
     bank     P1 asked       -> succeeded fee 0
     refund   P1 9_905       -> pending 9_905, P1 succeeded refunded 0
     balance                 -> 10_000
     available               -> 95
     ledger                  -> payment 10_000
     refund   P1 96          -> refused amount_exceeds_remainder
     refund   P1             -> succeeded 95, P1 succeeded refunded 95
     refund   P1             -> refused amount_exceeds_remainder
     answer   P1 silent      -> pending 9_905, P1 succeeded refunded 95
     answer   P1 decline     -> failed 9_905 refund_rejected, P1 succeeded refunded 95
     available               -> 9_905
     webhooks                -> payment.succeeded payment.refunded refund.failed`,
);

life(
  'of the pending ones only 07 succeeds later, and by itself',
  `create   P1 10_000 sbp  -> pending
     session  P1             -> processing
     after    5 s
     bank     P1 asked       -> succeeded fee 0
     refund   P1 105         -> pending 105, P1 succeeded refunded 0
     refund   P1 106         -> pending 106, P1 succeeded refunded 0
     refund   P1 107         -> pending 107, P1 succeeded refunded 0
     after    4 s
     refunds  P1             -> pending 105, pending 106, pending 107
     after    2 s
     refunds  P1             -> pending 105, pending 106, succeeded 107
     after    60 min
     refunds  P1             -> pending 105, pending 106, succeeded 107
     balance                 -> 9_893
     available               -> 9_682
     webhooks                -> payment.succeeded payment.refunded`,
);
