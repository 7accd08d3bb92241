/**
 * Searches payments, for operators and cabinet users. Fields that nearly identify a payment (id,
 * public id, order id, customer, rrn) have an index. A search only by card, amount, status and days
 * is a filtered list over at most 31 days, with the same limit on rows. Newest first, by keyset.
 */
import type { PaymentSearchInput } from '../../schema/generated/payments.ts';
import {
  pageOf,
  pageRange,
  spanOf,
  type Page,
  type PageQuery,
  type PageRange,
  type Span,
} from '../platform/database/keyset.ts';
import { readSearch, runUnnamed } from '../platform/database/lists.ts';
import { Parameters, withinSpan, type RowFilter } from '../platform/database/list-statements.ts';
import type { Reach } from '../platform/database/reach.ts';
import { columns, type Runner } from '../platform/database/statement.ts';
import { uuidInAnyCase } from '../rules/ids.ts';
import { isRefusal, refuse, type Refusal } from '../rules/refusal.ts';
import type { Payment } from './entities.ts';
import { paymentTable } from './find-payments.ts';
import { paymentNames } from './store-payment.ts';

// The conditions of a search. A malformed value is refused, instead of finding nothing.

/** How many days a search may walk through when nothing in it has an index of its own. */
const searchSpan_days = 31;

const shapes = {
  id: [uuidInAnyCase, 'a UUID'],
  publicId: [/^P-\d{1,18}$/, 'P-<digits>'],
  orderId: [/^[^\0\p{Cs}]{1,500}$/su, '1 to 500 characters'],
  customerId: [/^[^\0\p{Cs}]{1,500}$/su, '1 to 500 characters'],
  rrn: [/^[0-9A-Za-z]{1,40}$/, 'up to 40 letters and digits'],
  cardMask: [/^\d{4}$/, 'the last 4 digits of a card'],
} as const satisfies Partial<Record<keyof PaymentSearchInput, readonly [RegExp, string]>>;

/**
 * Whether something is asked for that has an index of its own, or lies in the span that one may
 * walk through.
 */
const isExact = ({ id, publicId, orderId, customerId, rrn }: PaymentSearchInput): boolean =>
  [id, publicId, orderId, customerId, rrn].some((value) => value !== null && value !== undefined);

/** The first mistake in a search, with its field; null if there is none. */
const searchMistake = (search: PaymentSearchInput): string | null => {
  for (const name of ['id', 'publicId', 'orderId', 'customerId', 'rrn', 'cardMask'] as const) {
    const value = search[name];
    const [shape, expected] = shapes[name];
    if (value !== null && value !== undefined && !shape.test(value))
      return `search.${name}: expected ${expected}`;
  }
  const { amount, status } = search;
  if (amount !== null && amount !== undefined && amount < 1n)
    return `search.amount: expected an integer from 1 to 2^53-1, got ${amount}`;
  return status?.length === 0 ? 'search.status: expected at least one status' : null;
};

const found = columns(paymentNames, 'payment');

/** Parameters, and the conditions that name them. */
class Conditions extends Parameters {
  readonly texts: string[] = [];

  /** Adds a condition about a value that is given; `text` gets its `$n`. */
  ifGiven(value: unknown, text: (parameter: string) => string): void {
    if (value !== null && value !== undefined) this.texts.push(text(this.add(value)));
  }
}

const criteria = (
  where: Conditions,
  search: PaymentSearchInput,
  span: Span,
  range: PageRange,
): void => {
  where.ifGiven(search.id, (id) => `payment.id = ${id}::uuid`);
  where.ifGiven(search.publicId, (publicId) => `payment.public_id = ${publicId}`);
  where.ifGiven(search.orderId, (orderId) => `payment.order_id = ${orderId}`);
  where.ifGiven(search.customerId, (customerId) => `payment.customer_id = ${customerId}`);
  where.ifGiven(search.rrn, (rrn) => `payment.rrn = ${rrn}`);
  where.ifGiven(search.cardMask, (digits) => `right(payment.customer_card_mask, 4) = ${digits}`);
  where.ifGiven(search.amount, (amount) => `payment.amount = ${amount}::int8`);
  where.ifGiven(search.status, (status) => `payment.status = any (${status}::text[])`);
  where.texts.push(...withinSpan(paymentTable, span, range, where));
};

/** SQL: the criteria over a merchant's rows, found by their own index. */
const overIndex = (where: Conditions, reach: Reach): string => {
  where.ifGiven(reach.merchantId, (id) => `payment.merchant_id = ${id}::uuid`);
  where.ifGiven(reach.shopIds, (ids) => `payment.shop_id = any (${ids}::uuid[])`);
  where.ifGiven(reach.modes, (modes) => `payment.mode = any (${modes}::text[])`);
  return `payment where ${where.texts.join(' and ')}`;
};

/** The criteria over days of the registry: in bounded steps where no index helps with them. */
const inDays = (
  runner: Runner,
  reach: Reach,
  search: PaymentSearchInput,
  { span, page }: { readonly span: Span; readonly page: PageQuery },
): Promise<Page<Payment> | Refusal> => {
  const { cardMask, amount, status } = search;
  const rows: readonly RowFilter[] = [
    { sql: (digits) => `right(payment.customer_card_mask, 4) = ${digits}`, value: cardMask },
    { sql: (value) => `payment.amount = ${value}::int8`, value: amount },
  ];
  return readSearch<Payment>(
    runner,
    { table: paymentTable, columns: columns(paymentNames) },
    {
      page,
      reach,
      span,
      columns: { status },
      rows,
      asked: ['search', span, status ?? null, cardMask ?? null, amount?.toString() ?? null],
    },
  );
};

/**
 * SQL: the criteria over all merchants. The primary key begins with the merchant: an id is looked
 * up under each, which spares an index over random ids.
 */
const overMerchants = (where: Conditions, search: PaymentSearchInput): string =>
  search.id
    ? `merchant cross join lateral (select * from payment where payment.merchant_id = merchant.id and ${where.texts.join(' and ')}) payment`
    : `payment where ${where.texts.join(' and ')}`;

const tooWide = (search: PaymentSearchInput, { since, until }: Span): Refusal | null => {
  if (isExact(search)) return null;
  if (!since || !until)
    return refuse(
      'bad_request',
      'search: expected an id, publicId, orderId, customerId or rrn, or the days from and to',
    );
  const fits = since.until(until).total('hours') <= searchSpan_days * 24;
  return fits
    ? null
    : refuse(
        'bad_request',
        `search: without an id, publicId, orderId, customerId or rrn, from and to may be at most ${searchSpan_days} days apart`,
      );
};

/**
 * A page of results within the caller's reach. `reach` null: all merchants, by id and public id
 * only. Refuses a malformed search with `bad_request`.
 */
export const searchPayments = async (
  runner: Runner,
  reach: Reach | null,
  search: PaymentSearchInput,
  query: PageQuery,
): Promise<Page<Payment> | Refusal> => {
  const mistake = searchMistake(search);
  if (mistake) return refuse('bad_request', mistake);
  if (!reach && !search.id && !search.publicId)
    return refuse('bad_request', 'merchantId: required, except for a search by id or public id');
  const bound = ['payment_search', reach, { ...search, amount: search.amount?.toString() }];
  const span = spanOf(search.from, search.to);
  if (isRefusal(span)) return span;
  const wide = tooWide(search, span);
  if (wide) return wide;
  if (reach && !isExact(search)) return inDays(runner, reach, search, { span, page: query });
  const range = pageRange(query, bound);
  if (isRefusal(range)) return range;
  const where = new Conditions();
  const limit = where.add(range.size + 1);
  const order = range.backwards ? 'asc' : 'desc';
  criteria(where, search, span, range);
  const rows = reach ? overIndex(where, reach) : overMerchants(where, search);
  const text = `select ${found} from ${rows} order by payment.created_at ${order}, payment.id ${order} limit ${limit}`;
  return pageOf(await runUnnamed<Payment>(runner, { text, values: where.values }), range);
};
