/**
 * The words that payments and recurring billing share: what a payment of a saved method is for, and when a method can be saved.
 * Contract "Token" and "Subscription"; decisions D-63a and D-66.
 */

/** What a payment of a saved method is for: the first two bind the method with the buyer, the others charge it without. */
export const recurringKinds = ['token_bind', 'subscription_init', 'token_charge', 'subscription_charge'] as const;
export type RecurringKind = (typeof recurringKinds)[number];

/** Methods that can be saved and charged again. */
export const savableMethods = ['cards', 'sbp', 'tpay'] as const;
export type SavableMethod = (typeof savableMethods)[number];

/** Whether a payment of this kind saves the method that the buyer pays with. */
export const isBinding = (kind: RecurringKind | null): boolean => kind === 'token_bind' || kind === 'subscription_init';

/** Whether a payment of this kind is made from a saved method, without the buyer. */
export const isCharge = (kind: RecurringKind | null): boolean => kind === 'token_charge' || kind === 'subscription_charge';

/** What a verification is made of: 1 RUB (contract "Token", decision D-66). */
export const verificationAmount = 100n;

/** A saved method as it is kept: the connector that has it, and the connector's own reference of it. */
export interface SavedMethod {
  readonly connector: string;
  readonly reference: string;
}

/** A saved method as one text, `<connector>:<reference>`. */
export const savedText = ({ connector, reference }: SavedMethod): string => `${connector}:${reference}`;

/** Reads what `savedText` wrote; null when it is none. */
export const savedMethod = (text: string | null): SavedMethod | null => {
  const [, connector, reference] = /^([^:]+):(.+)$/s.exec(text ?? '') ?? [];
  return connector && reference ? { connector, reference } : null;
};
