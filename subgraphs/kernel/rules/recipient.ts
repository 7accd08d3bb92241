/** The recipient of a payout, in three variants by method. */

/** To a phone by SBP. */
export interface SbpRecipient {
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

/** To an account. */
export interface AccountRecipient {
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
