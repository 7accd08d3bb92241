import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { noPolicies } from '../support/no-policies.ts';
import { isRefusal } from '../../subgraphs/rules/refusal.ts';
import { cancelPayment } from '../../subgraphs/payments/cancel-payment.ts';
import { recordPayment } from '../../subgraphs/payments/create-payment.ts';
import { live } from './life.ts';
import { startMigratedDatabase, type MigratedDatabase } from '../support/migrated.ts';
import type { Mode } from '../../subgraphs/rules/mode.ts';

let migrated: MigratedDatabase;
before(async () => void (migrated = await startMigratedDatabase()));
after(() => migrated.close());

const life = (name: string, table: string, mode: Mode = 'test'): void =>
  void test(name, async () => {
    assert.ok((await live(migrated, await migrated.merchant(mode), table)) > 1);
  });

life(
  'a buyer chooses, goes to the bank, and the payment succeeds',
  `create   P1 10_000 any   -> pending
   session  P1              -> refused bad_request
   choose   P1 sbp          -> pending
   session  P1              -> processing
   bank     P1 asked        -> processing
   after    5 s
   bank     P1 asked        -> succeeded fee 0
   balance                  -> 10_000
   webhooks                 -> payment.succeeded`,
);

life(
  'a declined payment fails once; an approval that contradicts it moves nothing, and its money goes back',
  `create   P1 10_000 cards        -> pending
   session  P1                     -> processing
   bank     P1 decline expired_card -> failed expired_card
   bank     P1 decline             -> failed expired_card
   bank     P1 approve             -> failed expired_card
   bank     P1 decline             -> failed expired_card
   refunds  P1                     -> pending 10_000
   after    1 s
   refunds  P1                     -> succeeded 10_000
   balance                         -> 0
   alerts                          -> late_success
   webhooks                        -> payment.failed payment.refunded`,
);

life(
  'a success after the session expired moves nothing: the money is booked in, set aside and returned, once',
  `create   P1 10_000 sbp  -> pending
   session  P1             -> processing
   bank     P1 silent      -> processing
   expire   P1             -> expired session_expired
   bank     P1 approve     -> expired session_expired
   bank     P1 approve     -> expired session_expired
   ledger                  -> payment 10_000
   balance                 -> 10_000
   available               -> 0
   refund   P1             -> refused payment_not_succeeded
   refunds  P1             -> pending 10_000
   after    1 s
   bank     P1 approve     -> expired session_expired
   status   P1             -> expired session_expired
   refunds  P1             -> succeeded 10_000
   ledger                  -> payment 10_000, refund -10_000
   balance                 -> 0
   late     P1             -> true captured fee null refunded 10_000
   alerts                  -> late_success
   webhooks                -> payment.expired payment.refunded`,
);

life(
  'in live mode no fee is taken of what comes too late',
  `create   P1 10_000 sbp  -> pending
   expire   P1             -> expired link_expired
   bank     P1 approve     -> expired link_expired
   available               -> 0
   after    1 s
   answer   P1 approve     -> succeeded 10_000, P1 expired refunded 10_000
   ledger                  -> payment 10_000, refund -10_000
   balance                 -> 0`,
  'live',
);

life(
  'a bank that keeps what came too late: it may not be paid out, and operators are notified twice',
  `create   P1 10_000 sbp  -> pending
   cancel   P1             -> cancelled
   bank     P1 approve     -> cancelled
   after    1 s
   answer   P1 decline     -> failed 10_000 refund_rejected, P1 cancelled refunded 0
   answer   P1 decline     -> no refund is pending
   balance                 -> 0
   available               -> 0
   ledger                  -> payment 10_000, adjustment -10_000
   alerts                  -> late_success late_success
   webhooks                -> payment.cancelled refund.failed`,
  'live',
);

life(
  'a refusal after an approval moves nothing, and operators are notified',
  `create   P1 10_000 sbp  -> pending
   session  P1             -> processing
   bank     P1 approve     -> succeeded fee 0
   bank     P1 decline     -> succeeded fee 0
   bank     P1 decline     -> succeeded fee 0
   balance                 -> 10_000
   alerts                  -> bank_answer_contradicts
   webhooks                -> payment.succeeded`,
);

life(
  'unknown is not failed: a silent bank leaves the payment processing until its session ends',
  `create   P1 10_000 sbp  -> pending
   session  P1             -> processing
   bank     P1 silent      -> processing
   status   P1             -> processing
   webhooks                ->`,
);

life(
  'a session without an answer expires after twenty minutes, and a link after its own time',
  `create   P1 10_006 sbp        -> pending
   create   P2 10_000 any ttl 5  -> pending
   session  P1                   -> processing
   after    5 min
   status   P2                   -> expired link_expired
   status   P1                   -> processing
   after    15 min
   status   P1                   -> expired session_expired
   webhooks                      -> payment.expired payment.expired`,
);

life(
  'a success that was not received is asked for before a session expires',
  `create   P1 10_000 sbp  -> pending
   session  P1             -> processing
   after    20 min
   status   P1             -> succeeded fee 0`,
);

life(
  'only a pending payment can be cancelled, and a cancelled one cannot be paid',
  `create   P1 10_000 sbp  -> pending
   cancel   P1             -> cancelled
   cancel   P1             -> refused not_pending
   session  P1             -> refused not_pending
   create   P2 10_000 sbp  -> pending
   session  P2             -> processing
   cancel   P2             -> refused not_pending
   webhooks                -> payment.cancelled`,
);

life(
  'a card that was lost on its way is typed again in the same payment, at once or later',
  `create   P1 10_000 cards -> pending
   create   P2 10_000 cards -> pending
   lost     P1              -> processing
   lost     P2              -> processing
   order    P1              -> unanswered
   session  P1              -> processing
   order    P1              -> standing
   after    40 s
   status   P1              -> succeeded fee 0
   order    P2              -> absent
   session  P2              -> processing
   session  P2              -> refused not_pending
   after    1 s
   status   P2              -> succeeded fee 0
   balance                  -> 20_000
   webhooks                 -> payment.succeeded payment.succeeded`,
);

life(
  'an order by SBP that was lost is given again without the buyer; one that loses its answer is found',
  `create   P1 10_000 sbp  -> pending
   create   P2 10_000 sbp  -> pending
   lost     P1             -> processing
   unheard  P2             -> processing
   after    30 s
   order    P1             -> standing
   after    4 s
   status   P1             -> succeeded fee 0
   status   P2             -> succeeded fee 0`,
);

life(
  'an order that is lost again and again is given again and again, until the session ends',
  `create   P1 10_000 tpay  -> pending
   create   P2 10_000 cards -> pending
   lost     P1              -> processing
   lost     P2              -> processing
   after    30 s
   lost     P2              -> processing
   after    29 s
   order    P2              -> unanswered
   after    1 s
   order    P2              -> absent
   session  P2              -> processing
   after    19 min
   status   P1              -> succeeded fee 0
   status   P2              -> succeeded fee 0`,
);

life(
  'a payment whose buyer does not come back expires with its session, and not before',
  `create   P1 10_000 cards -> pending
   lost     P1              -> processing
   after    19 min
   status   P1              -> processing
   order    P1              -> absent
   after    40 s
   session  P1              -> refused not_pending
   after    20 s
   status   P1              -> expired session_expired
   session  P1              -> refused not_pending
   after    2_880 min
   refunds  P1              ->
   webhooks                 -> payment.expired`,
);

life(
  'what a bank says that it has not seen stays as it is once the bank has had it',
  `create   P1 10_000 sbp  -> pending
   session  P1             -> processing
   bank     P1 unseen      -> processing
   order    P1             -> standing
   after    10 s
   status   P1             -> succeeded fee 0`,
);

test('a link can be cancelled until its last millisecond, and not after it, whether or not the expiry was written', async () => {
  const { database } = migrated;
  const key = await migrated.merchant();
  const start = Temporal.Instant.from('2026-11-21T10:00:00Z');
  const cancelledAt = async (after: Temporal.DurationLike): Promise<string> => {
    const created = await recordPayment(
      database,
      noPolicies,
      key,
      { input: { amount: 10_000n, ttlMinutes: 5 } },
      start,
    );
    assert.ok(!isRefusal(created));
    const cancelled = await cancelPayment(database, key, created.payment.id, start.add(after));
    return isRefusal(cancelled) ? cancelled.code : cancelled.status;
  };
  assert.equal(await cancelledAt({ minutes: 4, seconds: 59, milliseconds: 999 }), 'cancelled');
  assert.equal(await cancelledAt({ minutes: 5 }), 'not_pending');
});

life(
  'an amount that ends in 07 is pending first and succeeds late; 06 never does',
  `create   P1 10_007 sbp  -> pending
   create   P2 10_006 sbp  -> pending
   session  P1             -> processing
   session  P2             -> processing
   after    5 s
   bank     P1 asked       -> processing
   after    5 s
   bank     P1 asked       -> succeeded fee 0
   bank     P2 asked       -> processing`,
);
