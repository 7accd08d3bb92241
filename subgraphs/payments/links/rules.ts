/** What a payment link is. Additions, section 3. */
import { enums } from '../../../schema/generated/enums.ts';
import { linkLifetime_max_days } from '../../../schema/limits.ts';
import { isCurrency } from '../../../schema/currencies.ts';
import { uuidOf } from '../../rules/ids.ts';
import type { Mode } from '../../rules/mode.ts';
import { receiptMistake } from '../../rules/receipt.ts';
import { refuse, refuseMistakes, type Refusal, asCame } from '../../rules/refusal.ts';
import {
  paymentDefaults,
  paymentTerms,
  type PaymentInput,
  type PaymentTerms,
} from '../rules/create.ts';

export const linkStatuses = enums.PaymentLinkStatus;
export type LinkStatus = (typeof linkStatuses)[number];

/** Of an open amount, minor units, where the merchant names none. */
const openAmount = { min: 100n, max: 10_000_000n } as const;
const uses_max = 1_000_000;
const lifetime_days = 30;

/** The metadata key under which a payment names its link. */
export const linkIdKey = 'link_id';

/** What its payments have; a receipt goes with a fixed amount alone. */
export interface LinkInput extends Omit<
  PaymentInput,
  'amount' | 'customerId' | 'onDecline' | 'webhookUrl' | 'ttlMinutes' | 'reserved'
> {
  readonly amount?: bigint | null | undefined;
  readonly amountMin?: bigint | null | undefined;
  readonly amountMax?: bigint | null | undefined;
  /** Null: without limit; absent: 1. */
  readonly uses?: number | null | undefined;
  readonly expiresAt?: Temporal.Instant | null | undefined;
}

/** What the merchant decides of a link, with every default filled in; amounts in minor units. */
export interface LinkTerms extends Omit<
  PaymentTerms,
  'amount' | 'orderId' | 'customerId' | 'onDecline' | 'webhookUrl' | 'plan'
> {
  readonly amount: bigint | null;
  readonly amountMin: bigint | null;
  readonly amountMax: bigint | null;
  readonly orderId: string | null;
  readonly uses: number | null;
}

const amountMistake = ({ amount, amountMin, amountMax }: LinkTerms): string | null => {
  if (amount !== null)
    return amount < 1n ? `amount: expected an integer from 1 to 2^53-1, got ${amount}` : null;
  if (amountMin === null || amountMin < 1n)
    return `amount_min: expected an integer from 1 to 2^53-1, got ${amountMin}`;
  if (amountMax === null || amountMax < amountMin)
    return `amount_max: expected an integer not below amount_min (${amountMin}), got ${amountMax}`;
  return null;
};

const mistakesIn = (terms: LinkTerms, now: Temporal.Instant): (string | null)[] => {
  const { currency, method, uses, expiresAt } = terms;
  const latest = now.add({ hours: 24 * linkLifetime_max_days });
  return [
    isCurrency(currency)
      ? null
      : `currency: expected an ISO 4217 code such as RUB, got ${asCame(currency)}`,
    method === 'recurrent'
      ? 'method: expected sbp, cards, tpay, sberpay or any, got recurrent'
      : null,
    uses !== null && (uses < 1 || uses > uses_max)
      ? `uses: expected an integer from 1 to ${uses_max} or null, got ${uses}`
      : null,
    Temporal.Instant.compare(expiresAt, now) <= 0 || Temporal.Instant.compare(expiresAt, latest) > 0
      ? `expires_at: expected a moment within the next ${linkLifetime_max_days} days, got ${expiresAt.toString()}`
      : null,
    amountMistake(terms),
  ];
};

/**
 * The terms of a new link, or `bad_request` naming the field, what was expected and what came. The
 * fields of its payments are checked by their rules.
 */
export const linkTerms = (
  input: LinkInput,
  mode: Mode,
  id: string,
  now: Temporal.Instant,
): LinkTerms | Refusal => {
  const { amount = null, amountMin = null, amountMax = null, uses = 1 } = input;
  const terms: LinkTerms = {
    amount,
    amountMin: amount === null ? (amountMin ?? openAmount.min) : null,
    amountMax: amount === null ? (amountMax ?? openAmount.max) : null,
    currency: input.currency ?? paymentDefaults.currency,
    description: input.description ?? null,
    orderId: input.orderId ?? null,
    method: input.method ?? paymentDefaults.method,
    capture: input.capture === 'manual' ? 'manual' : null,
    uses,
    expiresAt: input.expiresAt ?? now.add({ hours: 24 * lifetime_days }),
    returnUrl: input.returnUrl ?? null,
    metadata: { ...input.metadata },
  };
  const refusal = refuseMistakes([
    amount !== null && (amountMin !== null || amountMax !== null)
      ? 'amount: expected either amount, or amount_min and amount_max'
      : null,
    input.receipt && amount === null ? 'receipt: allowed only with a fixed amount' : null,
    ...mistakesIn(terms, now),
  ]);
  if (refusal) return refusal;
  const payment = paymentTerms({ ...terms, amount: amount ?? 1n }, mode, id, now);
  return 'code' in payment ? payment : terms;
};

/**
 * Why a link needs a receipt, or a fixed amount for one, where its shop demands them; null when it
 * has one, or none is demanded.
 */
export const linkReceiptMistake = (
  shop: { readonly receiptsRequired?: true },
  { amount }: Pick<LinkTerms, 'amount'>,
  receipt: object | null | undefined,
): Refusal | null =>
  shop.receiptsRequired && amount === null
    ? refuse(
        'bad_request',
        'amount: required, with a receipt, by the setting receiptsRequired of the shop, got nothing',
      )
    : receiptMistake(shop, receipt);

/** Whether the link may be paid now: the sweep may not have ended it yet. */
export const isOpen = (
  { status, expiresAt }: { readonly status: LinkStatus; readonly expiresAt: Temporal.Instant },
  now: Temporal.Instant,
): boolean => status === 'active' && Temporal.Instant.compare(expiresAt, now) > 0;

/**
 * The address of a link's page: the 122 random bits of its id, in 22 characters that neither mail
 * programs nor messengers change.
 */
export const addressOf = (id: string): string =>
  Buffer.from(id.replaceAll('-', ''), 'hex').toString('base64url');

/** The link's id in the address of its page; null when it is none. */
export const idOfAddress = (address: string): string | null => {
  if (!/^[A-Za-z0-9_-]{22}$/.test(address)) return null;
  const bytes = Buffer.from(address, 'base64url');
  return bytes.toString('base64url') === address ? uuidOf(bytes.toString('hex')) : null;
};
