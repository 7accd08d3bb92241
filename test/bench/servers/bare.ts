/**
 * The baseline over PostgreSQL: the same statements under the same names, on a pool of the same
 * size, the same JSON. Takes DATABASE_URL, POOL, MERCHANT, SHOP.
 */
import pg from 'pg';
import { paymentJson, type PaymentFieldsFragment } from '../../../schema/wire.ts';
import { serve } from '../child-server.ts';
import { createStatement, fillOf, readStatement, type CreateFields } from '../sent-statement.ts';
import { openBareRoutes } from './bare-routes.ts';

const {
  DATABASE_URL: connectionString,
  POOL,
  MERCHANT: merchantId = '',
  SHOP: shopId = '',
} = process.env;
const pool = new pg.Pool({ connectionString, max: Number(POOL), min: 0 });
const [create, read] = await Promise.all([
  createStatement({ merchantId, shopId }),
  readStatement(),
]);
const valuesOf = fillOf(create, { merchantId, shopId });

/** Rows as pg gives them: whole numbers of eight bytes as texts, moments as Date. */
type PaymentRow = Omit<
  PaymentFieldsFragment,
  | 'amount'
  | 'amountCapturable'
  | 'amountCaptured'
  | 'amountRefunded'
  | 'capture'
  | 'fee'
  | 'net'
  | 'refunds'
> & {
  readonly amount: string;
  readonly amountRefunded: string;
  readonly capture: 'manual' | null;
  readonly fee: string | null;
  readonly plannedOutcome: string | null;
};

/** What the bench creates and reads has not been paid: it has neither a hold nor refunds. */
const json = (row: PaymentRow): object =>
  paymentJson({
    ...row,
    amount: Number(row.amount),
    capture: row.capture ?? 'automatic',
    amountCapturable: 0,
    amountCaptured: 0,
    amountRefunded: Number(row.amountRefunded),
    fee: row.fee === null ? null : Number(row.fee),
    net: row.fee === null ? null : Number(row.amount) - Number(row.fee),
    refunds: [],
  });

const createPayment = async (body: CreateFields): Promise<object> => {
  const [row] = (
    await pool.query<PaymentRow>({
      name: create.name,
      text: create.text,
      values: valuesOf(body, new Date()),
    })
  ).rows;
  if (!row) throw new Error('no payment was created');
  return {
    payment: json(row),
    payment_url: `https://pay.example/pay/${row.id}`,
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
  const [row] = (
    await pool.query<PaymentRow>({ name: read.name, text: read.text, values: [merchantId, id] })
  ).rows;
  if (!row) throw new Error('there is no such payment');
  return json(row);
};

await serve(openBareRoutes({ create: createPayment, read: readPayment }));
