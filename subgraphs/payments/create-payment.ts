/**
 * Creates a payment: the hot write, one statement for the idempotency key, the payment and its
 * event. Contract POST /v1/public/payments; decisions D-20 to D-24 and D-31. A test proves that it
 * writes what the entity says.
 */
import { randomUUID } from 'node:crypto';
import type { Database } from '../kernel/database/orm.ts';
import {
  claimOf,
  insertClaim,
  madeOnce,
  type IdempotencyClaim,
} from '../kernel/database/idempotency.ts';
import { columns, run, type Statement } from '../kernel/database/statement.ts';
import { rememberTrace } from '../kernel/database/subject-trace.ts';
import { isRefused, refused, type Refused } from '../kernel/rules/refusal.ts';
import type { PolicyLists } from '../kernel/policies/policies.ts';
import type { KeyPrincipal } from '../kernel/service/access/principal.ts';
import type { Payment } from './entities.ts';
import { findPayment, paymentNames } from './store-payment.ts';
import { paymentTerms, type PaymentInput, type PaymentTerms } from './rules/create.ts';

export interface CreatedPayment {
  readonly payment: Payment;
  /** Whether an earlier call with the same key created it. */
  readonly replayed: boolean;
}

// The shop's names are frozen here, from the shop's own row (contract: terminal_name, shop_name).
const create: Statement = {
  name: 'payment.create',
  text: `with claim as (${insertClaim(
    {
      merchantId: '$1',
      mode: '$4',
      key: '$17',
      fingerprint: '$18',
      shopId: '$3',
      resourceId: '$2',
      at: '$14',
    },
    'select 1 from shop where merchant_id = $1 and id = $3',
  )}),
    created as (insert into payment (merchant_id, id, version, public_id, shop_id, terminal_id, terminal_name, shop_name, mode, order_id, amount, amount_refunded,
        currency, method, status, return_url, webhook_url, description, customer_id, metadata, created_at, expires_at, planned_outcome, planned_failure_code, amount_usdt)
      select $1::uuid, $2::uuid, 1, 'P-' || nextval('payment_public_id'), shop.id, shop.terminal_id, shop.terminal_name, shop.name, $4::text, $5, $6::int8, 0,
        $7, $8, 'pending', $9, $10, $11, $12, $13::json, $14::timestamptz, $15::timestamptz, $19, $20, $21::float8
      from shop where shop.merchant_id = $1 and shop.id = $3 and ($17::text is null or exists (select 1 from claim))
      returning ${columns(paymentNames)}),
    told as (insert into event (merchant_id, id, shop_id, mode, subject_id, stream_kind, payload, created_at)
      select $1::uuid, $16::uuid, $3::uuid, $4::text, $2::uuid, 'payment.created', json_build_object('id', $2::uuid, 'amount', $6::int8, 'status', 'pending'), $14::timestamptz from created)
    select * from created`,
};

const insert = async (
  database: Database,
  key: KeyPrincipal,
  terms: PaymentTerms & { readonly id: string; readonly amountUsdt: number | null },
  claim: IdempotencyClaim | null,
  now: Temporal.Instant,
): Promise<Payment | null> => {
  const [payment] = await run<Payment>(database.pool, create, [
    key.merchantId,
    terms.id,
    key.shopId,
    key.mode,
    terms.orderId,
    terms.amount,
    terms.currency,
    terms.method,
    terms.returnUrl,
    terms.webhookUrl,
    terms.description,
    terms.customerId,
    JSON.stringify(terms.metadata),
    now,
    terms.expiresAt,
    randomUUID(),
    claim?.key ?? null,
    claim?.fingerprint ?? null,
    terms.plan?.outcome ?? null,
    terms.plan?.failureCode ?? null,
    terms.amountUsdt,
  ]);
  if (payment)
    await rememberTrace(database.pool, { merchantId: key.merchantId, subjectId: payment.id });
  return payment ?? null;
};

/**
 * Decision D-40: whom and what the operator's lists refuse; null when nothing stands against the
 * terms.
 */
export const barred = (
  policies: PolicyLists,
  { merchantId }: Pick<KeyPrincipal, 'merchantId'>,
  { description, metadata }: Pick<PaymentTerms, 'description' | 'metadata'>,
): Refused | null => {
  const customer = metadata['customer_id'];
  if (customer !== undefined && policies.isBlocked(merchantId, 'customer', customer))
    return refused('aml_blocked', 'payments of this customer are not accepted');
  const purpose = description === null ? null : policies.forbiddenIn(description);
  return purpose === null
    ? null
    : refused(
        'forbidden_purpose',
        `description: payments for this purpose are not accepted: ${purpose}`,
      );
};

/**
 * Creates a payment of the key's shop, or finds the one that an earlier call with the same
 * idempotency key created.
 */
export const createPayment = async (
  database: Database,
  policies: PolicyLists,
  key: KeyPrincipal,
  request: {
    readonly input: PaymentInput;
    readonly idempotency?:
      | { key: string; fingerprint?: string | null | undefined }
      | null
      | undefined;
    /** Why no bank serves the method; what was created before is still answered. */
    readonly unserved?: Refused | null;
  },
  now: Temporal.Instant,
): Promise<CreatedPayment | Refused> => {
  const claim = claimOf(request.idempotency, 'paymentCreate', request.input);
  if (claim && isRefused(claim)) return claim;
  const id = randomUUID();
  const terms = paymentTerms(request.input, key.mode, id, now);
  if (isRefused(terms)) return terms;
  const find = async (paymentId: string): Promise<Payment | null> =>
    (await findPayment(database.pool, { merchantId: key.merchantId, paymentId }, now))?.payment ??
    null;
  // What was created before something was put on a list is still answered to a repeated call.
  const bar = barred(policies, key, terms) ?? request.unserved ?? null;
  const amountUsdt = policies.inUsdt(terms.amount, terms.currency, now);
  const make = async () =>
    bar ? null : insert(database, key, { ...terms, id, amountUsdt }, claim, now);
  const created = await madeOnce(database.pool, { caller: key, claim, find }, make);
  if (!created) return bar ?? refused('not_found', 'the shop of this key does not exist any more');
  return isRefused(created) ? created : { payment: created.made, replayed: created.replayed };
};
