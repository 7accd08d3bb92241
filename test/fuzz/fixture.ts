/**
 * What the fuzzers work on: the service on a database that can be looked into, a merchant with
 * things of every kind, and a stranger with the same.
 */
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import type pg from 'pg';
import { checkBooks } from '../support/check-books.ts';
import { pay, payByCard, confirmAtBank } from '../support/buyer.ts';
import { issueKey, rotateSigningSecret } from '../support/cabinet.ts';
import { openPool, startTestDatabase } from '../support/database.ts';
import { askGraph, callRest, makeMerchant, type Merchant } from '../support/merchant.ts';
import { operatorToken, startService, type Service } from '../support/service.ts';
import { closeAtEnd } from '../support/shared.ts';
import { openExchange, type Came } from './exchange.ts';
import { cardNumbers } from './odd-values.ts';
import { platformMerchantId } from '../../subgraphs/rules/ids.ts';
import { eventually } from '../support/eventually.ts';

/** A merchant, the ids of what it has, and its secrets. */
export interface Tenant extends Merchant {
  /** By the noun of the path that takes them; `capture` and `receipts`: by its verb. */
  readonly ids: Readonly<Record<string, readonly string[]>>;
  readonly signingSecret: string;
  /** Also the secret of its webhook endpoint. */
  readonly secrets: readonly string[];
}

/** The ids of whatever kind. */
export const allIds = (ids: Tenant['ids']): readonly string[] => Object.values(ids).flat();

/** Payments whose money the bank holds: enough for all captures, however many are cancelled. */
const settleHolds = async (merchant: Merchant): Promise<readonly string[]> => {
  const hold = async (place: number): Promise<string> => {
    const order = { amount: 10_000, method: 'cards', capture: 'manual', order_id: `held-${place}` };
    const { body } = await merchant.call('POST', '/payments', order);
    await payByCard(body.payment_url);
    return body.payment.id;
  };
  const ids = await Promise.all(Array.from({ length: 12 }, (_, place) => hold(place)));
  const isHeld = async (): Promise<boolean> => {
    const { body } = await merchant.call('GET', '/payments?status=authorized');
    return body.items.length === ids.length;
  };
  await eventually(isHeld, 'the holds');
  return ids;
};

/** What closes one of `settlePrepaid`. */
export const closing = {
  customer: { email: 'ivanov@example.com' },
  items: [{ description: 'Tea', quantity: '1', price: 10_000, vat_code: 11 }],
};

/** The first of a list that has something a moment later. */
const firstOf = ({ call }: Merchant, path: string): Promise<{ readonly id: string }> =>
  eventually(async () => (await call('GET', path)).body.items[0], `something in ${path}`);

/** Payments that were paid in advance, and their receipts. */
const settlePrepaid = async (merchant: Merchant): Promise<readonly string[]> => {
  const [item] = closing.items;
  const receipt = { ...closing, items: [{ ...item, payment_mode: 'full_prepayment' }] };
  const prepay = async (place: number): Promise<string> => {
    const order = { amount: 10_000, method: 'sbp', order_id: `prepaid-${place}`, receipt };
    const { body } = await merchant.call('POST', '/payments', order);
    await pay(body.payment_url);
    return body.payment.id;
  };
  const ids = await Promise.all(Array.from({ length: 12 }, (_, place) => prepay(place)));
  const receipts = await eventually(async () => {
    const { items } = (await merchant.call('GET', '/receipts')).body;
    return items.length === ids.length && items;
  }, 'the receipts');
  return [...ids, ...receipts.map(({ id }: any) => id)];
};

const settle = async (service: Service): Promise<Tenant> => {
  const merchant = await makeMerchant(service);
  const signingSecret = await rotateSigningSecret(service, merchant);
  const endpointSecret = await merchant.endpoint('https://shop.example/hook');
  const make = async (path: string, body: object): Promise<any> =>
    (await merchant.call('POST', path, body)).body;
  // One whose id no other caller learns: its money stays when everything else is given back.
  const kept = await make('/payments', { amount: 50_000_000, method: 'sbp', order_id: 'kept' });
  await pay(kept.payment_url);
  const paid = await make('/payments', { amount: 50_000_000, method: 'sbp', order_id: 'paid' });
  await pay(paid.payment_url);
  const other = await make('/payments', { amount: 10_000, description: 'never paid' });
  const isPaid = async ({ payment: { id } }: any) =>
    (await merchant.call('GET', `/payments/${id}`)).body.status === 'succeeded';
  await eventually(async () => (await isPaid(kept)) && (await isPaid(paid)), 'the payments');
  const refund = await make(`/payments/${paid.payment.id}/refund`, { amount: 1_000 });
  const payout = await make('/payouts', {
    amount: 1_000,
    phone: '+79161234567',
    bank_id: '100000000111',
  });
  const bound = await make('/tokens', { customer_ref: 'bound' });
  await payByCard(bound.pay_url);
  await confirmAtBank(bound.pay_url);
  const waiting = await make('/tokens', { customer_ref: 'waiting' });
  const begun = await make('/subscriptions', { amount: 1_000, customer_ref: 'bound' });
  await eventually(
    async () =>
      (await merchant.call('GET', '/tokens?customer_ref=bound')).body.items.some(
        (token: any) => token.status === 'active',
      ),
    'the token',
  );
  const link = await make('/links', { amount: 1_000 });
  const logged = await firstOf(merchant, '/event-log');
  const called = await firstOf(merchant, '/requests');
  const ids = {
    payments: [paid.payment.id, other.payment.id],
    capture: await settleHolds(merchant),
    refunds: [refund.id],
    receipts: await settlePrepaid(merchant),
    payouts: [payout.payout.id],
    tokens: [bound.card.id, waiting.card.id],
    subscriptions: [begun.subscription.id],
    links: [link.link.id],
    'event-log': [logged.id],
    requests: [called.id],
  };
  for (const id of allIds(ids)) assert.match(id, /^(?:evt_)?[0-9a-f-]{32,36}$/);
  return {
    ...merchant,
    ids,
    signingSecret,
    secrets: [merchant.key, signingSecret, endpointSecret],
  };
};

/** Stands in all that is of the same merchant, but of another shop or mode than its key. */
const beside = 'beside-the-key';

/** A payment in another shop of the merchant, with a delivery. */
const settleOtherShop = async (service: Service, { id }: Tenant): Promise<string> => {
  const { shopCreate } = await askGraph(
    service,
    'mutation ($m: ID!) { shopCreate(merchantId: $m, name: "Second") { ... on Shop { id } } }',
    { m: id },
  );
  const { secret: key } = await issueKey(service, { id, shopId: shopCreate.id });
  const body = {
    amount: 5_000,
    description: beside,
    order_id: beside,
    webhook_url: `https://shop.example/${beside}`,
    metadata: { of: beside },
  };
  const { payment } = (await callRest({ rest: service.rest, key }, 'POST', '/payments', body)).body;
  await callRest({ rest: service.rest, key }, 'POST', `/payments/${payment.id}/cancel`);
  return payment.id;
};

/** The same payment in live mode of the merchant's own shop, written where no acquirer is asked. */
const copyAsLive = async (
  pool: pg.Pool,
  { id, shopId }: Tenant,
  payment: string,
): Promise<string> => {
  const live = randomUUID();
  for (const [table, change, row] of [
    [
      'payment',
      `'id', $3::uuid, 'mode', 'live', 'shop_id', $4::uuid, 'public_id', 'P-77000001'`,
      'id',
    ],
    [
      'webhook_delivery',
      `'id', gen_random_uuid(), 'subject_id', $3::uuid, 'shop_id', $4::uuid, 'event_id', gen_random_uuid()`,
      'subject_id',
    ],
  ] as const) {
    const { rowCount } = await pool.query(
      `insert into ${table} select copy.* from ${table} as original, lateral jsonb_populate_record(original, jsonb_build_object(${change})) as copy
       where original.merchant_id = $1 and original.${row} = $2`,
      [id, payment, live, shopId],
    );
    assert.equal(rowCount, 1, table);
  }
  // No event names it: the walk over what is older than the totals counts it.
  await pool.query(
    `insert into totals_walk (name, at_merchant_id, at_id) values ('payment', $1, $1) on conflict do nothing`,
    [platformMerchantId],
  );
  return live;
};

/**
 * What a key must not read though it is of its own merchant; and payments of the key's own whose
 * order ids are the ids of these.
 */
const settleMeanwhile = async (
  service: Service,
  pool: pg.Pool,
  merchant: Tenant,
): Promise<readonly string[]> => {
  const payment = await settleOtherShop(service, merchant);
  await eventually(
    async () =>
      (await pool.query('select 1 from webhook_delivery where subject_id = $1', [payment]))
        .rowCount === 1,
    'its delivery',
  );
  const hidden = [payment, await copyAsLive(pool, merchant, payment)];
  for (const id of hidden)
    await merchant.call('POST', '/payments', { amount: 7_000, order_id: id });
  return hidden;
};

/**
 * A stack, a path of ours, a statement or an address of the database: what says something of the
 * inside.
 */
const inside =
  /\n\s+at |\.ts:\d+|node_modules|file:\/\/\/|\bselect .+ from |\binsert into |violates |relation "|postgres(?:ql)?:\/\/|\beconn|(?<!Syntax )Error: /i;

/** The service of both fuzzers. */
const startFuzzed = async () => {
  const database = await startTestDatabase({ migrated: true });
  const service = await startService('one', {
    DATABASE_URL: database.url,
    SECRET_KEY: randomBytes(32).toString('base64'),
    // So that a call can come from an address of its own: an address that fails too often is barred.
    TRUSTED_PROXIES: '127.0.0.1',
  });
  closeAtEnd(async () => {
    await service.stop();
    await database.stop();
  });
  return { database, service };
};

let fuzzed: ReturnType<typeof startFuzzed> | null = null;

/** Opens the fixture: merchants of its own on the service. */
export const openFixture = async () => {
  await using opening = new AsyncDisposableStack();
  const { database, service } = await (fuzzed ??= startFuzzed());
  const pool = openPool(database.url, 2);
  opening.defer(() => pool.end());
  const { exchange, close } = openExchange(service.rest);
  opening.defer(close);
  const [merchant, stranger] = await Promise.all([settle(service), settle(service)]);
  const hidden = await settleMeanwhile(service, pool, merchant);
  const secrets = [...merchant.secrets, ...stranger.secrets, database.url];
  const opened = opening.move();
  return {
    service,
    exchange,
    merchant,
    stranger,
    /**
     * Payments of the merchant that are of another shop or mode than its key; what they hold says
     * `beside`.
     */
    hidden,
    beside,
    /** What of our secrets or our inside a text gives away; null when nothing. */
    leakIn: (text: string): string | null =>
      [operatorToken, ...secrets].some((secret) => text.includes(secret))
        ? 'a secret'
        : (inside.exec(text)?.[0] ?? null),
    /** What the service logged of a request. */
    logOf: ({ headers }: Came): string =>
      service.processes
        .flatMap((part) => part.output().split('\n'))
        .filter((line) => line.includes(`"${String(headers['x-request-id'])}"`))
        .join('\n'),
    /**
     * Fails unless the books are right, the service is ready, and its log holds no secret and no
     * card's number.
     */
    assertWell: async (): Promise<void> => {
      let differences: unknown = null;
      await eventually(
        async () => (differences = await checkBooks({ pool })).length === 0,
        'right books',
      ).catch(() => assert.deepEqual(differences, []));
      const [{ count: postings } = { count: 0 }] = (
        await pool.query<{ count: number }>('select count(*)::int as count from posting')
      ).rows;
      assert.ok(postings > 4, `the books hold ${postings} postings`);
      assert.equal((await fetch(`${service.rest}/readyz`)).status, 200);
      for (const part of service.processes) {
        const answered = [...secrets, ...cardNumbers].find((secret) =>
          part.output().includes(secret),
        );
        assert.equal(answered, undefined, 'the log holds a secret or a card number');
        assert.equal(part.child.exitCode, null);
      }
    },
    close: () => opened.disposeAsync(),
  };
};

export type Fixture = Awaited<ReturnType<typeof openFixture>>;
