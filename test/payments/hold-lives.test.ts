import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { live } from './life.ts';
import { startMigratedDatabase, type MigratedDatabase } from '../support/migrated.ts';

let migrated: MigratedDatabase;
before(async () => void (migrated = await startMigratedDatabase()));
after(() => migrated.close());

const life = (name: string, table: string): void =>
  void test(name, async () => {
    assert.ok((await live(migrated, await migrated.merchant('test'), table)) > 1);
  });

life(
  'authorising books nothing; a capture books what it takes, once, and refunds give that back',
  `create   P1 10_000 cards manual -> pending
   session  P1                     -> processing
   hold     P1                     -> capturable 0 captured 0
   after    2 s
   status   P1                     -> authorized
   hold     P1                     -> capturable 10_000 captured 0
   balance                         -> 0
   ledger                          ->
   refund   P1                     -> refused payment_not_succeeded
   capture  P1 10_001              -> refused amount_exceeds_remainder
   capture  P1 4_000               -> succeeded fee 0
   hold     P1                     -> capturable 0 captured 4_000
   capture  P1 6_000               -> refused payment_not_authorized
   cancel   P1                     -> refused not_pending
   ledger                          -> payment 4_000
   refund   P1 4_001               -> refused amount_exceeds_remainder
   refund   P1 1_000               -> succeeded 1_000, P1 succeeded refunded 1_000
   refund   P1                     -> succeeded 3_000, P1 refunded refunded 4_000
   balance                         -> 0
   webhooks                        -> payment.authorized payment.succeeded payment.refunded payment.refunded`,
);

life(
  'a hold that is cancelled is released, and what is not captured in its time expires',
  `create   P1 10_000 tpay manual  -> pending
   create   P2 10_000 cards manual -> pending
   create   P3 10_000 cards manual -> pending
   cancel   P3                     -> cancelled
   session  P1                     -> processing
   session  P2                     -> processing
   cancel   P1                     -> refused not_pending
   after    5 s
   cancel   P1                     -> cancelled
   capture  P1                     -> refused payment_not_authorized
   after    10_079 min
   status   P2                     -> authorized
   after    1 min
   status   P2                     -> expired capture_expired
   hold     P2                     -> capturable 0 captured 0
   capture  P2                     -> refused payment_not_authorized
   cancel   P2                     -> refused not_pending
   ledger                          ->
   webhooks                        -> payment.cancelled payment.authorized payment.authorized payment.cancelled payment.expired`,
);

life(
  'a refused capture leaves the payment authorized, and another one may take it',
  `create   P1 10_000 cards manual -> pending
   session  P1                     -> processing
   after    2 s
   capture  P1 4_002               -> refused capture_declined
   hold     P1                     -> capturable 10_000 captured 0
   capture  P1 4_004               -> refused capture_declined
   capture  P1                     -> succeeded fee 0
   balance                         -> 10_000`,
);

life(
  'while the bank has not answered a capture nothing else happens to the hold, its end included',
  `create   P1 10_007 cards manual -> pending
   create   P2 10_000 cards manual -> pending
   session  P1                     -> processing
   session  P2                     -> processing
   after    10 s
   status   P1                     -> authorized
   capture  P1                     -> authorized
   hold     P1                     -> capturable 0 captured 0 capture
   capture  P1                     -> refused payment_not_authorized
   cancel   P1                     -> refused not_pending
   after    5 s
   status   P1                     -> succeeded fee 0
   capture  P2 5_006               -> authorized
   after    20_000 min
   status   P2                     -> authorized
   hold     P2                     -> capturable 0 captured 0 capture
   cancel   P2                     -> refused not_pending
   balance                         -> 10_007`,
);

life(
  'money that a bank holds after the payment has ended is released, and nothing is booked',
  `create   P1 10_000 cards manual -> pending
   session  P1                     -> processing
   expire   P1                     -> expired session_expired
   bank     P1 asked               -> expired session_expired
   hold     P1                     -> capturable 0 captured 0 give_up
   after    1 s
   hold     P1                     -> capturable 0 captured 0
   status   P1                     -> expired session_expired
   bank     P1 asked               -> expired session_expired
   after    1 s
   hold     P1                     -> capturable 0 captured 0
   ledger                          ->
   alerts                          ->
   webhooks                        -> payment.expired`,
);

life(
  'a bank that says it again, or the contrary, changes nothing of a hold',
  `create   P1 10_000 cards manual callbacks contradictory -> pending
   session  P1                     -> processing
   after    1 s
   status   P1                     -> authorized
   after    5 s
   status   P1                     -> authorized
   alerts                          -> bank_answer_contradicts
   capture  P1                     -> succeeded fee 0
   webhooks                        -> payment.authorized payment.succeeded`,
);

life(
  'a buyer who chooses may choose what can hold the money',
  `create   P1 10_000 any manual -> pending
   choose   P1 sbp             -> refused method_unsupported
   choose   P1 cards           -> pending
   session  P1                 -> processing
   after    2 s
   capture  P1                 -> succeeded fee 0`,
);
