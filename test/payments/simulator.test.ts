import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { live } from './life.ts';
import { startMigratedDatabase, type MigratedDatabase } from '../support/migrated.ts';

let migrated: MigratedDatabase;
before(async () => void (migrated = await startMigratedDatabase()));
after(() => migrated.close());

const life = (name: string, table: string): void =>
  void test(name, async () => {
    const key = await migrated.merchant();
    assert.ok((await live(migrated, key, table)) > 1);
    const { rows } = await migrated.database.pool.query(
      'select kind from simulator_callback where merchant_id = $1',
      [key.merchantId],
    );
    assert.deepEqual(rows, [], 'every callback was received');
  });

life(
  'a late callback ends the payment: the bank is not queried before',
  `create   P1 10_000 sbp callbacks delayed -> pending
   session  P1                              -> processing
   after    33 s
   status   P1                              -> processing
   after    1 s
   status   P1                              -> succeeded fee 0`,
);

life(
  'a callback that comes three times is one success',
  `create   P1 10_000 cards callbacks duplicate -> pending
   session  P1                                -> processing
   after    1 s
   status   P1                                -> succeeded fee 0
   after    5 s
   balance                                    -> 10_000
   alerts                                     ->
   webhooks                                   -> payment.succeeded`,
);

life(
  'a final callback that overtakes the answer to the order stands, and older news after it changes nothing',
  `create   P1 10_001 cards callbacks reordered -> pending
   session  P1                                 -> processing
   after    0 s
   status   P1                                 -> failed do_not_honor
   after    5 s
   status   P1                                 -> failed do_not_honor
   webhooks                                    -> payment.failed`,
);

life(
  'a refusal that contradicts an approval moves nothing',
  `create   P1 10_000 sbp callbacks contradictory -> pending
   session  P1                                   -> processing
   after    4 s
   status   P1                                   -> succeeded fee 0
   after    1 s
   status   P1                                   -> succeeded fee 0
   alerts                                        -> bank_answer_contradicts
   balance                                       -> 10_000
   webhooks                                      -> payment.succeeded`,
);

life(
  'an approval that contradicts a refusal is not kept: here the bank refuses to take it back, too',
  `create   P1 10_002 sbp callbacks contradictory -> pending
   session  P1                                   -> processing
   after    4 s
   status   P1                                   -> failed insufficient_funds
   after    1 s
   status   P1                                   -> failed insufficient_funds
   alerts                                        -> late_success late_success
   balance                                       -> 0
   refunds  P1                                   -> failed 10_002 insufficient_funds`,
);

life(
  'a success after the session’s end comes back to the buyer by itself',
  `create   P1 10_000 sbp callbacks late -> pending
   session  P1                          -> processing
   after    20 min
   status   P1                          -> expired session_expired
   after    5 s
   status   P1                          -> expired session_expired
   refunds  P1                          -> succeeded 10_000
   late     P1                          -> true captured fee null refunded 10_000
   balance                              -> 0
   alerts                               -> late_success
   webhooks                             -> payment.expired payment.refunded`,
);

life(
  'a bank that answers neither the order nor the first question is asked again until it does',
  `create   P1 10_000 sbp callbacks unanswered -> pending
   session  P1                                -> processing
   after    10 s
   status   P1                                -> processing
   after    9 s
   status   P1                                -> processing
   after    1 s
   status   P1                                -> succeeded fee 0
   webhooks                                   -> payment.succeeded`,
);

life(
  'a late success without any callback is found by asking on after the session expired',
  `create   P1 10_000 sbp callbacks unanswered -> pending
   session  P1                                -> processing
   expire   P1                                -> expired session_expired
   after    59 s
   status   P1                                -> expired session_expired
   refunds  P1                                ->
   after    1 s
   status   P1                                -> expired session_expired
   refunds  P1                                -> succeeded 10_000
   webhooks                                   -> payment.expired payment.refunded`,
);
