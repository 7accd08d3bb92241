/** The baseline over PostgreSQL: the same statements under the same names, on a pool of the same size, the same JSON. Takes DATABASE_URL, POOL, MERCHANT, SHOP. */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { paymentJson, type PaymentFieldsFragment } from '../../../schema/wire.ts';
import { serve } from '../child-server.ts';
import { createStatement, readStatement, refundsStatement } from '../sent-statement.ts';
import { openBareRoutes, type CreateBody } from './bare-routes.ts';

const { DATABASE_URL: connectionString, POOL, MERCHANT: merchantId = '', SHOP: shopId = '' } = process.env;
const pool = new pg.Pool({ connectionString, max: Number(POOL), min: 0 });
const [create, read, refunds] = await Promise.all([createStatement({ merchantId, shopId }), readStatement(), refundsStatement()]);

/** Rows as pg gives them: whole numbers of eight bytes as texts, moments as Date. */
type PaymentRow = Omit<PaymentFieldsFragment, 'amount' | 'amountRefunded' | 'fee' | 'net' | 'refunds'> & {
  readonly amount: string;
  readonly amountRefunded: string;
  readonly fee: string | null;
  readonly plannedOutcome: string | null;
};
type RefundRow = Omit<PaymentFieldsFragment['refunds'][number], 'amount'> & { readonly amount: string };

const json = (row: PaymentRow, rows: readonly RefundRow[]): object =>
  paymentJson({
    ...row,
    amount: Number(row.amount),
    amountRefunded: Number(row.amountRefunded),
    fee: row.fee === null ? null : Number(row.fee),
    net: row.fee === null ? null : Number(row.amount) - Number(row.fee),
    refunds: rows.map((refund) => ({ ...refund, amount: Number(refund.amount), failReason: refund.failReason ?? '' })),
  });

const linkTtl_ms = 3_600_000;

const createPayment = async (body: CreateBody): Promise<object> => {
  const now = new Date();
  const id = randomUUID();
  const metadata = JSON.stringify({ ...body.metadata, mode: 'test', simulator_outcome: 'succeeded' });
  const terms = [merchantId, id, shopId, 'test', body.order_id, body.amount, 'RUB', 'any', body.return_url, null, body.description, null, metadata];
  const expiresAt = new Date(now.getTime() + linkTtl_ms).toISOString();
  const values = [...terms, now.toISOString(), expiresAt, randomUUID(), null, null, 'succeeded', null];
  const [row] = (await pool.query<PaymentRow>({ name: create.name, text: create.text, values })).rows;
  if (!row) throw new Error('no payment was created');
  return {
    payment: json(row, []),
    payment_url: `https://pay.example/pay/${id}`,
    mode: 'test',
    idempotent: false,
    simulator: row.plannedOutcome,
    bank: null,
    bank_ref: null,
    failure_code: null,
    failure_message: null,
  };
};

const readPayment = async (id: string): Promise<object> => {
  const values = [[merchantId], [id]];
  const [row] = (await pool.query<PaymentRow>({ name: read.name, text: read.text, values })).rows;
  if (!row) throw new Error('there is no such payment');
  const found = await pool.query<RefundRow>({ name: refunds.name, text: refunds.text, values });
  return json(row, found.rows);
};

await serve(openBareRoutes({ create: createPayment, read: readPayment }));
