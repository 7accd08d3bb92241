/**
 * Makes payments of saved methods: bindings, which the buyer completes on the hosted page, and
 * charges, which the bank is asked for at once. The payment's id follows from the key, so that the
 * statement makes it once whoever asks and however often; a charge is written before the bank is
 * called, and is asked about by its own order until the bank has decided (decision D-32).
 */
import { randomUUID } from 'node:crypto';
import type { Bank } from '../../kernel/banks/bank.ts';
import type { Banks } from '../../kernel/banks/route.ts';
import type { Database } from '../../kernel/database/orm.ts';
import { columns, run, type Statement } from '../../kernel/database/statement.ts';
import { rememberTrace } from '../../kernel/database/subject-trace.ts';
import type { PolicyLists } from '../../kernel/policies/policies.ts';
import { savedText } from '../../kernel/rules/recurring.ts';
import { isRefused, refused, type Refused } from '../../kernel/rules/refusal.ts';
import { applyBankAnswer } from '../bank-answers/apply-bank-answer.ts';
import { barred } from '../create-payment.ts';
import type { Payment } from '../entities.ts';
import { orderCharge } from './charge.ts';
import { recurringTerms, type RecurringInput, type RecurringTerms } from './rules.ts';
import { findPayment, paymentNames } from '../store-payment.ts';

/** When a charge that we lost sight of is ordered again: later than any call to a bank may take. */
const lostCharge_s = 30;

const create: Statement = {
  name: 'recurring_payment.create',
  text: `with created as (insert into payment (merchant_id, id, version, public_id, shop_id, terminal_id, terminal_name, shop_name, mode, order_id, amount, amount_refunded,
        currency, method, status, return_url, description, customer_id, metadata, created_at, expires_at, planned_outcome, planned_failure_code, amount_usdt,
        kind, token_id, subscription_id, verification, saved_reference, connector, bank_name, processing_until, ask_at)
      select $1::uuid, $2::uuid, 1, 'P-' || nextval('payment_public_id'), shop.id, shop.terminal_id, shop.terminal_name, shop.name, $4::text, $5, $6::int8, 0,
        $7, $8, $9, $10, $11, $12, $13::json, $14::timestamptz, $15::timestamptz, $16, $17, $18::float8,
        $19, $20::uuid, $21::uuid, $22::boolean, $23, $24, $25, $26::timestamptz, $27::timestamptz
      from shop where shop.merchant_id = $1 and shop.id = $3
      on conflict (merchant_id, id) do nothing returning ${columns(paymentNames)}),
    told as (insert into event (merchant_id, id, shop_id, mode, subject_id, stream_kind, payload, created_at)
      select $1::uuid, $28::uuid, $3::uuid, $4::text, $2::uuid, 'payment.created', json_build_object('id', $2::uuid, 'amount', $6::int8, 'status', $9::text), $14::timestamptz from created)
    select * from created`,
};

/** What a charge has from the beginning: its bank, and a session at it that is asked about. */
const sessionOf = (terms: RecurringTerms, bank: Bank, now: Temporal.Instant) =>
  'charges' in terms.by
    ? {
        status: 'processing',
        method: 'recurrent',
        savedReference: savedText(terms.by.charges),
        connector: bank.connector,
        bankName: bank.bankName,
        processingUntil: terms.expiresAt,
        askAt: now.add({ seconds: lostCharge_s }),
      }
    : {
        status: 'pending',
        method: terms.by.binds,
        savedReference: null,
        connector: null,
        bankName: null,
        processingUntil: null,
        askAt: null,
      };

const insert = async (
  database: Database,
  input: RecurringInput,
  terms: RecurringTerms & { readonly amountUsdt: number | null },
  bank: Bank,
  now: Temporal.Instant,
): Promise<Payment | null> => {
  const session = sessionOf(terms, bank, now);
  const [payment] = await run<Payment>(database.pool, create, [
    input.merchantId,
    terms.id,
    input.shopId,
    input.mode,
    terms.orderId,
    terms.amount,
    input.currency,
    session.method,
    session.status,
    input.returnUrl ?? null,
    input.description ?? null,
    input.customerRef,
    JSON.stringify(terms.metadata),
    now,
    terms.expiresAt,
    terms.plan?.outcome ?? null,
    terms.plan?.failureCode ?? null,
    terms.amountUsdt,
    input.kind,
    input.tokenId,
    input.subscriptionId ?? null,
    input.verification,
    session.savedReference,
    session.connector,
    session.bankName,
    session.processingUntil,
    session.askAt,
    randomUUID(),
  ]);
  if (payment)
    await rememberTrace(database.pool, { merchantId: input.merchantId, subjectId: payment.id });
  return payment ?? null;
};

/** The bank that binds, or the one that has what is charged, whatever the routes say by then. */
const bankFor = async (
  banks: Banks,
  { merchantId, shopId, mode }: RecurringInput,
  { by }: RecurringTerms,
): Promise<Bank | Refused> => {
  if ('charges' in by)
    return (
      (await banks.barred({ merchantId, mode })) ??
      banks.holding({ mode, connector: by.charges.connector })
    );
  return banks.route({ merchantId, shopId, mode, operation: 'recurrent', method: by.binds });
};

/**
 * What an earlier call with the same key made; null when there is nothing, a conflict when it asked
 * for something else.
 */
const earlier = async (
  database: Database,
  input: RecurringInput,
  { id }: RecurringTerms,
  now: Temporal.Instant,
): Promise<Payment | Refused | null> => {
  const found = await findPayment(
    database.pool,
    { merchantId: input.merchantId, paymentId: id },
    now,
  );
  if (!found) return null;
  const { kind, amount, currency, tokenId, shopId } = found.payment;
  const same =
    kind === input.kind &&
    amount === input.amount &&
    currency === input.currency &&
    tokenId === input.tokenId &&
    shopId === input.shopId;
  return same ? found.payment : refused('idempotent_conflict', 'this key made a different payment');
};

export interface RecurringMade {
  readonly payment: Payment;
  /** Whether an earlier call with the same key made it. */
  readonly replayed: boolean;
}

/**
 * Makes the payment, or finds the one that an earlier call with the same key made; gives it as it
 * is then. A new charge has been ordered at the bank. Refuses with `bad_request`,
 * `route_not_configured`, `method_unsupported`, `aml_blocked`, `forbidden_purpose`, `not_found`
 * (the shop), or `idempotent_conflict`; nothing was made then. What exists is found before anything
 * is refused.
 */
export const createRecurringPayment = async (
  database: Database,
  banks: Banks,
  policies: PolicyLists,
  input: RecurringInput,
  now: Temporal.Instant,
): Promise<RecurringMade | Refused> => {
  const terms = recurringTerms(input, now);
  if (isRefused(terms)) return terms;
  const bank = await bankFor(banks, input, terms);
  const bar = isRefused(bank)
    ? bank
    : barred(policies, input, { description: input.description ?? null, metadata: terms.metadata });
  const amountUsdt = policies.inUsdt(terms.amount, input.currency, now);
  const made =
    isRefused(bank) || bar
      ? null
      : await insert(database, input, { ...terms, amountUsdt }, bank, now);
  if (!made || isRefused(bank)) {
    const found =
      (await earlier(database, input, terms, now)) ??
      bar ??
      refused('not_found', 'there is no such shop');
    return isRefused(found) ? found : { payment: found, replayed: true };
  }
  if (!('charges' in terms.by)) return { payment: made, replayed: false };
  const answer = await orderCharge(bank, made, true, now);
  const charged = await applyBankAnswer(
    database,
    { merchantId: made.merchantId, paymentId: made.id },
    bank.connector,
    answer,
    now,
  );
  return isRefused(charged) ? charged : { payment: charged, replayed: false };
};
