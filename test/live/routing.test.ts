import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { after, before, describe, test } from 'node:test';
import { pino } from 'pino';
import type { Bank } from '../../subgraphs/acquirers/bank.ts';
import { openAccounts, type AccountsOf } from '../../subgraphs/acquirers/bank-accounts.ts';
import { openBanks, type Banks } from '../../subgraphs/acquirers/route.ts';
import { openSimulator } from '../../subgraphs/acquirers/simulator/simulator.ts';
import type { OpenedBank } from '../../subgraphs/acquirers/connector.ts';
import { openYooKassa } from '../../subgraphs/acquirers/yookassa/open-yookassa.ts';
import { noPolicies } from '../support/no-policies.ts';
import type { BankOperation, RouteMethod } from '../../subgraphs/rules/banks.ts';
import { isRefusal } from '../../subgraphs/rules/refusal.ts';
import type { KeyPrincipal } from '../../subgraphs/platform/access/principal.ts';
import { seal } from '../../subgraphs/platform/access/keys.ts';
import { recordPayment } from '../../subgraphs/payments/create-payment.ts';
import type { Payment } from '../../subgraphs/payments/entities.ts';
import { openSession } from '../../subgraphs/payments/checkout/open-session.ts';
import { createPayout } from '../../subgraphs/payouts/create-payout.ts';
import type { Payout } from '../../subgraphs/payouts/entities.ts';
import { loadPayouts } from '../../subgraphs/payouts/find-payouts.ts';
import { sendDuePayouts } from '../../subgraphs/payouts/send-payouts.ts';
import type { PayoutInput } from '../../subgraphs/payouts/rules/create.ts';
import {
  gatewayAccount,
  shopAccount,
  startAcquirer,
  type Acquirer,
} from '../acquirer/start-acquirer.ts';
import { startMigratedDatabase, type MigratedDatabase } from '../support/migrated.ts';
import { granted } from '../support/granted.ts';

const start = Temporal.Instant.from('2026-11-21T10:00:00Z');
const sbp: PayoutInput = {
  amount: 10_000n,
  method: 'payouts_sbp',
  phone: '+79161234567',
  bankId: '100000000111',
};
const card: PayoutInput = { amount: 10_000n, method: 'payouts_card', cardPan: '2200000000000004' };

describe('two acquirers behind the routes of one shop', () => {
  let migrated: MigratedDatabase;
  let acquirers: readonly [Acquirer, Acquirer];
  const opened: OpenedBank[] = [];
  before(async () => {
    [migrated, ...acquirers] = await Promise.all([
      startMigratedDatabase(),
      startAcquirer(),
      startAcquirer(),
    ]);
  });
  after(async () => {
    await Promise.all([
      ...opened.map((bank) => bank.close()),
      ...acquirers.map((acquirer) => acquirer.stop()),
    ]);
    await migrated.close();
  });

  /**
   * A connector to an address under a name, with the right account there, with one that is turned
   * away, or with none.
   */
  const connect = (
    connector: string,
    url: string,
    account: 'right' | 'wrong' | 'none' | AccountsOf = 'right',
    attempt_ms = 9_000,
  ): Bank => {
    const fixed: AccountsOf = async (_, purpose) => {
      if (account === 'none') return { current: null, all: [] };
      const right = purpose === 'payments' ? shopAccount : gatewayAccount;
      const current = account === 'right' ? right : { ...right, secret: 'not the secret' };
      return { current, all: [current] };
    };
    const accountsOf = typeof account === 'function' ? account : fixed;
    const bank = openYooKassa(
      { url, payouts: gatewayAccount, attempt_ms },
      accountsOf,
      migrated.database.pool,
    );
    opened.push(bank);
    return { ...bank, connector, bankName: connector };
  };
  const first = (): Bank => connect('first', acquirers[0].api);
  const second = (): Bank => connect('second', acquirers[1].api);
  /** The first, with little patience: what it is planned not to answer is soon unknown. */
  const hasty = (): Bank => connect('first', acquirers[0].api, 'right', 300);
  const turnedAway = (): Bank => connect('first', acquirers[0].api, 'wrong');
  const accountless = (): Bank => connect('first', acquirers[0].api, 'none');
  /** An address without a listener; a released port is soon used again. */
  const gone = (): Bank => connect('first', 'http://127.0.0.1:1/v3');

  const banksOf = (...banks: readonly Bank[]): Banks =>
    openBanks(openSimulator(migrated.database), migrated.database.pool, banks);

  const routeTo = async (
    key: KeyPrincipal,
    operation: BankOperation,
    method: RouteMethod,
    connectors: readonly string[],
  ): Promise<void> => {
    for (const [priority, connector] of connectors.entries()) {
      await migrated.database.pool.query(
        `insert into bank_route (merchant_id, id, shop_id, mode, operation, method, connector, priority, active, created_at)
         values ($1, gen_random_uuid(), $2, 'live', $3, $4, $5, $6, true, now())`,
        [key.merchantId, key.shopId, operation, method, connector, priority],
      );
    }
  };
  const merchant = async (): Promise<KeyPrincipal> => {
    const key = await migrated.merchant('live');
    await routeTo(key, 'payment', 'sbp', ['first', 'second']);
    for (const method of ['sbp', 'card'] as const)
      await routeTo(key, 'payout', method, ['first', 'second']);
    const funding = `insert into balance_delta (merchant_id, id, shop_id, mode, currency, account, amount, hour, moved) values ($1, gen_random_uuid(), $2, 'live', 'RUB', 'merchant', 100000, date_trunc('hour', now()), '{}')`;
    await migrated.database.pool.query(funding, [key.merchantId, key.shopId]);
    return key;
  };

  /** How many orders of an operation each acquirer has. */
  const orders = async (kind: 'payments' | 'payouts', id: string): Promise<readonly number[]> => {
    const books = await Promise.all(acquirers.map((acquirer) => acquirer.books()));
    return books.map(
      (book) => book[kind].filter(({ metadata }) => metadata.operation_id === id).length,
    );
  };

  const pay = async (banks: Banks): Promise<Payment> => {
    const key = await merchant();
    const { payment } = granted(
      await recordPayment(
        migrated.database,
        noPolicies,
        key,
        { input: { amount: 10_000n, method: 'sbp' } },
        start,
      ),
    );
    const request = {
      key: { merchantId: key.merchantId, paymentId: payment.id },
      card: null,
      pageUrl: 'https://pay.example/p',
      now: start,
    };
    return granted(await openSession(migrated.database, banks, noPolicies, request));
  };

  const parts = (banks: Banks) => ({
    database: migrated.database,
    banks,
    log: pino({ level: 'silent' }),
    fingerprintKey: randomBytes(32),
  });
  const payOut = async (key: KeyPrincipal, banks: Banks, input: PayoutInput): Promise<Payout> =>
    granted(
      await createPayout(
        parts(banks),
        { key, policies: noPolicies, now: () => start },
        input,
        null,
      ),
    ).made;
  const send = (banks: Banks, at = start): Promise<number> =>
    sendDuePayouts(parts(banks), () => at);
  /** Later, until it is paid: a planned fault may still stand in line. */
  const sendUntilPaid = async (banks: Banks, made: Payout): Promise<void> => {
    for (let minutes = 10; minutes < 90 && (await again(made)).status === 'pending'; minutes += 10)
      await send(banks, start.add({ minutes }));
  };
  const again = async ({ merchantId, id }: Payout): Promise<Payout> =>
    (await loadPayouts(migrated.database.pool, [{ merchantId, id }]))[0] ?? assert.fail();

  test('a payment goes to the second when the first cannot be reached, turns our account away or has none of ours; it is on the row before the second is called', async () => {
    for (const refusing of [gone(), turnedAway(), accountless()]) {
      const seen: (string | null)[] = [];
      const next = second();
      const watched: Bank = {
        ...next,
        openSession: async (order) => {
          const { rows } = await migrated.database.pool.query<{ connector: string }>(
            'select connector from payment where id = $1',
            [order.operationId],
          );
          seen.push(rows[0]?.connector ?? null);
          return next.openSession(order);
        },
      };
      const payment = await pay(banksOf(refusing, watched));
      assert.deepEqual(
        [payment.status, payment.connector, payment.bankName, payment.step],
        ['processing', 'second', 'second', 'qr'],
      );
      assert.deepEqual([seen, await orders('payments', payment.id)], [['second'], [0, 1]]);
    }
  });

  test('an order whose result is unknown stays at its bank, whether it arrived or not', async () => {
    for (const fault of [
      'timeout_before',
      'timeout_after',
      'error_after',
      'closed_after',
    ] as const) {
      const lost = { fault, method: 'POST', path: '/payments' } as const;
      await acquirers[0].faults({ next: [lost, lost] });
      const payment = await pay(banksOf(hasty(), second()));
      assert.deepEqual([payment.status, payment.connector], ['processing', 'first'], fault);
      assert.equal((await orders('payments', payment.id))[1], 0, fault);
    }
  });

  test('with an open circuit breaker a payment goes to the second, and the first is called once at most, on trial', async (t) => {
    let refused = 0;
    const count = (): number => (refused += 1);
    subscribe('undici:client:connectError', count);
    t.after(() => unsubscribe('undici:client:connectError', count));
    const dead = gone();
    for (let call = 0; call < 5; call++)
      assert.equal((await pay(banksOf(dead))).connector, 'first');
    assert.ok(refused >= 10, `${refused} calls`);
    refused = 0;
    assert.equal((await pay(banksOf(dead, second()))).connector, 'second');
    assert.ok(refused <= 1, `${refused} calls`);
  });

  test('a payout, by SBP and to a card, goes to the second when the first surely has not accepted it, once', async () => {
    const cases = [
      [sbp, gone()],
      [card, gone()],
      [sbp, turnedAway()],
      [card, accountless()],
    ] as const;
    for (const [input, refusing] of cases) {
      const banks = banksOf(refusing, second());
      const made = await payOut(await merchant(), banks, input);
      await send(banks);
      const paid = await again(made);
      assert.deepEqual(
        [paid.status, paid.connector, await orders('payouts', made.id)],
        ['succeeded', 'second', [0, 1]],
      );
    }
  });

  test('a payout whose first order may have arrived is never given to the second, even when the first cannot be reached any more', async () => {
    const key = await merchant();
    const lost = { fault: 'timeout_before', method: 'POST', path: '/payouts' } as const;
    await acquirers[0].faults({ next: [lost, lost] });
    const made = await payOut(key, banksOf(hasty(), second()), sbp);
    await send(banksOf(hasty(), second()));
    assert.deepEqual(
      [(await again(made)).status, (await again(made)).connector],
      ['pending', 'first'],
    );
    for (let minute = 1; minute < 4; minute++)
      await send(banksOf(gone(), second()), start.add({ minutes: minute }));
    assert.deepEqual(
      [(await again(made)).connector, await orders('payouts', made.id)],
      ['first', [0, 0]],
    );
    await sendUntilPaid(banksOf(first(), second()), made);
    assert.deepEqual(
      [(await again(made)).status, await orders('payouts', made.id)],
      ['succeeded', [1, 0]],
    );
  });

  test('a worker that lost its lease passes nothing on: who took the payout up has it', async () => {
    const key = await merchant();
    const other = hasty();
    const stale: Bank = {
      ...other,
      pay: async () => {
        // It sleeps, and another worker gives the order meanwhile, whose answer is lost; then it
        // finds that its own never left.
        const lost = { fault: 'timeout_after', method: 'POST', path: '/payouts' } as const;
        await acquirers[0].faults({ next: [lost, { ...lost, fault: 'timeout_before' }] });
        await send(banksOf(other, second()), start.add({ seconds: 31 }));
        return { kind: 'unaccepted' };
      },
    };
    const made = await payOut(key, banksOf(stale, second()), sbp);
    await send(banksOf(stale, second()));
    assert.deepEqual(
      [(await again(made)).status, (await again(made)).connector, await orders('payouts', made.id)],
      ['pending', 'first', [1, 0]],
    );
    await sendUntilPaid(banksOf(first(), second()), made);
    assert.deepEqual(
      [(await again(made)).status, await orders('payouts', made.id)],
      ['succeeded', [1, 0]],
    );
  });

  test('a payout that no bank has accepted waits with its money reserved, and goes to the first bank that is back', async () => {
    const key = await merchant();
    const down = banksOf(gone(), { ...gone(), connector: 'second' });
    const made = await payOut(key, down, sbp);
    await send(down);
    const waiting = await again(made);
    assert.deepEqual(
      [waiting.status, waiting.sentAt, waiting.connector],
      ['pending', null, 'first'],
    );
    const partly = banksOf(gone(), second());
    await send(partly, start.add({ seconds: 15 }));
    assert.deepEqual(
      [(await again(made)).status, (await again(made)).connector, await orders('payouts', made.id)],
      ['succeeded', 'second', [0, 1]],
    );
  });

  for (const isLost of [false, true])
    test(`a payout that no bank has ${isLost ? 'seen' : 'accepted'} for a day is paid, once, when its bank is back`, async () => {
      const down = banksOf(gone(), { ...gone(), connector: 'second' });
      const made = await payOut(await merchant(), down, sbp);
      if (isLost) await send(banksOf({ ...gone(), pay: async () => ({ kind: 'unknown' }) }));
      for (const hours of [1, 6, 12, 22, 30]) await send(down, start.add({ hours }));
      assert.equal((await again(made)).status, 'pending');
      for (const hours of [31, 32, 33]) await send(banksOf(first()), start.add({ hours }));
      assert.equal((await again(made)).status, 'succeeded');
      assert.deepEqual(await orders('payouts', made.id), [1, 0]);
    });

  test('a payout is paid though the gateway that its merchant had before was closed', async () => {
    const closed = { id: '999999', secret: 'of a gateway that was closed' };
    const retired = { ...closed, retiredAt: start.subtract({ hours: 1 }) };
    for (const other of [closed, retired]) {
      const accounts = async () => ({ current: gatewayAccount, all: [gatewayAccount, other] });
      const banks = banksOf(connect('first', acquirers[0].api, accounts));
      const made = await payOut(await merchant(), banks, sbp);
      // The order of a process that died is repeated where the retired one cannot have it.
      if (other === retired)
        await send(banksOf({ ...gone(), pay: async () => ({ kind: 'unknown' }) }));
      await sendUntilPaid(banks, made);
      assert.deepEqual(await orders('payouts', made.id), [1, 0]);
    }
  });

  test('a payout of a merchant who has an account for payments alone is refused at once, and nothing is set aside; the payments go there', async () => {
    const [key, vaultKey, { pool }] = [await merchant(), randomBytes(32), migrated.database];
    const own = `insert into bank_account (merchant_id, connector, purpose, account, secret_sealed, active, created_at, changed_at)
      values ($1, 'first', 'payments', $2, $3, true, now(), now())`;
    await pool.query(own, [key.merchantId, shopAccount.id, seal(vaultKey, shopAccount.secret)]);
    const banks = banksOf(
      connect(
        'first',
        acquirers[0].api,
        openAccounts(pool, vaultKey, 'first', { payments: null, payouts: null }),
      ),
    );
    for (const input of [sbp, card]) {
      const refused = await createPayout(
        parts(banks),
        { key, policies: noPolicies, now: () => start },
        input,
        null,
      );
      assert.ok(isRefusal(refused));
      assert.deepEqual(
        [refused.code, refused.message],
        ['route_not_configured', 'no account at first is configured for payouts of this merchant'],
      );
    }
    const { rows } = await pool.query('select 1 from payout where merchant_id = $1', [
      key.merchantId,
    ]);
    const { merchantId, shopId, mode } = key;
    const serving = await banks.route({
      merchantId,
      shopId,
      mode,
      operation: 'payment',
      method: 'sbp',
      currency: 'RUB',
    });
    assert.deepEqual(
      [
        rows,
        'connector' in serving && serving.connector,
        await banks.offered({ merchantId, shopId, mode, currency: 'RUB' }),
      ],
      [[], 'first', ['sbp']],
    );
    const nobody = banksOf(accountless());
    assert.deepEqual(
      await nobody.offered({ merchantId, shopId, mode, currency: 'RUB' }),
      [],
      'no page offers what no bank would take',
    );
  });

  test('what the preferred bank cannot do goes to the one that can; what none of them can is unsupported, with or without a route', async () => {
    const key = await merchant();
    const { shopId, merchantId } = key;
    const whose = { merchantId, shopId, mode: 'live', currency: 'RUB' } as const;
    const request = { ...whose, operation: 'payout' } as const;
    const cardless: Bank = { ...first(), payoutWays: ['sbp'] };
    const chosen = await banksOf(cardless, second()).route({ ...request, method: 'card' });
    assert.equal('connector' in chosen && chosen.connector, 'second');
    const code = async (banks: Banks, method: RouteMethod): Promise<unknown> =>
      ((found) => 'code' in found && found.code)(await banks.route({ ...request, method }));
    assert.equal(await code(banksOf(cardless), 'card'), 'method_unsupported');
    assert.equal(
      await code(banksOf(first(), second()), 'account'),
      'method_unsupported',
      'neither of them pays to accounts',
    );
    await routeTo(key, 'payout', 'account', ['first']);
    assert.equal(await code(banksOf(first()), 'account'), 'method_unsupported');
    assert.equal(
      await code(banksOf({ ...first(), payoutWays: ['account'] }), 'sbp'),
      'method_unsupported',
    );
    await routeTo(key, 'payment', 'cards', ['first']);
    for (const method of ['sbp', 'cards'] as const) {
      const paying = { ...whose, operation: 'payment', method } as const;
      const served = async (banks: Banks, currency: string): Promise<unknown> =>
        ((found) => ('code' in found ? found.code : found.connector))(
          await banks.route({ ...paying, currency }),
        );
      const everywhere: Bank = { ...first(), currencies: null };
      const offered = await banksOf(everywhere).offered({ ...whose, currency: 'USD' });
      assert.deepEqual(
        [
          await served(banksOf(first()), 'RUB'),
          await served(banksOf(first()), 'USD'),
          await served(banksOf(everywhere), 'USD'),
          offered.includes(method),
        ],
        method === 'sbp'
          ? ['first', 'method_unsupported', 'method_unsupported', false]
          : ['first', 'method_unsupported', 'first', true],
      );
    }
    assert.deepEqual(await banksOf(first()).offered({ ...whose, currency: 'USD' }), []);
    const bare = await migrated.merchant('live');
    const unrouted = await banksOf(first()).route({
      ...request,
      merchantId: bare.merchantId,
      shopId: bare.shopId,
      method: 'sbp',
    });
    assert.equal('code' in unrouted && unrouted.code, 'route_not_configured');
  });
});
