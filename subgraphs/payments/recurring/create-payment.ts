/**
 * Makes payments of saved methods: bindings, which the buyer completes on the hosted page, and
 * charges, which are ordered at once. The payment's id follows from the key, so a key makes one
 * payment. A charge is written before the bank is called, and its order is repeated until the bank
 * has decided.
 */
import { isCurrency } from '../../../schema/currencies.ts';
import type {
  MutationResolvers,
  QueryResolvers,
  RecurringPaymentResolvers,
  RecurringPaymentInput,
} from '../../../schema/generated/payments.ts';
import type { Bank } from '../../acquirers/bank.ts';
import type { Banks } from '../../acquirers/route.ts';
import type { Database } from '../../platform/database/orm.ts';
import { pageAddress } from '../../platform/access/keys.ts';
import type { PolicyLists } from '../../platform/policies/policies.ts';
import type { Plan } from '../../rules/banks.ts';
import { isUuid } from '../../rules/ids.ts';
import { minorUnits } from '../../rules/money.ts';
import {
  savedText,
  isBinding,
  recurringPaymentId,
  savableMethods,
  savedMethod,
  verificationAmount,
  type SavableMethod,
  type SavedMethod,
} from '../../rules/recurring.ts';
import { isRefusal, refuse, type Refusal, asCame } from '../../rules/refusal.ts';
import { applyBankAnswer } from '../bank-answers/apply-bank-answer.ts';
import { orderCharge } from '../bank-answers/orders.ts';
import { cancelPayment } from '../cancel-payment.ts';
import {
  phoneOfTerms,
  policyRefusal,
  insertPayment,
  type NewRecurringPayment,
} from '../create-payment.ts';
import type { Payment, RecurringPayment } from '../entities.ts';
import { loadPayments } from '../find-payments.ts';
import type { PaymentsDeps } from '../parts.ts';
import {
  planFor,
  planMetadata,
  defaultOrderId,
  linkTtl_max_min,
  paymentDefaults,
} from '../rules/create.ts';
import { order_max_s } from '../rules/order.ts';
import { sessionTtl_min } from '../rules/payment.ts';
import { findPayment } from '../store-payment.ts';

/*
 * The input of payments of saved methods, checked and with defaults. In test mode the amount
 * decides the outcome. The method of a charge is `recurrent`.
 */

const key_max_chars = 200;

const mistakeIn = (input: RecurringPaymentInput): string | null => {
  const { idempotencyKey, amount, currency, verification, kind, ttlMinutes } = input;
  if (idempotencyKey.length < 1 || idempotencyKey.length > key_max_chars)
    return `idempotencyKey: expected 1 to ${key_max_chars} characters`;
  if (amount < 1n) return `amount: expected an integer from 1 to 2^53-1, got ${amount}`;
  if (!isCurrency(currency))
    return `currency: expected an ISO 4217 code such as RUB, got ${asCame(currency)}`;
  if (verification && (!isBinding(kind) || amount !== verificationAmount))
    return `verification: expected a binding of ${verificationAmount}, got ${kind} of ${amount}`;
  if (ttlMinutes && (ttlMinutes < 1 || ttlMinutes > linkTtl_max_min))
    return `ttlMinutes: expected an integer from 1 to ${linkTtl_max_min}, got ${ttlMinutes}`;
  return null;
};

/** The method that the buyer binds, or the saved method that is charged. */
type Way = { readonly binds: SavableMethod } | { readonly charges: SavedMethod };

const byOf = ({ kind, method, savedReference }: RecurringPaymentInput): Way | string => {
  if (!isBinding(kind)) {
    const charges = savedMethod(savedReference ?? null);
    return charges ? { charges } : 'savedReference: required for a charge';
  }
  const binds = savableMethods.find((candidate) => candidate === method);
  return binds ? { binds } : `method: expected ${savableMethods.join(', ')}, got ${method}`;
};

/**
 * A card is bound with 3-D Secure (docs/contract.md#tokens), so a planned success is confirmed at
 * the bank first.
 */
const planOfRecurring = ({ amount, kind, method, metadata }: RecurringPaymentInput): Plan => {
  const plan = planFor(amount, metadata ?? {});
  return isBinding(kind) && method === 'cards' && plan.outcome === 'succeeded'
    ? { outcome: 'requires_action', failureCode: null }
    : plan;
};

/**
 * The terms of a payment, or `bad_request`. Its metadata name its token or subscription, in
 * addition to the reserved keys. A charge has no link: it ends with the bank's session.
 */
const recurringTerms = (input: RecurringPaymentInput, now: Temporal.Instant) => {
  const by = byOf(input);
  const mistake = mistakeIn(input) ?? (typeof by === 'string' ? by : null);
  if (mistake !== null || typeof by === 'string') return refuse('bad_request', mistake ?? '');
  const { merchantId, mode, idempotencyKey, customerRef, tokenId, subscriptionId } = input;
  const plan = mode === 'test' ? planOfRecurring(input) : null;
  const id = recurringPaymentId(merchantId, mode, idempotencyKey);
  const metadata: Record<string, string> = {
    ...input.metadata,
    mode,
    customer_id: customerRef,
    token_id: tokenId,
    ...(subscriptionId ? { subscription_id: subscriptionId } : {}),
    ...(plan ? planMetadata(plan) : {}),
  };
  return {
    id,
    amount: minorUnits(input.amount),
    orderId: input.orderId ?? defaultOrderId(id, now),
    expiresAt: now.add({
      minutes: 'charges' in by ? sessionTtl_min : (input.ttlMinutes ?? paymentDefaults.ttlMinutes),
    }),
    plan,
    by,
    metadata,
  };
};
type RecurringTerms = Exclude<ReturnType<typeof recurringTerms>, Refusal>;

/** A charge begins with a bank and an open session. */
const sessionOf = (terms: RecurringTerms, bank: Bank, now: Temporal.Instant) =>
  'charges' in terms.by
    ? ({
        status: 'processing',
        method: 'recurrent',
        savedReference: savedText(terms.by.charges),
        connector: bank.connector,
        bankName: bank.bankName,
        processingUntil: terms.expiresAt,
        askAt: now.add({ seconds: order_max_s }),
      } as const)
    : ({
        status: 'pending',
        method: terms.by.binds,
        savedReference: null,
        connector: null,
        bankName: null,
        processingUntil: null,
        askAt: null,
      } as const);

const newPayment = (
  input: RecurringPaymentInput,
  terms: RecurringTerms,
  bank: Bank,
  policies: PolicyLists,
  now: Temporal.Instant,
): NewRecurringPayment => ({
  merchantId: input.merchantId,
  id: terms.id,
  shopId: input.shopId,
  mode: input.mode,
  orderId: terms.orderId,
  amount: terms.amount,
  capture: null,
  receiptTermsId: input.receiptTermsId ?? null,
  currency: input.currency,
  returnUrl: input.returnUrl ?? null,
  onDecline: null,
  webhookUrl: null,
  description: input.description ?? null,
  customerId: input.customerRef,
  metadata: terms.metadata,
  createdAt: now,
  expiresAt: terms.expiresAt,
  plannedOutcome: terms.plan?.outcome ?? null,
  plannedFailureCode: terms.plan?.failureCode ?? null,
  amountUsdt: policies.inUsdt(terms.amount, input.currency, now),
  kind: input.kind,
  tokenId: input.tokenId,
  subscriptionId: input.subscriptionId ?? null,
  madeByKey: null,
  verification: input.verification,
  ...sessionOf(terms, bank, now),
});

/** The bank that binds, or the one that has what is charged, whatever the routes are by then. */
const bankFor = async (
  banks: Banks,
  { merchantId, shopId, mode, currency }: RecurringPaymentInput,
  { by }: RecurringTerms,
): Promise<Bank | Refusal> => {
  if ('charges' in by)
    return (
      (await banks.liveModeRefusal({ merchantId, mode })) ??
      banks.bankOf({ mode, connector: by.charges.connector })
    );
  const operation = 'recurrent';
  return banks.route({ merchantId, shopId, mode, operation, method: by.binds, currency });
};

/** What an earlier call with the key made; null if nothing, a conflict if its terms differ. */
const earlier = async (
  database: Database,
  input: RecurringPaymentInput,
  { id }: RecurringTerms,
  now: Temporal.Instant,
): Promise<Payment | Refusal | null> => {
  const key = { merchantId: input.merchantId, paymentId: id };
  const payment = (await findPayment(database.pool, key, now))?.payment ?? null;
  const terms = ['kind', 'amount', 'currency', 'tokenId', 'shopId'] as const;
  return payment && terms.some((name) => payment[name] !== input[name])
    ? refuse('idempotent_conflict', 'this key was used for a different payment')
    : payment;
};

interface MakingDeps extends Pick<PaymentsDeps, 'database' | 'banks' | 'customers'> {
  readonly policies: PolicyLists;
}

/**
 * Makes the payment, or finds the one that an earlier call with the same key made; gives it as it
 * is then. A new charge has been ordered at the bank. Refuses with `bad_request`,
 * `route_not_configured`, `method_unsupported`, `aml_blocked`, `forbidden_purpose`, `not_found`
 * (the shop), or `idempotent_conflict`; nothing was made then. What exists is found before anything
 * is refused.
 */
const createRecurringPayment = async (
  { database, banks, customers, policies }: MakingDeps,
  input: RecurringPaymentInput,
  now: Temporal.Instant,
) => {
  const terms = recurringTerms(input, now);
  if (isRefusal(terms)) return terms;
  const bank = await bankFor(banks, input, terms);
  const { description = null, receiptTermsId = null } = input;
  const phone = await phoneOfTerms({ database, customers }, input, receiptTermsId);
  const refusal = isRefusal(bank)
    ? bank
    : policyRefusal(policies, input, { description, metadata: terms.metadata }, phone);
  const made =
    isRefusal(bank) || refusal
      ? null
      : await insertPayment(database, {
          payment: newPayment(input, terms, bank, policies, now),
          claim: null,
          terms: null,
        });
  if (!made || isRefusal(bank)) {
    const found =
      (await earlier(database, input, terms, now)) ??
      refusal ??
      refuse('not_found', 'there is no such shop');
    return isRefusal(found) ? found : { payment: found, replayed: true };
  }
  if (!('charges' in terms.by)) return { payment: made.payment, replayed: false };
  const answer = await orderCharge(bank, made.payment, true, now);
  const known = { merchantId: input.merchantId, paymentId: made.payment.id, known: made };
  const charged = await applyBankAnswer(database, known, bank.connector, answer, now);
  return isRefusal(charged) ? charged : { payment: charged, replayed: false };
};

// How recurring billing asks payments: from GraphQL to a verb, and back. The access table lets only
// the service itself in.

const asRecurring = (payment: Payment | null | undefined): RecurringPayment | null => {
  if (!payment?.kind || !payment.tokenId) return null;
  return { ...payment, kind: payment.kind, tokenId: payment.tokenId };
};

const answer = (deps: PaymentsDeps, made: Payment, replayed: boolean) => {
  const payment = asRecurring(made);
  if (!payment) throw new Error(`payment ${made.id} is of no saved method`);
  const { merchantId, id: paymentId, kind } = payment;
  const payUrl = isBinding(kind) ? pageAddress(deps, { merchantId, paymentId }) : null;
  return { __typename: 'RecurringPaymentAsked', payment, payUrl, replayed } as const;
};

export const recurringFields: RecurringPaymentResolvers = {
  cardBrand: ({ customerCardBrand }) => customerCardBrand,
  cardMask: ({ customerCardMask }) => customerCardMask,
  cardHolder: ({ customerCardHolder }) => customerCardHolder,
};

/** The query behind which recurring billing reads its payments. */
export const recurringQueries = ({ database }: PaymentsDeps): QueryResolvers => ({
  recurringPayments: async (_, { references }) =>
    (await loadPayments(database.pool, references)).map(asRecurring),
});

export const recurringMutations = (deps: PaymentsDeps): MutationResolvers => ({
  recurringPaymentCreate: async (_, { input }) => {
    const { clocks, wakeRelay, askLater } = deps;
    if (![input.merchantId, input.shopId, input.tokenId].every(isUuid))
      return refuse('not_found', 'there is no such shop');
    const { merchantId, shopId, mode } = input;
    const now = await clocks.timeOf({ kind: 'shop', merchantId, shopId, mode });
    const made = await createRecurringPayment(
      { ...deps, policies: await deps.policies.current() },
      input,
      now,
    );
    if (isRefusal(made)) return made;
    const { payment, replayed } = made;
    if (!replayed) {
      wakeRelay();
      askLater(payment, now);
    }
    return answer(deps, payment, replayed);
  },
  recurringPaymentCancel: async (_, { reference }) => {
    const [found] = await loadPayments(deps.database.pool, [reference]);
    if (!found || !isBinding(found.kind)) return refuse('not_found', 'there is no such binding');
    const { merchantId, shopId, mode, id } = found;
    const now = await deps.clocks.timeOf({ kind: 'shop', merchantId, shopId, mode });
    const payment = await cancelPayment(deps.database, found, id, now);
    if (isRefusal(payment)) return payment;
    deps.wakeRelay();
    return answer(deps, payment, false);
  },
});
