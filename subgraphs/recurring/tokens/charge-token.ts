/**
 * Charges a saved method without the buyer (docs/contract.md#token-charges). The key is claimed for
 * the id of the charge before payments is called, and the id of the payment follows from it. Fifty
 * equal concurrent calls, or a repeated one after a crash, make one charge.
 */
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import {
  answerUnderKey,
  claimOf,
  createOnce,
  type IdempotencyArgument,
} from '../../platform/database/idempotency.ts';
import { emOn, forShare } from '../../platform/database/orm-connections.ts';
import { isUuid } from '../../rules/ids.ts';
import { defaultCurrency } from '../../rules/money.ts';
import { recurringPaymentId } from '../../rules/recurring.ts';
import { receiptMistake, sumMistake, type ReceiptInput } from '../../rules/receipt.ts';
import {
  forgetTerms,
  givenReceipt,
  insertTerms,
  termsRow,
  type GivenReceipt,
} from '../../acquirers/receipt-terms.ts';
import { isRefusal, refuse, type Refusal } from '../../rules/refusal.ts';
import type { KeyPrincipal } from '../../platform/access/principal.ts';
import type { AskedPayment, RecurringPayment } from '../ask-payments.ts';
import { noToken, type TokenDeps } from './bind-token.ts';
import { TokenEntity, type Token } from '../entities.ts';
import { loadTokens } from '../find-recurring.ts';
import { chargeMistake, type ChargeTerms } from '../rules/token.ts';

interface TokenChargeRequest extends ChargeTerms {
  readonly tokenId: string;
  /** What is charged for, as it was given. */
  readonly receipt?: ReceiptInput | null | undefined;
  readonly idempotency?: IdempotencyArgument;
}

/**
 * A charge that may be asked for: its own id, and the token as it was when the charge was agreed.
 */
interface AgreedCharge {
  readonly chargeId: string;
  readonly token: Token;
}

const notActive = ({ status }: Token): Refusal =>
  refuse('token_not_active', `the token is ${status}; only an active token can be charged`);

/** The key under which payments makes the payment of a charge. */
const paymentKey = (chargeId: string): string => `charge/${chargeId}`;

/**
 * Agrees to a charge while the token cannot be cancelled: a cancellation that was answered lets no
 * later charge through.
 */
const agree = async (
  client: pg.PoolClient,
  key: KeyPrincipal,
  { tokenId, receipt }: { readonly tokenId: string; readonly receipt: GivenReceipt | null },
  { chargeId, now }: { readonly chargeId: string; readonly now: Temporal.Instant },
): Promise<AgreedCharge | Refusal> => {
  const { merchantId, shopId, mode } = key;
  const token = await emOn(client).findOne(TokenEntity, { merchantId, id: tokenId }, forShare);
  if (token?.mode !== mode) return noToken;
  if (token.status !== 'active') return notActive(token);
  const mistake = receiptMistake(key, receipt);
  if (mistake) return mistake;
  const paymentId = recurringPaymentId(merchantId, mode, paymentKey(chargeId));
  const subject = { merchantId, shopId, mode, subjectId: chargeId, paymentId, createdAt: now };
  if (receipt) await insertTerms(client, [termsRow(receipt, subject)]);
  return { chargeId, token };
};

/**
 * The token is the merchant's, and the payment that of the shop whose key charges: its registry
 * shows it, and its endpoints receive it.
 */
const ask = async (
  { payments }: TokenDeps,
  { shopId }: KeyPrincipal,
  { chargeId, token }: AgreedCharge,
  { receipt, ...terms }: ChargeTerms & { readonly receipt: GivenReceipt | null },
  requestId: string,
) => {
  const { merchantId, mode, customerRef, savedReference, id: tokenId } = token;
  if (savedReference === null) throw new Error(`token ${tokenId} is active without a saved method`);
  const { amount, orderId, description, metadata = null } = terms;
  const receiptTermsId = receipt && chargeId;
  const whose = { merchantId, shopId, mode, customerRef, tokenId };
  const what = {
    kind: 'token_charge',
    amount,
    currency: defaultCurrency,
    savedReference,
    orderId,
    description,
    metadata,
  } as const;
  const request = { ...whose, ...what, receiptTermsId, idempotencyKey: paymentKey(chargeId) };
  return payments.askCharge(request, requestId);
};

/** The payment of a charge that was agreed before a cancellation; null if it was never asked. */
const madeBefore = async (
  { payments }: TokenDeps,
  { chargeId, token: { merchantId, mode } }: AgreedCharge,
): Promise<RecurringPayment | null> =>
  (
    await payments.read([
      { merchantId, id: recurringPaymentId(merchantId, mode, paymentKey(chargeId)) },
    ])
  )[0] ?? null;

/**
 * Charges an active token of the key's merchant and mode, or finds the charge that an earlier call
 * with the same key made. Refuses with `bad_request`, `not_found`, `token_not_active`,
 * `forbidden_purpose`, `aml_blocked`, `route_not_configured`, or about the key. A charge that the
 * bank declined is a payment.
 */
export const chargeToken = async (
  deps: TokenDeps,
  key: KeyPrincipal,
  { tokenId, idempotency, receipt: input, ...terms }: TokenChargeRequest,
  { now, requestId }: { readonly now: Temporal.Instant; readonly requestId: string },
): Promise<AskedPayment | Refusal> => {
  const named = input ? { tokenId, ...terms, receipt: input } : { tokenId, ...terms };
  const claim = claimOf(idempotency, 'tokenCharge', named, true);
  if (claim && isRefusal(claim)) return claim;
  const mistake = isUuid(tokenId) ? chargeMistake(terms) : noToken;
  if (mistake) return mistake;
  const receipt = givenReceipt(deps.customers, input, now);
  if (receipt && isRefusal(receipt)) return receipt;
  const sums = receipt && sumMistake(receipt.terms, terms.amount);
  if (sums) return sums;
  const { pool } = deps.database;
  const newId = randomUUID();
  const find = async (chargeId: string): Promise<AgreedCharge | null> => {
    const [token] = await loadTokens(pool, [{ merchantId: key.merchantId, id: tokenId }]);
    return token ? { chargeId, token } : null;
  };
  const agreed = await createOnce(
    pool,
    { caller: key, claim, find, resourceId: newId, at: now },
    (client) => agree(client, key, { tokenId, receipt }, { chargeId: newId, now }),
  );
  if (isRefusal(agreed)) return agreed;
  const { made: charge, replayed } = agreed;
  if (charge.token.status !== 'active') {
    const payment = await madeBefore(deps, charge);
    return payment ? { payment, replayed } : notActive(charge.token);
  }
  const { chargeId } = charge;
  const asked = await answerUnderKey(
    pool,
    { caller: key, claim, resourceId: chargeId },
    async () => {
      const answer = await ask(deps, key, charge, { ...terms, receipt }, requestId);
      if (isRefusal(answer) && receipt) await forgetTerms(pool, key.merchantId, chargeId);
      return answer;
    },
  );
  if (isRefusal(asked)) return asked;
  const { payment } = asked;
  // The payment's event reaches the token as well (payment-listeners); the caller that has the answer shall
  // find the token charged already.
  const { status, capturedAt: at } = payment;
  if (status === 'succeeded' && at) {
    const { merchantId, id } = charge.token;
    const earlier = { $or: [{ lastChargedAt: null }, { lastChargedAt: { $lt: at } }] };
    await emOn(pool).nativeUpdate(
      TokenEntity,
      { merchantId, id, ...earlier },
      { lastChargedAt: at },
    );
  }
  return { payment, replayed };
};
