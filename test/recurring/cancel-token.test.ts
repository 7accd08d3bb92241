import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { checkBooks } from '../support/check-books.ts';
import { isRefusal } from '../../subgraphs/rules/refusal.ts';
import { cancelToken } from '../../subgraphs/recurring/tokens/bind-token.ts';
import { granted } from '../support/granted.ts';
import { openHarness, refusedWith, type Harness } from './harness.ts';

let harness: Harness;
before(async () => {
  harness = await openHarness();
});
after(async () => {
  assert.deepEqual(await checkBooks(harness.database), []);
  await harness.close();
});

describe('cancelling a token', () => {
  test('an active token is never charged again; its payments stay; cancelling twice is fine', async () => {
    const key = await harness.merchant();
    const token = await harness.active(key);
    const before = granted(await harness.charge(key, token, 1_000n, 'before'));
    for (const _ of [1, 2])
      assert.equal(
        granted(
          await cancelToken(harness.parts, key, token.id, {
            requestId: 'test',
            now: Temporal.Now.instant(),
          }),
        ).status,
        'cancelled',
      );
    assert.equal(refusedWith(await harness.charge(key, token, 1_000n)), 'token_not_active');
    const replay = granted(await harness.charge(key, token, 1_000n, 'before'));
    assert.deepEqual([replay.payment.id, replay.replayed], [before.payment.id, true]);
    assert.equal((await harness.books(key)).balance, 1_000n);
  });

  test('a token cancelled while its buyer confirms is cancelled in either order, and its payment has one end', async () => {
    const key = await harness.merchant();
    const tokens = await Promise.all(
      Array.from(
        { length: 20 },
        async () =>
          granted(await harness.create(key, { customerRef: 'c', method: 'sbp', amount: 1_000n }))
            .token,
      ),
    );
    await Promise.all(
      tokens.flatMap((token, index) => [
        index % 2
          ? harness.pay(token).catch((error: unknown) => error)
          : cancelToken(harness.parts, key, token.id, {
              requestId: 'test',
              now: Temporal.Now.instant(),
            }),
        index % 2
          ? cancelToken(harness.parts, key, token.id, {
              requestId: 'test',
              now: Temporal.Now.instant(),
            })
          : harness.pay(token).catch((error: unknown) => error),
        harness.follow().catch((error: unknown) => error),
      ]),
    );
    while ((await harness.follow()) > 0);
    const payments = await harness.payments.read(
      tokens.map(({ merchantId, bindingPaymentId }) => ({
        merchantId,
        id: bindingPaymentId ?? '',
      })),
    );
    for (const [index, token] of tokens.entries()) {
      assert.equal((await harness.read(token)).status, 'cancelled');
      assert.match(payments[index]?.status ?? '', /^(cancelled|succeeded)$/);
      assert.equal(refusedWith(await harness.charge(key, token, 1_000n)), 'token_not_active');
    }
    const paid = payments.filter((payment) => payment?.status === 'succeeded').length;
    assert.equal(
      (await harness.books(key)).balance,
      BigInt(paid) * 1_000n,
      'what was paid stays the merchant’s',
    );
  });

  test('a cancelled payment of a binding ends its token too, as a crash between the two would leave it', async () => {
    const key = await harness.merchant();
    const { token } = granted(await harness.create(key, { customerRef: 'c' }));
    granted(
      await harness.payments.cancelBinding({
        merchantId: key.merchantId,
        id: token.bindingPaymentId ?? '',
      }),
    );
    while ((await harness.follow()) > 0);
    assert.equal((await harness.read(token)).status, 'cancelled');
    assert.equal(
      isRefusal(
        await harness.payments.cancelBinding({
          merchantId: key.merchantId,
          id: token.bindingPaymentId ?? '',
        }),
      ),
      true,
    );
  });
});
