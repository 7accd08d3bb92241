/**
 * The baseline: what one would write by hand with fastify and pg for the same exchanges, with
 * statements of its own on tables of its own. It knows one merchant and one key; it has no limits,
 * idempotency keys, roles, retries or audit, and its hosted page answers with three fields. A payment
 * writes an event in its own transaction, its end the postings, too; webhooks are signed, posted and
 * marked as delivered.
 *
 * Takes DATABASE_URL, POOL, KEY, MERCHANT, SHOP and RECEIVER.
 */
import { createHmac, randomUUID } from 'node:crypto';
import fastify from 'fastify';
import { buildSchema, graphql } from 'graphql';
import pg from 'pg';
import { Agent, request } from 'undici';
import { readContract } from '../../rest-facade/read-contract.ts';

const { DATABASE_URL, POOL, KEY, MERCHANT = '', SHOP = '', RECEIVER: receiver = '' } = process.env;

const secret = 'whs_of_the_bench';

const tables = `
  create table if not exists payment (id uuid primary key, number bigint generated always as identity, merchant_id uuid not null, shop_id uuid not null,
    order_id text, amount bigint not null, currency text not null, method text, status text not null, return_url text, description text, metadata jsonb not null,
    created_at timestamptz not null, expires_at timestamptz not null, captured_at timestamptz, finalized_at timestamptz);
  create index if not exists payment_list on payment (merchant_id, created_at desc, id desc);
  create index if not exists payment_status on payment (merchant_id, status, created_at desc, id desc);
  create table if not exists posting (id uuid primary key, merchant_id uuid not null, payment_id uuid not null, type text not null, from_account text not null,
    to_account text not null, amount bigint not null, created_at timestamptz not null);
  create index if not exists posting_list on posting (merchant_id, created_at desc, id desc);
  create table if not exists event (sequence bigint generated always as identity primary key, id uuid not null, body text, delivered_at timestamptz);
  create index if not exists event_due on event (sequence) where body is not null and delivered_at is null`;

const insertPayment = `
  with payment as (
    insert into payment (id, merchant_id, shop_id, order_id, amount, currency, method, status, return_url, description, metadata, created_at, expires_at)
    values ($1, $2, $3, $4, $5, 'RUB', $6, 'pending', $7, $8, $9, now(), now() + interval '1 hour') returning *),
  event as (insert into event (id) values ($10))
  select * from payment`;
const beginPayment = `
  with event as (insert into event (id) values ($2))
  update payment set status = 'processing' where id = $1 and status = 'pending' returning *`;
const endPayment = `
  update payment set status = $2, captured_at = case $2 when 'succeeded' then now() end, finalized_at = now()
  where id = $1 and status in ('pending', 'processing') returning *`;
const insertPostings = `
  insert into posting (id, merchant_id, payment_id, type, from_account, to_account, amount, created_at)
  values ($1, $3, $4, 'payment', 'acquirer_clearing', 'merchant', $5, now()), ($2, $3, $4, 'fee', 'merchant', 'platform_fees', $6, now())`;
const insertEvent = 'insert into event (id, body) values ($1, $2)';
const selectPayment = 'select * from payment where id = $1 and merchant_id = $2';
const selectDue =
  'select sequence, id, body from event where body is not null and delivered_at is null order by sequence limit 200';
const markDelivered = 'update event set delivered_at = now() where sequence = any($1::bigint[])';

const pool = new pg.Pool({ connectionString: DATABASE_URL, max: Number(POOL) });
await pool.query(tables);

interface PaymentRow {
  readonly id: string;
  readonly number: string;
  readonly amount: string;
  readonly status: string;
  readonly [column: string]: unknown;
}

const names = new Map<string, string>();
const run = async <Row extends pg.QueryResultRow>(
  text: string,
  values: readonly unknown[],
  runner: pg.Pool | pg.PoolClient = pool,
): Promise<readonly Row[]> => {
  const name = names.get(text) ?? `statement_${names.size}`;
  names.set(text, name);
  return (await runner.query<Row>({ name, text, values: [...values] })).rows;
};

const first = <Row>([row]: readonly Row[]): Row => {
  if (!row) throw new Error('there is no such payment');
  return row;
};

const feeOf = (amount: string): number => Math.round(Number(amount) * 0.028);

/** Where the program listens. */
let origin = '';
const pageOf = (id: string): string => `${origin}/pay/${id}`;

const json = (row: PaymentRow) => ({
  id: row.id,
  public_id: `P-${row.number}`,
  merchant_id: row['merchant_id'],
  shop_id: row['shop_id'],
  terminal_id: row['shop_id'],
  terminal_name: 'Tea & Cakes',
  shop_name: 'Tea & Cakes',
  order_id: row['order_id'],
  amount: Number(row.amount),
  capture: 'automatic',
  amount_capturable: 0,
  amount_captured: row.status === 'succeeded' ? Number(row.amount) : 0,
  capture_before: null,
  amount_refunded: 0,
  amount_usdt: null,
  currency: row['currency'],
  method: row['method'],
  status: row.status,
  rrn: null,
  bank_name: null,
  return_url: row['return_url'],
  description: row['description'],
  created_at: row['created_at'],
  on_decline: 'return',
  captured_at: row['captured_at'],
  finalized_at: row['finalized_at'],
  expires_at: row['expires_at'],
  processing_until: null,
  metadata: row['metadata'],
  customer_card_brand: null,
  customer_card_mask: null,
  customer_card_holder: null,
  customer_phone_mask: null,
  customer_payer_bank: null,
  ...(row.status === 'succeeded'
    ? {
        fee: feeOf(row.amount),
        fee_rate_bps: 280,
        net: Number(row.amount) - feeOf(row.amount),
      }
    : {}),
  refunds: [],
  payment_url: pageOf(row.id),
});

const agent = new Agent({ connections: 256, pipelining: 1 });

const post = async (id: string, body: string): Promise<void> => {
  const t = Math.floor(Date.now() / 1_000);
  const hmac = (text: string): string => createHmac('sha256', secret).update(text).digest('hex');
  const headers = {
    'content-type': 'application/json',
    'x-psp-event-id': `evt_${id}`,
    'x-psp-signature': `t=${t},v1=${hmac(body)},v2=${hmac(`${t}.${body}`)}`,
  };
  const answer = await request(receiver, { dispatcher: agent, method: 'POST', headers, body });
  await answer.body.dump();
};

let delivering = false;
let rung = false;
/** Delivers what is due, batch after batch, until nothing is. */
const deliver = async (): Promise<void> => {
  rung = true;
  if (delivering) return;
  delivering = true;
  while (rung) {
    rung = false;
    const due = await run<{ sequence: string; id: string; body: string }>(selectDue, []);
    if (due.length === 0) continue;
    rung = true;
    await Promise.all(due.map(({ id, body }) => post(id, body)));
    await run(markDelivered, [due.map(({ sequence }) => sequence)]);
  }
  delivering = false;
};

/** Ends a payment in one transaction, with its postings and its event. */
const end = async (id: string, status: 'succeeded' | 'cancelled'): Promise<PaymentRow> => {
  const client = await pool.connect();
  try {
    await client.query('begin');
    const row = first(await run<PaymentRow>(endPayment, [id, status], client));
    if (status === 'succeeded') {
      const values = [randomUUID(), randomUUID(), MERCHANT, id, row.amount, feeOf(row.amount)];
      await run(insertPostings, values, client);
    }
    const event = randomUUID();
    const body = { id: `evt_${event}`, event: `payment.${status}`, data: json(row) };
    await run(insertEvent, [event, JSON.stringify(body)], client);
    await client.query('commit');
    void deliver();
    return row;
  } catch (error) {
    await client.query('rollback');
    throw error;
  } finally {
    client.release();
  }
};

const operationOf = (name: string, status: '200' | '201') => {
  const operation = readContract().operations.get(name);
  if (!operation) throw new Error(`the contract has no ${name}`);
  return {
    ...(operation.body ? { body: operation.body.schema } : {}),
    response: { [status]: operation.responses[status] },
  };
};

const formats = { 'iso-4217': /^[A-Z]{3}$/, int64: true, int32: true } as const;
const app = fastify({
  ajv: {
    customOptions: { strict: false, coerceTypes: false, removeAdditional: false, formats },
  },
});
app.addContentTypeParser(
  'application/x-www-form-urlencoded',
  { parseAs: 'string' },
  (_, body, done) => done(null, body),
);
app.addHook('onRequest', async (asked, answer) => {
  if (asked.url.startsWith('/pay/') || asked.headers.authorization === `Bearer ${KEY}`) return;
  await answer.code(401).send({ error: 'unauthorized' });
});

interface CreateBody {
  readonly amount: number;
  readonly order_id?: string;
  readonly method?: string;
  readonly return_url?: string;
  readonly description?: string;
  readonly metadata?: object;
}

app.post<{ Body: CreateBody }>(
  '/v1/public/payments',
  { schema: operationOf('CreatePayment', '201') },
  async ({ body }, answer) => {
    const id = randomUUID();
    const row = first(
      await run<PaymentRow>(insertPayment, [
        id,
        MERCHANT,
        SHOP,
        body.order_id ?? null,
        body.amount,
        body.method ?? null,
        body.return_url ?? null,
        body.description ?? null,
        JSON.stringify({ ...body.metadata, mode: 'test', simulator_outcome: 'succeeded' }),
        randomUUID(),
      ]),
    );
    return answer.code(201).send({
      payment: json(row),
      payment_url: pageOf(id),
      mode: 'test',
      idempotent: false,
      simulator: 'succeeded',
      bank: null,
      bank_ref: null,
      failure_code: null,
      failure_message: null,
    });
  },
);
app.get<{ Params: { id: string } }>(
  '/v1/public/payments/:id',
  { schema: operationOf('GetPayment', '200') },
  async ({ params: { id } }) => json(first(await run<PaymentRow>(selectPayment, [id, MERCHANT]))),
);
app.post<{ Params: { id: string } }>('/v1/public/payments/:id/cancel', async ({ params: { id } }) =>
  json(await end(id, 'cancelled')),
);
app.post<{ Params: { id: string } }>('/pay/:id/pay', async ({ params: { id } }) => {
  const row = first(await run<PaymentRow>(beginPayment, [id, randomUUID()]));
  return { paymentId: id, amount: Number(row.amount), status: row.status };
});
app.post<{ Params: { id: string } }>('/pay/:id/bank', async ({ params: { id } }, answer) => {
  await end(id, 'succeeded');
  return answer.code(303).header('location', `/pay/${id}`).send();
});

interface ListQuery {
  readonly limit?: string;
  readonly status?: string;
  readonly to?: string;
}

/** A page of rows, newest first. */
const page = async (table: 'payment' | 'posting', { limit = '50', status, to }: ListQuery) => {
  const text = `select * from ${table} where merchant_id = $1 ${status ? 'and status = $3' : ''}
    ${to ? `and created_at < $${status ? 4 : 3}::date + 1` : ''} order by created_at desc, id desc limit $2`;
  const values = [MERCHANT, Number(limit) + 1, ...(status ? [status] : []), ...(to ? [to] : [])];
  const found = await run<PaymentRow>(text, values);
  const rows = found.slice(0, Number(limit));
  return { rows, cursor: found.length > rows.length ? (rows.at(-1)?.id ?? null) : null };
};

app.get<{ Querystring: ListQuery }>('/v1/public/payments', async ({ query }) => {
  const { rows, cursor } = await page('payment', query);
  return { items: rows.map(json), next_cursor: cursor };
});
app.get<{ Querystring: ListQuery }>('/v1/public/ledger', async ({ query }) => {
  const { rows, cursor } = await page('posting', query);
  return { items: rows, next_cursor: cursor };
});

const schema = buildSchema(`
  type Shop { id: ID! name: String! }
  type Payment { id: ID! status: String! amount: Int! createdAt: String! shop: Shop! }
  type PageInfo { hasNextPage: Boolean! endCursor: String }
  type Payments { nodes: [Payment!]! pageInfo: PageInfo! }
  type Query { payments(first: Int!): Payments! }`);
const inGraph = (row: PaymentRow & { readonly created_at?: Date }) => ({
  id: row.id,
  status: row.status,
  amount: Number(row.amount),
  createdAt: row.created_at?.toISOString(),
  shop: { id: SHOP, name: 'Tea & Cakes' },
});
const rootValue = {
  payments: async ({ first: count }: { readonly first: number }) => {
    const { rows, cursor } = await page('payment', { limit: String(count) });
    return {
      nodes: rows.map(inGraph),
      pageInfo: { hasNextPage: cursor !== null, endCursor: cursor },
    };
  },
};
app.post<{ Body: { readonly query: string; readonly variables?: Record<string, unknown> } }>(
  '/graphql',
  ({ body: { query, variables } }) =>
    graphql({ schema, source: query, rootValue, variableValues: variables ?? {} }),
);

process.once('disconnect', () => process.exit(0));
origin = await app.listen({ host: '127.0.0.1', port: 0 });
process.send?.(origin);
void deliver();
