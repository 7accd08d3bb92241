/**
 * One row of a merchant's shop in every table that holds a merchant's data, found in the database
 * itself: a table of tomorrow is planted, too. What is planted is unlike anything else, so that
 * wherever it turns up it is known where it came from.
 */
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { scopes } from '../../subgraphs/platform/access/principal.ts';

/**
 * Values of closed lists: a column's, or a table's column. What is not named here gets a text that
 * gives its row away.
 */
const closed: Readonly<Record<string, unknown>> = {
  mode: 'test',
  purpose: 'payments',
  currency: 'RUB',
  method: 'cards',
  status: 'succeeded',
  type: 'payment',
  from_account: 'bank_clearing',
  to_account: 'merchant',
  account: 'merchant',
  period: 'month',
  signature: 'v2',
  stream_kind: 'payment.created',
  webhook_event: 'payment.succeeded',
  scopes: [...scopes],
  events: [],
  planned_outcome: 'succeeded',
  step: 'wait',
  fail_reason: null,
  failure_code: null,
  planned_failure_code: null,
  revoked_at: null,
  deleted_at: null,
  lease_until: null,
  ask_at: null,
  customer_card_mask: null,
  'webhook_attempt.status': 500,
  'api_request.status': 400,
  'payment.on_decline': 'stay',
  'payment_note.number': 1,
  'payout.method': 'payouts_sbp',
  'refund_draft.status': 'rejected',
  'refund_draft.refusal_code': 'already_refunded',
  'payout_draft.method': 'payouts_sbp',
  'payout_draft.status': 'rejected',
  'payout_draft.refusal_code': 'insufficient_balance',
  'token.status': 'active',
  'payment.kind': 'token_charge',
  'payment.capture': null,
  'payment.amount_captured': null,
  'payment.hold_order': null,
  'payment.hold_key': null,
  'simulator_hold_order.kind': 'release',
  'event.follower': null,
  'payment_link.status': 'active',
  'receipt.status': 'registered',
  'receipt.refund_id': null,
  'receipt.failure_reason': null,
  'receipt.items': '[]',
  'receipt_terms.items': '[]',
  'payment_link.capture': null,
  'consumer_retry.consumer': 'recurring',
  'posting.from_account': 'suspense',
  'posting.to_account': 'merchant',
  'counted_fact.kind': 'payment',
  'counted_fact.failure_code': '',
  'hourly_total.kind': 'payment',
  'hourly_total.failure_code': '',
  'subscription.status': 'active',
  'subscription.failures': 0,
  'subscription_charge.failure_code': null,
  'subscription_charge.kind': 'subscription_charge',
  'subscription_charge.period': 1,
  'webhook_delivery.status': 'failed',
  'shop.allow_list': [],
  // People give back parts without a receipt here.
  'shop.receipts_required': false,
  'rate.rate_bps': 321,
  // A balance is the sum of both.
  'balance_delta.amount': 0,
  'merchant.support_refund_max': 0,
  'merchant.rate_per_second': 77,
  'merchant.rate_burst': 78,
  'alert.kind': 'late_success',
  'reconciliation_difference.kind': 'missing_here',
  'simulator_callback.kind': 'decision',
};

/** Columns, or a table's column, that name a row of another table. */
const pointsTo: Readonly<Record<string, string>> = {
  subject_id: 'payment',
  resource_id: 'payment',
  source_id: 'payment',
  endpoint_id: 'webhook_endpoint',
  link_id: 'payment_link',
  terms_id: 'payment',
  receipt_terms_id: 'payment',
  capture_terms_id: 'payment',
  delivery_id: 'webhook_delivery',
  shop_id: 'shop',
  merchant_id: 'merchant',
  // The id alone is the merchant's, as the schedule of a subscription says: the payment behind it
  // is its shop's.
  'subscription_charge.payment_id': 'charged_payment',
};

interface Column {
  readonly table_name: string;
  readonly column_name: string;
  readonly udt_name: string;
  readonly is_identity: string;
  readonly column_default: string | null;
}

const columnsOf = `select table_name, column_name, udt_name, is_identity, column_default from information_schema.columns
  where table_schema = 'public'
    and table_name in (select table_name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE')
    and (table_name = 'merchant' or table_name in
    (select table_name from information_schema.columns where table_schema = 'public' and column_name = 'merchant_id'))
  order by table_name, ordinal_position`;

let amounts = 7_100_000_000n;
let numbers = 5_000_000;

export interface Planted {
  readonly name: string;
  /** The id of its row in a table. */
  id(table: string): string;
  /** Everything that gives its rows away, with the table it is of. */
  readonly marks: ReadonlyMap<string, string>;
}

/** What there is of one owner: ids by table, and marks. */
const openPlot = (name: string, fixed: Readonly<Record<string, string>>) => {
  const ids = new Map<string, string>(Object.entries(fixed));
  const marks = new Map<string, string>();
  const id = (table: string): string => {
    const known = ids.get(table);
    if (known) return known;
    const made = randomUUID();
    ids.set(table, made);
    marks.set(made, table);
    return made;
  };
  for (const [table, value] of Object.entries(fixed)) marks.set(value, table);
  const mark = (table: string, value: string): string => {
    marks.set(value, table);
    return value;
  };
  return { name, id, marks, mark };
};

type Plot = ReturnType<typeof openPlot>;

const uuidFor = (plot: Plot, { table_name: table, column_name: column }: Column): string => {
  if (column === 'id') return plot.id(table);
  return plot.id(pointsTo[`${table}.${column}`] ?? pointsTo[column] ?? column.replace(/_id$/, ''));
};

const valueFor = (plot: Plot, column: Column): unknown => {
  const { table_name: table, column_name: name, udt_name: type } = column;
  const exact = `${table}.${name}`;
  if (Object.hasOwn(closed, exact)) return closed[exact];
  if (Object.hasOwn(closed, name)) return closed[name];
  switch (type) {
    case 'uuid':
      return uuidFor(plot, column);
    case 'text':
    case 'varchar':
      return plot.mark(table, `${plot.name}-${table}-${name}`);
    case 'int8':
      amounts -= 1_000_001n;
      return plot.mark(table, String(amounts));
    case 'int4':
      numbers += 1;
      return numbers;
    case 'float8':
    case 'numeric':
      return 12.5;
    case 'bool':
      return true;
    case 'json':
    case 'jsonb':
      return JSON.stringify({ planted: plot.mark(table, `${plot.name}-${table}-${name}`) });
    case '_text':
      return [plot.mark(table, `${plot.name}-${table}-${name}`)];
    case 'timestamptz':
      return new Date();
    default:
      throw new Error(
        `${exact} has the type ${type}, and there is no rule for what to plant there`,
      );
  }
};

// Amounts descend, so that what was given back and the fee are less than the amount: it comes first
// in its table.
const plantRow = async (
  pool: pg.Pool,
  plot: Plot,
  table: string,
  columns: readonly Column[],
): Promise<void> => {
  const set = columns.filter(
    ({ is_identity, column_default }) =>
      is_identity === 'NO' && !column_default?.startsWith('nextval'),
  );
  const names = set.map(({ column_name }) => `"${column_name}"`).join(', ');
  const places = set.map((_, index) => `$${index + 1}`).join(', ');
  await pool
    .query(
      `insert into ${table} (${names}) values (${places})`,
      set.map((column) => valueFor(plot, column)),
    )
    .catch((error: unknown) => {
      throw new Error(`nothing could be planted in ${table}: ${String(error)}`, { cause: error });
    });
};

/**
 * Plants a row in every table, or in those named; `merchant` and `shop` are the ids it hangs on.
 * Fails on a table that refuses what is planted: then `closed` above needs a line.
 */
export const plant = async (
  pool: pg.Pool,
  name: string,
  fixed: { readonly merchant: string; readonly shop: string },
  only?: readonly string[],
): Promise<Planted> => {
  const plot = openPlot(name, fixed);
  const { rows } = await pool.query<Column>(columnsOf);
  const tables = Map.groupBy(rows, ({ table_name }) => table_name);
  for (const [table, columns] of tables)
    if (!only || only.includes(table)) await plantRow(pool, plot, table, columns);
  return plot;
};

/**
 * Rows that hang on a payment are copied with it, so that each payment has its own; the others
 * stand for themselves.
 */
const copies: Readonly<Record<string, string>> = {
  payment: `'id', copy.id, 'public_id', 'P-' || copy.number`,
  event: `'id', copy.id, 'subject_id', copy.id, 'position', 1000 + copy.number, 'sequence', 1000 + copy.number`,
  refund: `'id', copy.id, 'payment_id', copy.id`,
  posting: `'id', copy.id, 'payment_id', copy.id, 'source_id', copy.id`,
  webhook_delivery: `'id', copy.id, 'event_id', copy.id, 'subject_id', copy.id`,
  webhook_attempt: `'delivery_id', copy.id`,
  payout: `'id', copy.id`,
  token: `'id', copy.id`,
  subscription: `'id', copy.id, 'token_id', copy.id`,
  subscription_charge: `'subscription_id', copy.id, 'payment_id', copy.id`,
};

/** Plants a merchant's rows and copies those of lists until there are so many. */
export const plantMany = async (
  pool: pg.Pool,
  name: string,
  rows: number,
  firstNumber: number,
): Promise<Planted> => {
  const plot = await plant(pool, name, { merchant: randomUUID(), shop: randomUUID() });
  // A shop with a test clock asks what it shows, at every call: that is not what is counted here.
  await pool.query('delete from test_clock where merchant_id = $1', [plot.id('merchant')]);
  const ids = Array.from({ length: rows - 1 }, () => randomUUID());
  for (const [table, changes] of Object.entries(copies)) {
    await pool.query(
      `insert into ${table} select changed.* from ${table} as original, unnest($2::uuid[]) with ordinality as copy(id, place),
         lateral (select copy.id, $3 + copy.place as number) as numbered,
         lateral jsonb_populate_record(original, jsonb_build_object(${changes.replaceAll('copy.number', 'numbered.number')})) as changed
       where original.merchant_id = $1`,
      [plot.id('merchant'), ids, firstNumber],
    );
  }
  return plot;
};

/** Names of all tables that hold a merchant's data. */
export const merchantTables = async (pool: pg.Pool): Promise<readonly string[]> => {
  const { rows } = await pool.query<Column>(columnsOf);
  return [...new Set(rows.map(({ table_name }) => table_name))];
};

/**
 * All rows of a merchant that count, as one text: equal before and after when nothing was changed.
 */
export const pictureOf = async (
  pool: pg.Pool,
  merchantId: string,
  counts: (table: string, row: Readonly<Record<string, unknown>>) => boolean,
): Promise<string> => {
  const tables = await merchantTables(pool);
  const pictures = await Promise.all(
    tables.map(async (table) => {
      const key = table === 'merchant' ? 'id' : 'merchant_id';
      const text = `select to_jsonb(t) as row from ${table} t where ${key} = $1 order by 1::text`;
      const { rows } = await pool.query<{ row: Record<string, unknown> }>(text, [merchantId]);
      return `${table}: ${JSON.stringify(rows.filter(({ row }) => counts(table, row)))}`;
    }),
  );
  return pictures.join('\n');
};
