/** The recipient of a payout, in three variants by method. */

/** To a phone by SBP. */
interface SbpRecipient {
  readonly way: 'sbp';
  /** +7 and 10 digits. */
  readonly phone: string;
  /** 12 digits, the SBP member id. */
  readonly bankId: string;
  readonly fullName: string | null;
}

/** To a card. The number goes to the bank and is never stored, logged, queued or traced. */
export interface CardRecipient {
  readonly way: 'card';
  readonly cardNumber: string;
  readonly fullName: string | null;
}

interface AccountRecipient {
  readonly way: 'account';
  /** 20 digits. */
  readonly accountNumber: string;
  /** 9 digits, the bank's identification code. */
  readonly bik: string;
  readonly inn: string | null;
  readonly fullName: string | null;
}

/** A recipient that may be kept until a worker pays it. */
export type KeptRecipient = SbpRecipient | AccountRecipient;

export type Recipient = KeptRecipient | CardRecipient;

type Text = string | null;

/** `+79161234567` as `+7 *** ***-45-67`. */
export const maskedPhone = (phone: string): string =>
  `+7 *** ***-${phone.slice(-4, -2)}-${phone.slice(-2)}`;

/** The last 4 digits, as people see an account or an INN. */
export const lastFour = (text: Text): Text => text && `***${text.slice(-4)}`;

/**
 * The data of a payout's webhook as people see it: the phone, the account and the INN of a recipient
 * by their last digits. Other data are returned as they are.
 */
export const withMaskedRecipient = (data: Record<string, unknown>): Record<string, unknown> => {
  const { recipient } = data;
  if (typeof recipient !== 'object' || recipient === null) return data;
  const masked = Object.entries(recipient).map(([name, value]: [string, unknown]) => {
    if (typeof value !== 'string') return [name, value];
    if (name === 'phone') return [name, maskedPhone(value)];
    return [name, name === 'account_number' || name === 'inn' ? lastFour(value) : value];
  });
  return { ...data, recipient: Object.fromEntries(masked) };
};
