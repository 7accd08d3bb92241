/**
 * Starts a subscription (docs/contract.md#first-payment). One transaction writes the subscription,
 * its token and its first charge; payments then creates the binding payment under that charge's
 * key. After a crash in between, a repeated call or the sweep of charges completes the
 * subscription.
 */
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import {
  answerUnderKey,
  claimOf,
  createOnce,
  type IdempotencyArgument,
} from '../../platform/database/idempotency.ts';
import { emOn } from '../../platform/database/orm-connections.ts';
import { inTransaction } from '../../platform/database/statement.ts';
import {
  forgetTerms,
  givenReceipt,
  insertTerms,
  termsRow,
  type GivenReceipt,
} from '../../acquirers/receipt-terms.ts';
import type { PolicyLists } from '../../platform/policies/policies.ts';
import { defaultCurrency } from '../../rules/money.ts';
import { receiptMistake, sumMistake } from '../../rules/receipt.ts';
import { isRefusal, refuse, type Refusal } from '../../rules/refusal.ts';
import type { KeyPrincipal } from '../../platform/access/principal.ts';
import { bindSubscription, firstAmount } from './ask-charge.ts';
import { pendingToken, type TokenDeps } from '../tokens/bind-token.ts';
import { leaseFrom } from './begin-charges.ts';
import {
  SubscriptionChargeEntity,
  SubscriptionEntity,
  TokenEntity,
  type Token,
  type Subscription,
  type SubscriptionCharge,
} from '../entities.ts';
import { loadTokens, loadSubscriptions } from '../find-recurring.ts';
import {
  subscriptionTerms,
  type SubscriptionInput,
  type SubscriptionTerms,
} from '../rules/start.ts';
import { noteAsked } from './store-subscription.ts';

interface StartRequest {
  readonly input: SubscriptionInput;
  readonly idempotency?: IdempotencyArgument;
  readonly requestId: string;
}

const newSubscription = (
  key: KeyPrincipal,
  { id, receiptTermsId }: Pick<Subscription, 'id' | 'receiptTermsId'>,
  terms: SubscriptionTerms,
  token: Token,
): Subscription => ({
  merchantId: key.merchantId,
  id,
  version: 1,
  shopId: key.shopId,
  mode: key.mode,
  ...terms,
  currency: defaultCurrency,
  status: 'pending',
  tokenId: token.id,
  anchorAt: null,
  periods: 0,
  failures: 0,
  dueAt: null,
  nextChargeAt: null,
  lastChargeAt: null,
  pausedAt: null,
  cancelledAt: null,
  cancelReason: null,
  createdAt: token.createdAt,
  receiptTermsId,
});

/** Of the first period, or the verification that begins a trial, which is not a period. */
const firstCharge = (subscription: Subscription, token: Token): SubscriptionCharge => {
  const { merchantId, id, shopId, mode, trialDays, createdAt } = subscription;
  return {
    merchantId,
    subscriptionId: id,
    period: trialDays > 0 ? 0 : 1,
    attempt: 1,
    shopId,
    mode,
    kind: 'subscription_init',
    amount: firstAmount(subscription),
    currency: defaultCurrency,
    status: 'open',
    paymentId: token.bindingPaymentId,
    failureCode: null,
    askAt: leaseFrom(createdAt),
    createdAt,
    settledAt: null,
  };
};

/** Writes a new subscription with its token and its first charge. */
const insertNew = async (
  client: pg.PoolClient,
  key: KeyPrincipal,
  id: string,
  { receipt, ...terms }: SubscriptionTerms & { readonly receipt: GivenReceipt | null },
  now: Temporal.Instant,
): Promise<Subscription> => {
  const { merchantId, shopId, mode } = key;
  const { customerRef, customerEmail, method } = terms;
  const binds = { customerRef, customerEmail, method, metadata: null };
  const token = pendingToken({ merchantId, shopId, mode, ...binds }, now);
  const subscription = newSubscription(key, { id, receiptTermsId: receipt && id }, terms, token);
  const em = emOn(client);
  await em.insert(TokenEntity, token);
  await em.insert(SubscriptionEntity, subscription);
  await em.insert(SubscriptionChargeEntity, firstCharge(subscription, token));
  const subject = { ...subscription, subjectId: id, paymentId: null };
  if (receipt) await insertTerms(client, [termsRow(receipt, subject)]);
  return subscription;
};

/** Removes what `insertNew` has made, unless it is no longer pending. */
const forget = (pool: pg.Pool, { merchantId, id, tokenId }: Subscription): Promise<void> =>
  inTransaction(pool, async (client) => {
    const em = emOn(client);
    const pending = { merchantId, id, status: 'pending' } as const;
    if ((await em.nativeDelete(SubscriptionEntity, pending)) === 0) return;
    await em.nativeDelete(SubscriptionChargeEntity, { merchantId, subscriptionId: id });
    await forgetTerms(client, merchantId, id);
    await em.nativeDelete(TokenEntity, { merchantId, id: tokenId });
  });

/** Checks the customer against the operator's lists; null when it is on none. */
const policyRefusal = (
  policies: PolicyLists,
  { merchantId }: KeyPrincipal,
  { customerRef, customerPhone }: SubscriptionTerms,
  receipt: GivenReceipt | null,
): Refusal | null => {
  const phones = [customerPhone, receipt?.terms.customer.phone ?? null];
  const isBlocked =
    policies.isBlocked(merchantId, 'customer', customerRef) ||
    phones.some((phone) => phone !== null && policies.isBlocked(merchantId, 'phone', phone));
  return isBlocked
    ? refuse('aml_blocked', 'subscriptions for this customer are not accepted')
    : null;
};

/**
 * Starts a subscription of the key's shop, or finds the one that an earlier call with the same
 * idempotency key started, and completes it. Refuses with `bad_request`, `aml_blocked`,
 * `route_not_configured`, `method_unsupported`, and with `idempotent_conflict` or
 * `idempotent_in_progress`.
 */
export const startSubscription = async (
  {
    database: { pool },
    customers,
    payments,
    policies,
  }: TokenDeps & {
    readonly policies: PolicyLists;
  },
  key: KeyPrincipal,
  { input, idempotency, requestId }: StartRequest,
  now: Temporal.Instant,
) => {
  const claim = claimOf(idempotency, 'subscriptionCreate', input, true);
  if (claim && isRefusal(claim)) return claim;
  const terms = subscriptionTerms(input);
  if (isRefusal(terms)) return terms;
  const receipt = givenReceipt(customers, input.receipt, now);
  if (receipt && isRefusal(receipt)) return receipt;
  const sums = receipt && sumMistake(receipt.terms, terms.amount);
  if (sums) return sums;
  const resourceId = randomUUID();
  const find = async (id: string): Promise<Subscription | null> =>
    (await loadSubscriptions(pool, [{ merchantId: key.merchantId, id }]))[0] ?? null;
  const created = await createOnce(
    pool,
    { caller: key, claim, find, resourceId, at: now },
    async (client) =>
      // A repeated call still finds an earlier subscription, even if the customer has since been
      // blocked.
      receiptMistake(key, receipt) ??
      policyRefusal(policies, key, terms, receipt) ??
      insertNew(client, key, resourceId, { ...terms, receipt }, now),
  );
  if (isRefusal(created)) return created;
  const { made: subscription, replayed } = created;
  const [token] = await loadTokens(pool, [
    { merchantId: key.merchantId, id: subscription.tokenId },
  ]);
  if (!token) throw new Error(`subscription ${subscription.id} has no token`);
  const claimed = { caller: key, claim, resourceId: subscription.id };
  const asked = await answerUnderKey(pool, claimed, async () => {
    const answer = await bindSubscription(payments, subscription, token, requestId);
    // When payments refuses, the subscription is removed.
    if (isRefusal(answer)) await forget(pool, subscription);
    return answer;
  });
  if (isRefusal(asked)) return asked;
  if (!replayed) await noteAsked(pool, [firstCharge(subscription, token)]);
  const { merchantId, id } = asked.payment;
  return { subscription, initialPayment: { merchantId, id }, payUrl: asked.payUrl, replayed };
};
