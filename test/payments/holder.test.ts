/** The name on a card: asked for where the bank says so, else the buyer's to give. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openBanks } from '../../subgraphs/acquirers/route.ts';
import { openSimulator } from '../../subgraphs/acquirers/simulator/simulator.ts';
import { noPolicies } from '../support/no-policies.ts';
import { isRefusal } from '../../subgraphs/rules/refusal.ts';
import { checkoutView } from '../../subgraphs/payments/checkout/resolvers.ts';
import { recordPayment } from '../../subgraphs/payments/create-payment.ts';
import { openSession } from '../../subgraphs/payments/checkout/open-session.ts';
import { startMigratedDatabase, type MigratedDatabase } from '../support/migrated.ts';
import { granted } from '../support/granted.ts';

let migrated: MigratedDatabase;
before(async () => void (migrated = await startMigratedDatabase()));
after(() => migrated.close());

const now = Temporal.Instant.from('2026-11-22T10:00:00Z');
const card = { number: '4111111111111111', expiry: '12/30', cvc: '123' };

/**
 * A payment by card at a bank that asks for the name or does not; what the page says of it, and
 * paying with a name.
 */
const payment = async (asksHolder: boolean) => {
  const { database } = migrated;
  const banks = openBanks({ ...openSimulator(database), asksHolder }, database.pool);
  const key = await migrated.merchant();
  const made = granted(
    await recordPayment(
      database,
      noPolicies,
      key,
      { input: { amount: 5_000n, method: 'cards' } },
      now,
    ),
  ).payment;
  const paymentKey = { merchantId: key.merchantId, paymentId: made.id };
  const pageUrl = 'https://pay.example/p';
  return {
    view: await checkoutView(made, [], banks),
    pay: (holder: string) =>
      openSession(database, banks, noPolicies, {
        key: paymentKey,
        card: { ...card, holder },
        pageUrl,
        now,
      }),
  };
};

test('a bank that does not ask for the name takes a card without it, and no name is kept', async () => {
  const { view, pay } = await payment(false);
  assert.equal(view.asksHolder, false);
  const { status, customerCardHolder, customerCardMask } = granted(await pay('  '));
  assert.deepEqual(
    [status, customerCardHolder, customerCardMask],
    ['processing', null, '**** **** **** 1111'],
  );
});

test('a bank that asks for the name gets no card without it, and the payment stays to be paid', async () => {
  const { view, pay } = await payment(true);
  assert.equal(view.asksHolder, true);
  const refusal = await pay(' ');
  assert.deepEqual(isRefusal(refusal) && [refusal.code, refusal.message], [
    'bad_request',
    'card.holder: required by this bank',
  ]);
  assert.equal(granted(await pay('IVAN IVANOV')).customerCardHolder, 'IVAN IVANOV');
});
