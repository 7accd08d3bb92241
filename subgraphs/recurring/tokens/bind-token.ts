/**
 * Binds a payment method. The token is written first, then payments is asked for the payment that
 * binds it, whose id follows from the token's: a crash in between leaves a pending token, whose
 * creation is completed when it is repeated under its key, and ended by a sweep when it is not
 * (jobs.ts).
 */
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import {
  forgetTerms,
  givenReceipt,
  insertTerms,
  termsRow,
  type GivenReceipt,
} from '../../acquirers/receipt-terms.ts';
import type { KeyPrincipal } from '../../platform/access/principal.ts';
import {
  answerUnderKey,
  claimOf,
  createOnce,
  type IdempotencyArgument,
} from '../../platform/database/idempotency.ts';
import type { CustomerVault } from '../../platform/database/kept-keys.ts';
import type { RowKey } from '../../platform/database/batch-calls.ts';
import type { OnDatabase } from '../../platform/database/orm.ts';
import { emOn } from '../../platform/database/orm-connections.ts';
import { inTransaction } from '../../platform/database/statement.ts';
import { defaultCurrency } from '../../rules/money.ts';
import { sumMistake } from '../../rules/receipt.ts';
import { recurringPaymentId } from '../../rules/recurring.ts';
import { isRefusal, type Refusal, refuse } from '../../rules/refusal.ts';
import type { AskedBinding, BindingRequest, Payments } from '../ask-payments.ts';
import { loadTokens } from '../find-recurring.ts';
import { tokenTerms, type TokenInput, tokenMove } from '../rules/token.ts';
import { TokenEntity, type Token } from '../entities.ts';
import { lockTokens, storeTokens } from './store-token.ts';

export interface TokenDeps extends OnDatabase<'pool' | 'emOf'> {
  readonly customers: Pick<CustomerVault, 'seal'>;
  readonly payments: Payments;
}

/** The key under which payments makes the payment that binds a token. */
const bindingKey = (tokenId: string): string => `bind/${tokenId}`;

/**
 * A new token, pending; write it and begin its binding with `startBinding`. A subscription makes
 * one too: whose method it saves is the merchant's token like any other.
 */
export const pendingToken = (
  of: Pick<
    Token,
    'merchantId' | 'shopId' | 'mode' | 'customerRef' | 'customerEmail' | 'method' | 'metadata'
  >,
  now: Temporal.Instant,
): Token => {
  const id = randomUUID();
  return {
    merchantId: of.merchantId,
    id,
    shopId: of.shopId,
    mode: of.mode,
    customerRef: of.customerRef,
    method: of.method,
    status: 'pending',
    cardBrand: null,
    cardMask: null,
    cardHolder: null,
    bindingPaymentId: recurringPaymentId(of.merchantId, of.mode, bindingKey(id)),
    savedReference: null,
    customerEmail: of.customerEmail,
    metadata: of.metadata,
    lastChargedAt: null,
    createdAt: now,
  };
};

/** What a token is bound by: the payment's kind, amount (minor units) and what the buyer sees. */
type BindingOf = Omit<
  BindingRequest,
  keyof RowKey | 'shopId' | 'mode' | 'customerRef' | 'method' | 'tokenId' | 'idempotencyKey'
>;

/**
 * Asks payments for the payment that binds a token, or finds it: safe to repeat. Refuses with
 * `route_not_configured`, `method_unsupported` or `aml_blocked`; nothing was made then. Rejects
 * when payments did not answer. What comes of it is in the payment's events.
 */
export const startBinding = (
  { payments }: Pick<TokenDeps, 'payments'>,
  token: Token,
  of: BindingOf,
  requestId?: string,
): Promise<AskedBinding | Refusal> => {
  const { merchantId, shopId, mode, customerRef, method, id: tokenId } = token;
  const whose = { merchantId, shopId, mode, customerRef, method, tokenId };
  const request = { ...of, ...whose, idempotencyKey: bindingKey(tokenId) };
  return payments.askBinding(request, requestId);
};

interface TokenRequest {
  readonly input: TokenInput;
  readonly idempotency?: IdempotencyArgument;
}

/** Writes a new token, and what its first charge is for. */
const insertPending = async (
  client: pg.PoolClient,
  token: Token,
  receipt: GivenReceipt | null,
): Promise<Token> => {
  await emOn(client).insert(TokenEntity, token);
  const { id, bindingPaymentId: paymentId } = token;
  if (receipt)
    await insertTerms(client, [termsRow(receipt, { ...token, subjectId: id, paymentId })]);
  return token;
};

/**
 * Creates a token and its binding, or finds those that an earlier call with the same key created.
 * Refuses as `startBinding`, with `bad_request`, or about the key. A binding needs no receipt,
 * whatever its shop demands.
 */
export const createToken = async (
  deps: TokenDeps,
  key: KeyPrincipal,
  { input, idempotency }: TokenRequest,
  { now, requestId }: { readonly now: Temporal.Instant; readonly requestId: string },
) => {
  const claim = claimOf(idempotency, 'tokenCreate', input, true);
  if (claim && isRefusal(claim)) return claim;
  const terms = tokenTerms(input);
  if (isRefusal(terms)) return terms;
  const receipt = givenReceipt(deps.customers, input.receipt, now);
  if (receipt && isRefusal(receipt)) return receipt;
  const { amount, verification, returnUrl } = terms;
  const sums = receipt && sumMistake(receipt.terms, amount);
  if (sums) return sums;
  const { pool } = deps.database;
  const { merchantId, shopId, mode } = key;
  const token = pendingToken({ merchantId, shopId, mode, ...terms }, now);
  const find = async (id: string): Promise<Token | null> =>
    (await loadTokens(pool, [{ merchantId, id }]))[0] ?? null;
  const created = await createOnce(
    pool,
    { caller: key, claim, find, resourceId: token.id, at: now },
    (client) => insertPending(client, token, receipt),
  );
  if (isRefusal(created)) return created;
  const { made, replayed } = created;
  const binding = {
    kind: 'token_bind',
    amount,
    currency: defaultCurrency,
    verification,
    receiptTermsId: receipt && made.id,
    returnUrl,
  } as const;
  const bound = await answerUnderKey(
    pool,
    { caller: key, claim, resourceId: made.id },
    async () => {
      const answer = await startBinding(deps, made, binding, requestId);
      if (!isRefusal(answer)) return answer;
      const unused = { merchantId, id: made.id, status: 'pending' } as const;
      await emOn(pool).nativeDelete(TokenEntity, unused);
      if (receipt) await forgetTerms(pool, merchantId, made.id);
      return answer;
    },
  );
  return isRefusal(bound) ? bound : { token: made, payUrl: bound.payUrl, replayed };
};

// Revokes a token; twice is no mistake. A pending token's binding payment is cancelled with it. The
// payment is cancelled first: a crash in between leaves a cancelled payment, whose event ends the
// token. A buyer who is at the bank already may still pay; the token is never charged then, and
// what was paid stays the merchant's, as all payments already made do.

/** Writes what is to stand in the log, in the transaction that cancels the token. */
type TokenRecord = (client: pg.PoolClient, before: Token) => Promise<void>;

export const noToken = refuse('not_found', 'there is no such token');

/**
 * Cancels a token of the merchant in the mode; gives it as it is then. Refuses with `not_found`.
 * Rejects when payments did not answer.
 */
export const cancelToken = async (
  { database: { pool }, payments }: TokenDeps,
  { merchantId, mode }: Pick<KeyPrincipal, 'merchantId' | 'mode'>,
  id: string,
  { requestId, now }: { readonly requestId: string; readonly now: Temporal.Instant },
  record: TokenRecord = async () => {},
): Promise<Token | Refusal> => {
  const [found] = await loadTokens(pool, [{ merchantId, id }]);
  if (found?.mode !== mode) return noToken;
  // Refusal when there is nothing to cancel any more: then the token alone is.
  if (found.status === 'pending' && found.bindingPaymentId)
    await payments.cancelBinding({ merchantId, id: found.bindingPaymentId }, requestId);
  return inTransaction(pool, async (client) => {
    const [token] = await lockTokens(client, [{ merchantId, id }]);
    if (!token) return noToken;
    const status = tokenMove(token.status, 'merchant_cancelled');
    if (!status) return token;
    const cancelled = { ...token, status };
    await storeTokens(client, [{ before: token, after: cancelled, at: now }]);
    await record(client, token);
    return cancelled;
  });
};
