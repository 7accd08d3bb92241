/**
 * Terms that payments and recurring billing share: the purpose of a payment of a saved method, and
 * when a method can be saved (docs/contract.md#tokens).
 */
import { createHash } from 'node:crypto';
import { enums } from '../../schema/generated/enums.ts';
import { uuidOf } from './ids.ts';
import type { Mode } from './mode.ts';

/**
 * What a payment of a saved method is for: the first two bind the method with the buyer, the others
 * charge it without.
 */
export type RecurringKind = (typeof enums.RecurringPaymentKind)[number];

/** Methods that can be saved and charged again. */
export const savableMethods = enums.RecurringMethod;
export type SavableMethod = (typeof savableMethods)[number];

/** Whether a payment of this kind saves the method that the buyer pays with. */
export const isBinding = (kind: RecurringKind | null): boolean =>
  kind === 'token_bind' || kind === 'subscription_init';

/** Whether a payment of this kind is made from a saved method, without the buyer. */
export const isCharge = (kind: RecurringKind | null): boolean =>
  kind === 'token_charge' || kind === 'subscription_charge';

/** The amount of a verification (docs/contract.md#tokens). */
export const verificationAmount = 100n;

/**
 * A saved method as it is kept: the connector that has it, and the connector's own reference of it.
 */
export interface SavedMethod {
  readonly connector: string;
  readonly reference: string;
}

/** A saved method as one text, `<connector>:<reference>`. */
export const savedText = ({ connector, reference }: SavedMethod): string =>
  `${connector}:${reference}`;

/** Reads what `savedText` wrote; null when it is none. */
export const savedMethod = (text: string | null): SavedMethod | null => {
  const [, connector, reference] = /^([^:]+):(.+)$/s.exec(text ?? '') ?? [];
  return connector && reference ? { connector, reference } : null;
};

/**
 * The id of the payment that a key makes. It is always the same, so that the table's own key makes
 * the payment once. It has the form of a UUIDv4 and reveals nothing about the key. Keys of
 * merchants are stored elsewhere and cannot collide with these.
 */
export const recurringPaymentId = (
  merchantId: string,
  mode: Mode,
  idempotencyKey: string,
): string => {
  const digest = createHash('sha256')
    .update(JSON.stringify(['recurring payment', merchantId.toLowerCase(), mode, idempotencyKey]))
    .digest();
  digest[6] = ((digest[6] ?? 0) & 0x0f) | 0x40;
  digest[8] = ((digest[8] ?? 0) & 0x3f) | 0x80;
  return uuidOf(digest.toString('hex', 0, 16));
};
