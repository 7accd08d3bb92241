/**
 * Creates a payment (docs/contract.md#when-the-bank-is-called). For a live payment with a fixed
 * method, the acquirer is chosen first, so that a payment without one is never created. If the
 * acquirer accepts orders before the buyer comes, it receives the order at once.
 */
import type pg from 'pg';
import type { Bank } from '../acquirers/bank.ts';
import {
  openReadTerms,
  givenReceipt,
  termsRow,
  type GivenReceipt,
} from '../acquirers/receipt-terms.ts';
import type { Banks } from '../acquirers/route.ts';
import type { KeyPrincipal } from '../platform/access/principal.ts';
import {
  answerUnderKey,
  claimOf,
  madeOnce,
  type IdempotencyArgument,
  type IdempotencyClaim,
} from '../platform/database/idempotency.ts';
import type { Database } from '../platform/database/orm.ts';
import { pageAddress, type PageDeps } from '../platform/access/keys.ts';
import { checkOwnUrl, type TargetSwitch } from '../platform/http/webhook-url.ts';
import type { PolicyLists } from '../platform/policies/policies.ts';
import { defaultCurrency } from '../rules/money.ts';
import { receiptCurrencyMistake, receiptMistake, sumMistake } from '../rules/receipt.ts';
import { isRefusal, refuse, type Refusal } from '../rules/refusal.ts';
import { createEarlyOrder, earlyMethod } from './bank-answers/create-early-order.ts';
import type { CaptureMode } from './rules/amounts.ts';
import {
  buyerMethod,
  paymentDefaults,
  paymentTerms,
  type PaymentInput,
  type PaymentTerms,
} from './rules/create.ts';
import type { PaymentMethod } from './rules/payment.ts';
import { type Payment, PaymentEntity } from './entities.ts';
import type { PaymentsDeps, SellingShop } from './parts.ts';
import { findPayment, type RatedPayment } from './store-payment.ts';
import { ReceiptTermsEntity, type NewTerms } from '../acquirers/entities.ts';
import { batched } from '../platform/database/batch-calls.ts';
import { numberForShard, runRows, sqlFile } from '../platform/database/sql-file.ts';
import { newRowId, propertyNames, rowJson } from '../platform/database/statement.ts';
import { rememberTrace } from '../platform/database/subject-trace.ts';

// The one writer of a new payment: of a merchant's own, and of one of a saved method. Payments of
// one merchant that are made at the same moment share a statement.

const create = sqlFile(import.meta.dirname, 'create-payment.sql');

const termsNames = propertyNames(ReceiptTermsEntity);

/** What a merchant's own payment is created with. */
const merchantNames = [
  'merchantId',
  'id',
  'shopId',
  'mode',
  'orderId',
  'amount',
  'capture',
  'currency',
  'method',
  'status',
  'returnUrl',
  'onDecline',
  'webhookUrl',
  'description',
  'customerId',
  'metadata',
  'createdAt',
  'expiresAt',
  'plannedOutcome',
  'plannedFailureCode',
  'amountUsdt',
  'receiptTermsId',
  'madeByKey',
] as const satisfies readonly (keyof Payment)[];

/** What a payment of a saved method is created with. */
export const recurringNames = [
  ...merchantNames,
  'kind',
  'tokenId',
  'subscriptionId',
  'verification',
  'savedReference',
  'connector',
  'bankName',
  'processingUntil',
  'askAt',
] as const satisfies readonly (keyof Payment)[];

/** A merchant's own payment before it is a row. */
export type NewPayment = Pick<Payment, (typeof merchantNames)[number]>;
/** A payment of a saved method before it is a row. */
export type NewRecurringPayment = Pick<Payment, (typeof recurringNames)[number]>;

/** A payment to write, with the claim of its key and the terms of its receipt, if it has them. */
interface Insertion {
  readonly payment: NewPayment | NewRecurringPayment;
  readonly claim: IdempotencyClaim | null;
  readonly terms: NewTerms | null;
}

type Drawn = Pick<Payment, 'id' | 'publicId' | 'terminalId' | 'terminalName' | 'shopName'> & {
  readonly rateBps: number | null;
};

const sentRow = ({ payment, claim, terms }: Insertion): object => ({
  ...rowJson('kind' in payment ? recurringNames : merchantNames, payment),
  event_id: newRowId(),
  ...(claim && {
    key: claim.key,
    fingerprint: claim.fingerprint,
    request: claim.request,
    asks_later: claim.asksLater,
  }),
  ...(terms && { terms: rowJson(termsNames, terms) }),
});

/** What a payment has before anything is chosen. */
const blank: object = {
  ...Object.fromEntries(propertyNames(PaymentEntity).map((name) => [name, null])),
  version: 1,
  amountRefunded: 0n,
  verification: false,
};

/** A moment as it is stored: in milliseconds. */
const storedMoment = (value: unknown): unknown =>
  value instanceof Temporal.Instant
    ? Temporal.Instant.fromEpochMilliseconds(value.epochMilliseconds)
    : value;

const createdPayment = (payment: Insertion['payment'], drawn: Omit<Drawn, 'rateBps'>): Payment => {
  const created: Record<string, unknown> = { ...blank };
  for (const [name, value] of Object.entries(payment)) created[name] = storedMoment(value);
  return Object.assign(created, drawn) as Payment;
};

/**
 * Writes payments of one merchant; null for one that was not written. One payment waits for the
 * holder of its key; of several, one with a key is `left`, since that may be about to be taken.
 */
const insertAll = async (
  pool: pg.Pool,
  insertions: readonly Insertion[],
): Promise<readonly (RatedPayment | 'left' | null)[]> => {
  const merchantId = insertions[0]?.payment.merchantId ?? '';
  const rows = insertions.map(sentRow);
  await numberForShard(pool, rows, 'public_number', 'payment_public_id');
  await numberForShard(pool, rows, 'position', 'event_position_seq');
  const isAlone = insertions.length === 1;
  const created = await runRows<Drawn>(pool, create, merchantId, rows, isAlone);
  const left = new Map(created.map(({ rateBps, ...drawn }) => [drawn.id, { rateBps, drawn }]));
  return insertions.map(({ payment, claim }) => {
    const found = left.get(payment.id);
    // Of two calls with one id, the first has made it.
    left.delete(payment.id);
    if (!found) return claim && !isAlone ? 'left' : null;
    return { payment: createdPayment(payment, found.drawn), rateBps: found.rateBps };
  });
};

const insertGathered = batched<Insertion, RatedPayment | null>({
  name: create.name,
  callerOf: ({ payment }) => payment.merchantId,
  run: insertAll,
});

/**
 * Writes a payment, and reads the rate of one of a saved method; null when the key is taken, a
 * payment with its id exists, or the shop does not exist any more.
 */
export const insertPayment = async (
  { pool }: Pick<Database, 'pool'>,
  insertion: Insertion,
): Promise<RatedPayment | null> => {
  const { merchantId, id: subjectId } = insertion.payment;
  await rememberTrace(pool, { merchantId, subjectId });
  return insertGathered(pool, insertion);
};

interface CreatedPayment {
  readonly payment: Payment;
  /** Whether an earlier call with the same key created it. */
  readonly replayed: boolean;
}

export interface PaymentRequest {
  /** The payment's id, where the service itself asks for it; a new one when absent. */
  readonly id?: string;
  readonly input: PaymentInput;
  /** Why none may be created now; a replay is answered nevertheless. */
  readonly unmade?: Refusal | null;
  /**
   * Stored terms of the object that creates the payment; null or absent: its own terms, or none.
   */
  readonly receiptTermsId?: string | null;
  readonly idempotency?: IdempotencyArgument;
}

/** What `createPayment` finds out before the payment is written. */
interface Prepared {
  /** Why no bank serves the method. */
  readonly unserved?: Refusal | null;
  readonly receipt?: GivenReceipt | null;
  /** The phone of the customer whose receipt it gets, by its own terms or by kept ones. */
  readonly phone?: string | null;
  /** Why no webhook can go where `input.webhookUrl` says. */
  readonly unreachable?: Refusal | null;
  /** Whether its bank is given the order before the call is answered. */
  readonly ordersEarly?: boolean;
}

/** The refusal by the operator's lists; null if they allow the terms. */
export const policyRefusal = (
  policies: PolicyLists,
  { merchantId }: Pick<KeyPrincipal, 'merchantId'>,
  { description, metadata }: Pick<PaymentTerms, 'description' | 'metadata'>,
  /** The phone of the customer of its receipt; null: it has none. */
  phone: string | null,
): Refusal | null => {
  const customer = metadata['customer_id'];
  if (customer !== undefined && policies.isBlocked(merchantId, 'customer', customer))
    return refuse('aml_blocked', 'payments from this customer are not accepted');
  if (phone !== null && policies.isBlocked(merchantId, 'phone', phone))
    return refuse(
      'aml_blocked',
      'receipt.customer.phone: payments from this phone are not accepted',
    );
  const purpose = description === null ? null : policies.forbiddenIn(description);
  return purpose === null
    ? null
    : refuse(
        'forbidden_purpose',
        `description: payments for this purpose are not accepted: ${purpose}`,
      );
};

const claimOfPayment = ({ input, idempotency }: PaymentRequest, ordersEarly: boolean) =>
  claimOf(idempotency, 'paymentCreate', input, ordersEarly);

/** Writes a payment of the key's shop, or finds the one that an earlier call with the key wrote. */
export const recordPayment = async (
  database: Database,
  policies: PolicyLists,
  key: SellingShop,
  request: PaymentRequest & Prepared,
  now: Temporal.Instant,
): Promise<CreatedPayment | Refusal> => {
  const { id = newRowId(), input, receiptTermsId = null, unmade = null } = request;
  const { unserved = null, unreachable = null, receipt = null } = request;
  const { phone = null, ordersEarly = false } = request;
  const claim = claimOfPayment(request, ordersEarly);
  if (isRefusal(claim)) return claim;
  const terms = paymentTerms(input, key.mode, id, now);
  if (isRefusal(terms)) return terms;
  const sums = receipt && sumMistake(receipt.terms, terms.amount);
  if (sums) return sums;
  const find = async (paymentId: string): Promise<Payment | null> =>
    (await findPayment(database.pool, { merchantId: key.merchantId, paymentId }, now))?.payment ??
    null;
  // What was created before it would be refused is still answered to a repeated call.
  const refusal =
    unreachable ??
    receiptMistake(key, receipt) ??
    (receipt && receiptCurrencyMistake(terms.currency)) ??
    policyRefusal(policies, key, terms, phone) ??
    unserved ??
    unmade;
  const { plan, ...columns } = terms;
  const payment = {
    ...columns,
    id,
    merchantId: key.merchantId,
    shopId: key.shopId,
    mode: key.mode,
    status: 'pending',
    createdAt: now,
    plannedOutcome: plan?.outcome ?? null,
    plannedFailureCode: plan?.failureCode ?? null,
    amountUsdt: policies.inUsdt(terms.amount, terms.currency, now),
    receiptTermsId: receipt ? id : receiptTermsId,
    madeByKey: key.keyId ?? null,
  } as const;
  const receiptRow = receipt && termsRow(receipt, { ...payment, subjectId: id, paymentId: id });
  const insertion = { payment, claim, terms: receiptRow };
  const make = async () =>
    refusal ? null : ((await insertPayment(database, insertion))?.payment ?? null);
  const created = await madeOnce(database.pool, { caller: key, claim, find }, make);
  if (!created) return refusal ?? refuse('not_found', 'the shop of this key no longer exists');
  return isRefusal(created) ? created : { payment: created.made, replayed: created.replayed };
};

export type CreatingDeps = PageDeps &
  TargetSwitch &
  Pick<PaymentsDeps, 'database' | 'customers' | 'banks' | 'policies'>;

const unreachableTarget = (
  { privateTargets }: TargetSwitch,
  { mode }: SellingShop,
  { webhookUrl }: PaymentInput,
): Refusal | null => {
  if (typeof webhookUrl !== 'string') return null;
  const mistake = checkOwnUrl(webhookUrl, { privateTargets: privateTargets(), mode });
  return mistake === null ? null : refuse('bad_request', `webhook_url: ${mistake}`);
};

/** The phone of the customer of kept terms; null without one, without terms, or once it was erased. */
export const phoneOfTerms = async (
  { database, customers }: Pick<CreatingDeps, 'database' | 'customers'>,
  { merchantId }: Pick<KeyPrincipal, 'merchantId'>,
  termsId: string | null,
): Promise<string | null> => {
  if (termsId === null) return null;
  return (await openReadTerms(database.pool, customers)(merchantId, termsId)).customer.phone;
};

// Chooses the acquirer of a live payment with a fixed method when it is created, so that a method
// without an acquirer is refused then and not on the page. The session is opened when the buyer
// continues: an acquirer such as YooKassa gives the buyer an hour, which must not run while the
// link waits.

/** What a bank must take. */
interface Served {
  readonly method: PaymentMethod;
  readonly currency: string;
  readonly capture: CaptureMode;
}

type ShopInMode = Parameters<Banks['liveModeRefusal']>[0] & { readonly shopId: string };

/**
 * Why no method of the shop takes the currency of a payment whose buyer chooses the method, or pays
 * by card; null when one does. Roubles may wait for a method that comes later.
 */
const currencyRefusal = async (
  banks: Pick<Banks, 'offered'>,
  shop: ShopInMode,
  { method, currency, capture }: Served,
): Promise<Refusal | null> => {
  if (currency === defaultCurrency) return null;
  const holds = capture === 'manual';
  const offered = await banks.offered({ ...shop, currency, holds });
  const isTaken = method === 'any' ? offered.length > 0 : offered.includes('cards');
  return isTaken
    ? null
    : refuse('method_unsupported', `no payment method of the shop supports ${currency}`);
};

/**
 * The bank, or `route_not_configured` or `method_unsupported`, also where it does not take the
 * currency; null in test mode and where the buyer chooses the method. A bank of a manual capture
 * must hold the money.
 */
export const servingBank = async (
  banks: Pick<Banks, 'route' | 'offered'>,
  { merchantId, shopId, mode }: ShopInMode,
  served: Served,
): Promise<Bank | Refusal | null> => {
  const { currency, capture } = served;
  const method = buyerMethod(served.method);
  if (!method) return currencyRefusal(banks, { merchantId, shopId, mode }, served);
  const holds = capture === 'manual';
  // Everything else is what the simulator does by every method.
  if (mode === 'test' && !holds && currency === defaultCurrency) return null;
  const shop = { merchantId, shopId, mode };
  const bank = await banks.route({ ...shop, operation: 'payment', method, currency, holds });
  return isRefusal(bank) || mode === 'live' ? bank : null;
};

const servedOf = ({ method, currency, capture }: PaymentInput): Served => ({
  method: method ?? paymentDefaults.method,
  currency: currency ?? paymentDefaults.currency,
  capture: capture ?? paymentDefaults.capture,
});

/**
 * Creates a payment of the key's shop, and gives the order to its acquirer where that takes it
 * early; or finds the one that an earlier call with the same idempotency key created.
 */
export const createPayment = async (
  deps: CreatingDeps,
  key: SellingShop,
  request: PaymentRequest,
  now: () => Temporal.Instant,
): Promise<CreatedPayment | Refusal> => {
  const { database, banks, policies } = deps;
  const bank = await servingBank(banks, key, servedOf(request.input));
  const unserved = isRefusal(bank) ? bank : null;
  const receipt = givenReceipt(deps.customers, request.input.receipt, now());
  if (isRefusal(receipt)) return receipt;
  const lists = await policies.current();
  const unreachable = unreachableTarget(deps, key, request.input);
  const ordersEarly =
    bank !== null && !isRefusal(bank) && earlyMethod(bank, servedOf(request.input).method) !== null;
  const phone = receipt
    ? receipt.terms.customer.phone
    : await phoneOfTerms(deps, key, request.receiptTermsId ?? null);
  const prepared = { ...request, unserved, unreachable, receipt, phone, ordersEarly };
  const created = await recordPayment(database, lists, key, prepared, now());
  if (isRefusal(created) || created.replayed || !ordersEarly) return created;
  const { merchantId, id: resourceId } = created.payment;
  const page = pageAddress(deps, { merchantId, paymentId: resourceId });
  const claim = claimOfPayment(request, ordersEarly);
  if (isRefusal(claim)) return claim;
  const payment = await answerUnderKey(database.pool, { caller: key, claim, resourceId }, () =>
    createEarlyOrder(database, bank, created.payment, page, now()),
  );
  return { payment, replayed: false };
};
