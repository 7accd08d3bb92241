import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { run } from '../../subgraphs/platform/database/statement.ts';
import { checkBooks } from '../support/check-books.ts';
import type { KeyPrincipal } from '../../subgraphs/platform/access/principal.ts';
import { noPolicies } from '../support/no-policies.ts';
import { askBank } from '../../subgraphs/payments/bank-answers/ask-bank.ts';
import { expirePayments } from '../../subgraphs/payments/expire-payments.ts';
import { findRefunds, findPayment } from '../../subgraphs/payments/store-payment.ts';
import { refundAsks, sendRefund } from '../../subgraphs/payments/refunds/send-refund.ts';
import { chargeToken } from '../../subgraphs/recurring/tokens/charge-token.ts';
import {
  cancelToken,
  createToken,
  pendingToken,
  startBinding,
} from '../../subgraphs/recurring/tokens/bind-token.ts';
import { findTokens } from '../../subgraphs/recurring/find-recurring.ts';
import { endUnboundTokens } from '../../subgraphs/recurring/jobs.ts';
import { TokenEntity } from '../../subgraphs/recurring/entities.ts';
import { answered, granted } from '../support/granted.ts';
import { faltering, orders, routeToFaltering } from './faltering-bank.ts';
import { openGate, repeatWhileAsking } from '../support/slow-answer.ts';
import { openHarness, refusedWith, type Harness } from './harness.ts';

const blocked = new Set<string>();
let harness: Harness;

before(async () => {
  const lists = {
    ...noPolicies,
    isBlocked: (_: string, __: string, text: string) => blocked.has(text),
    forbiddenIn: (text: string) => (/casino/.test(text) ? 'casino' : null),
  };
  harness = await openHarness((simulator) => [faltering(simulator)], lists);
});
after(async () => {
  assert.deepEqual(await checkBooks(harness.database), []);
  await harness.close();
});

const addRoute = (key: KeyPrincipal, method: string) =>
  routeToFaltering(harness.database.pool, key, method);

describe('binding', () => {
  test('a card is verified with 1 RUB: the payment is given back, nothing is booked, and the token has the last 4 digits', async () => {
    const key = await harness.merchant();
    const { token } = granted(await harness.create(key, { customerRef: 'c-1', amount: 5n }));
    assert.deepEqual([token.status, token.savedReference], ['pending', null]);
    const payment = await harness.pay(token);
    assert.deepEqual(
      [payment.status, payment.amount, payment.amountRefunded, payment.fee],
      ['refunded', 100n, 100n, 0n],
    );
    const [refund, ...others] = await findRefunds(harness.database.pool, [payment]);
    assert.deepEqual([refund?.status, refund?.amount, others], ['succeeded', 100n, []]);
    assert.deepEqual(await harness.books(key), { balance: 0n, available: 0n, ledger: [] });
    while ((await harness.follow()) > 0);
    const bound = await harness.read(token);
    assert.deepEqual(
      [bound.status, bound.cardBrand, bound.cardMask, bound.cardHolder],
      ['active', 'Visa', '1111', 'A B'],
    );
    assert.equal(bound.savedReference?.startsWith('simulator:'), true);
  });

  test('a trial by SBP is charged 1 RUB and given back: both are in the ledger', async () => {
    const key = await harness.merchant();
    const { token } = granted(
      await harness.create(key, { customerRef: 'c-1', method: 'sbp', amount: 4_900n }),
    );
    const trial = { ...token, id: crypto.randomUUID(), bindingPaymentId: null };
    const terms = {
      kind: 'subscription_init',
      amount: 100n,
      currency: 'RUB',
      verification: true,
      returnUrl: null,
      description: null,
      metadata: null,
      receiptTermsId: null,
    } as const;
    const { payment } = granted(
      await startBinding(harness.parts, trial, { ...terms, subscriptionId: crypto.randomUUID() }),
    );
    const paid = await harness.pay({ ...trial, bindingPaymentId: payment.id });
    assert.deepEqual([paid.status, paid.fee], ['succeeded', 0n]);
    const later = harness.pass({ seconds: 1 });
    for (const due of await refundAsks.dueByTurns(harness.database.pool, null, later, 100))
      await sendRefund(harness.database, harness.banks, due, later);
    const after = await findPayment(
      harness.database.pool,
      harness.keyOf({ ...trial, bindingPaymentId: payment.id }),
      harness.call().now,
    );
    assert.deepEqual([after?.payment.status, after?.payment.amountRefunded], ['refunded', 100n]);
    assert.deepEqual(await harness.books(key), {
      balance: 0n,
      available: 0n,
      ledger: ['payment 100', 'refund -100'],
    });
  });

  test('a binding that is declined, or whose link ends, ends the token', async () => {
    const key = await harness.merchant();
    const declined = granted(await harness.create(key, { customerRef: 'declined' })).token;
    assert.equal((await harness.pay(declined, false)).status, 'failed');
    const late = granted(await harness.create(key, { customerRef: 'late' })).token;
    harness.pass({ minutes: 61 });
    await expirePayments(harness.database, harness.banks, () => harness.call().now);
    while ((await harness.follow()) > 0);
    assert.deepEqual(
      [(await harness.read(declined)).status, (await harness.read(late)).status],
      ['cancelled', 'cancelled'],
    );
    assert.equal(refusedWith(await harness.charge(key, late, 1_000n)), 'token_not_active');
  });

  test('fifty equal bindings at once are one token with one payment', async () => {
    const key = await harness.merchant();
    const made = await Promise.all(
      Array.from({ length: 50 }, () =>
        answered(() => harness.create(key, { customerRef: 'c-1' }, 'once')),
      ),
    );
    const ids = made.map(
      (created) => `${granted(created).token.id} ${granted(created).payUrl.length}`,
    );
    assert.equal(new Set(ids).size, 1);
    assert.equal(
      granted(
        await findTokens(harness.database.pool, key, {
          merchantId: key.merchantId,
          columns: {},
        }),
      ).length,
      1,
    );
    const payments = await run(
      harness.database.pool,
      { name: 'test.payments', text: 'select id from payment where merchant_id = $1' },
      [key.merchantId],
    );
    assert.equal(payments.length, 1);
  });

  test('payments that are away leave a call to be repeated under its key: then it is completed, once', async () => {
    const key = await harness.merchant();
    const isAway = () => Promise.reject(new Error('away'));
    const parts = {
      ...harness.parts,
      payments: { ...harness.payments, askBinding: isAway, askCharge: isAway },
    };
    const request = { input: { customerRef: 'c' }, idempotency: { key: 'b' } };
    await assert.rejects(createToken(parts, key, request, harness.call()), /away/);
    const { token, replayed } = granted(
      await createToken(harness.parts, key, request, harness.call()),
    );
    assert.equal(replayed, true);
    await harness.pay(token);
    while ((await harness.follow()) > 0);
    const charge = {
      tokenId: token.id,
      amount: 1_000n,
      orderId: null,
      description: null,
      idempotency: { key: 'c' },
    };
    await assert.rejects(chargeToken(parts, key, charge, harness.call()), /away/);
    assert.equal(
      granted(await chargeToken(harness.parts, key, charge, harness.call())).payment.status,
      'succeeded',
    );
    assert.equal((await harness.books(key)).balance, 1_000n);
  });

  test('a token whose creator was cut off before payments was asked is ended after an hour, and no other', async () => {
    const key = await harness.merchant();
    const { merchantId, shopId, mode } = key;
    const cutOff = pendingToken(
      {
        merchantId,
        shopId,
        mode,
        customerRef: 'c',
        metadata: null,
        customerEmail: null,
        method: 'cards',
      },
      harness.call().now,
    );
    await harness.database.fork().insert(TokenEntity, cutOff);
    const waiting = granted(await harness.create(key, { customerRef: 'c' })).token;
    harness.pass({ minutes: 60 });
    const parts = {
      pool: harness.database.pool,
      payments: harness.payments,
      now: () => harness.call().now,
    };
    await endUnboundTokens(parts);
    assert.deepEqual(
      [(await harness.read(cutOff)).status, (await harness.read(waiting)).status],
      ['cancelled', 'pending'],
    );
    assert.equal(await endUnboundTokens(parts), 0);
  });

  test('a binding that is refused leaves no token and frees its key', async () => {
    const key = await harness.merchant();
    blocked.add('c-blocked');
    assert.equal(
      refusedWith(await harness.create(key, { customerRef: 'c-blocked' }, 'k')),
      'aml_blocked',
    );
    assert.equal(
      granted(
        await findTokens(harness.database.pool, key, {
          merchantId: key.merchantId,
          columns: {},
        }),
      ).length,
      0,
    );
    blocked.delete('c-blocked');
    const { token } = granted(await harness.create(key, { customerRef: 'c-blocked' }, 'k'));
    blocked.add('c-blocked');
    assert.equal(
      granted(await harness.create(key, { customerRef: 'c-blocked' }, 'k')).token.id,
      token.id,
      'what was made before is still answered',
    );
    const live = await harness.merchant('live');
    assert.equal(
      refusedWith(await harness.create(live, { customerRef: 'c-1' })),
      'route_not_configured',
    );
  });
});

describe('charging', () => {
  test('fifty equal charges at once are one payment, once in the ledger', async () => {
    const key = await harness.merchant();
    const token = await harness.active(key);
    const charged = await Promise.all(
      Array.from({ length: 50 }, () => answered(() => harness.charge(key, token, 1_000n, 'once'))),
    );
    assert.equal(new Set(charged.map((one) => granted(one).payment.id)).size, 1);
    assert.equal(charged.filter((one) => !granted(one).replayed).length, 1);
    assert.deepEqual(await harness.books(key), {
      balance: 1_000n,
      available: 1_000n,
      ledger: ['payment 1000'],
    });
    assert.equal(
      refusedWith(await harness.charge(key, token, 1_001n, 'once')),
      'idempotent_conflict',
    );
  });

  test('outcomes follow the amount: what is pending is asked about, and what never answers expires', async () => {
    const key = await harness.merchant();
    const token = await harness.active(key);
    const outcomes = [];
    for (const amount of [1_000n, 1_001n, 1_003n, 1_005n, 1_006n, 1_007n])
      outcomes.push(granted(await harness.charge(key, token, amount)).payment);
    assert.deepEqual(
      outcomes.map(({ status, failureCode }) => `${status} ${failureCode}`),
      [
        'succeeded null',
        'failed do_not_honor',
        'failed expired_card',
        'processing null',
        'processing null',
        'processing null',
      ],
    );
    const ids = outcomes.map(({ merchantId, id }) => ({ merchantId, paymentId: id }));
    harness.pass({ seconds: 6 });
    for (const id of ids) await askBank(harness.database, harness.banks, id, harness.call().now);
    harness.pass({ minutes: 21 });
    await expirePayments(harness.database, harness.banks, () => harness.call().now);
    const ended = await harness.payments.read(outcomes);
    assert.deepEqual(
      ended.map((payment) => payment?.status),
      ['succeeded', 'failed', 'failed', 'expired', 'expired', 'succeeded'],
    );
    assert.deepEqual((await harness.books(key)).ledger, ['payment 1000', 'payment 1007']);
    while ((await harness.follow()) > 0);
    assert.deepEqual((await harness.read(token)).lastChargedAt, ended[5]?.capturedAt);
  });

  test('charges under one key that arrive while the bank is asked have the answer of the first', async () => {
    const key = await harness.merchant('live');
    await addRoute(key, 'cards');
    const token = await harness.active(key);
    const gate = openGate();
    orders.answering = gate.pass;
    const answers = await repeatWhileAsking(harness.database.pool, gate, () =>
      harness.charge(key, token, 1_000n, 'slow'),
    );
    const charges = answers.map(granted);
    assert.deepEqual(
      charges.map(({ payment, replayed }) => [payment.status, replayed]),
      charges.map((_, index) => ['succeeded', index > 0]),
    );
    const [{ payment } = assert.fail('no answer')] = charges;
    assert.ok(payment.capturedAt);
    assert.equal((await harness.read(token)).lastChargedAt?.equals(payment.capturedAt), true);
    assert.equal((await harness.books(key)).ledger.length, 2, 'one payment and its fee');
  });

  test('a charge that was cut off before or after the bank took it is ordered again under its own id, and made once', async () => {
    const key = await harness.merchant('live');
    await addRoute(key, 'cards');
    const token = await harness.active(key);
    assert.equal(token.savedReference?.startsWith('faltering:'), true);
    for (const [cut, amount] of [
      ['before', 1_000n],
      ['after', 2_000n],
    ] as const) {
      orders.fault = cut;
      const first = await harness.charge(key, token, amount, cut).catch((error: unknown) => error);
      if (cut === 'after')
        assert.equal(
          granted(first as Awaited<ReturnType<Harness['charge']>>).payment.status,
          'processing',
          'unknown is not failed',
        );
      const again = granted(await harness.charge(key, token, amount, cut));
      assert.deepEqual([again.payment.status, again.replayed], ['processing', true]);
      const { merchantId, id: paymentId } = again.payment;
      assert.equal(
        granted(
          await askBank(
            harness.database,
            harness.banks,
            { merchantId, paymentId },
            harness.pass({ seconds: 31 }),
          ),
        ).status,
        'succeeded',
      );
    }
    const { ledger } = await harness.books(key);
    assert.deepEqual(
      ledger.filter((row) => row.startsWith('payment')),
      ['payment 1000', 'payment 2000'],
    );
  });

  test('a token is the merchant’s in its mode: another shop may charge it, another mode or merchant finds nothing', async () => {
    const key = await harness.merchant();
    const token = await harness.active(key);
    const shopId = crypto.randomUUID();
    await harness.database.pool.query(
      `insert into shop (merchant_id, id, name, terminal_id, terminal_name, webhook_secret_sealed, created_at)
        select merchant_id, $2, 'Other', id, 'Other', webhook_secret_sealed, created_at from shop where merchant_id = $1`,
      [key.merchantId, shopId],
    );
    const charged = granted(
      await harness.charge({ ...key, shopId, keyId: 'another' }, token, 1_000n),
    );
    assert.deepEqual(
      [charged.payment.status, charged.payment.shopId],
      ['succeeded', shopId],
      'the payment is of the shop whose key charged',
    );
    assert.equal(
      refusedWith(await harness.charge({ ...key, mode: 'live' }, token, 1_000n)),
      'not_found',
    );
    assert.equal(
      refusedWith(await harness.charge(await harness.merchant(), token, 1_000n)),
      'not_found',
    );
    assert.equal(
      refusedWith(
        await cancelToken(harness.parts, { ...key, mode: 'live' }, token.id, {
          requestId: 'test',
          now: Temporal.Now.instant(),
        }),
      ),
      'not_found',
    );
  });

  test('the bank’s own word that it may not be charged any more is a failure; a forbidden purpose is a refusal that frees the key', async () => {
    const key = await harness.merchant();
    const token = await harness.active(key);
    const request = {
      tokenId: token.id,
      amount: 1_000n,
      orderId: null,
      description: 'casino chips',
      idempotency: { key: 'p' },
    };
    assert.equal(
      refusedWith(await chargeToken(harness.parts, key, request, harness.call())),
      'forbidden_purpose',
    );
    assert.equal(
      granted(await harness.charge(key, token, 1_000n, 'p')).payment.status,
      'succeeded',
    );
    await harness.database.pool.query(
      `update simulator_operation set outcome = 'failed' where operation_id = $1`,
      [token.bindingPaymentId],
    );
    const revoked = granted(await harness.charge(key, token, 1_000n)).payment;
    assert.deepEqual([revoked.status, revoked.failureCode], ['failed', 'authorization_revoked']);
  });
});
