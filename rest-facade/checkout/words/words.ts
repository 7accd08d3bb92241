/** What the hosted page says: one table per language, each of exactly this shape. */
import type { FailureCode } from '../../../subgraphs/kernel/rules/failure-code.ts';
import type { CheckoutFieldsFragment } from '../../../schema/wire.ts';
import { en } from './en.ts';
import { ru } from './ru.ts';

export const languages = ['ru', 'en'] as const;
export type Language = (typeof languages)[number];

/** Codes that payouts and refunds end with; a payment never does. */
type OtherCode =
  | 'bank_unknown'
  | 'recipient_not_in_sbp'
  | 'recipient_check_failed'
  | 'rejected_by_recipient_bank'
  | 'payout_limit_exceeded'
  | 'acquirer_balance_insufficient'
  | 'recipient_data_lost'
  | 'refund_rejected'
  | 'refund_window_closed';
/** Codes that a payment may end with (decision D-41). */
export type PaymentFailureCode = Exclude<FailureCode, OtherCode>;

/** Why a payment did not pass, and what the buyer can do about it. */
export interface FailureWords {
  readonly reason: string;
  readonly advice: string;
}

/** A heading and the sentence under it. */
export interface Said {
  readonly title: string;
  readonly text: string;
}

export type PayableMethod = 'sbp' | 'cards' | 'tpay' | 'sberpay';
/** Methods that a shop can save. */
export type SavableMethod = Exclude<PayableMethod, 'sberpay'>;

/** What is said of one method that a shop saves to charge it again without the buyer. */
export interface SavingWords {
  /** What the buyer agrees to. */
  readonly consent: (shop: string) => string;
  /** What becomes of the 1 RUB that proves the method. */
  readonly verification: string;
  readonly verify: string;
  readonly payAndSave: (amount: string) => string;
  readonly saved: Said;
  readonly notSaved: string;
}

/** What page.js says by itself; sent with the page. */
export interface BrowserWords {
  readonly numberEmpty: string;
  readonly numberShort: string;
  readonly numberWrong: string;
  readonly expiryEmpty: string;
  readonly expiryWrong: string;
  readonly expiryPast: string;
  readonly cvcEmpty: string;
  readonly cvcWrong: string;
  readonly holderEmpty: string;
  readonly holderWrong: string;
  readonly offline: string;
  readonly unsure: string;
  readonly filled: string;
}

export interface Words {
  readonly language: Language;
  /** Of Intl, for amounts. */
  readonly locale: string;
  readonly languageName: string;
  readonly languageChoice: string;

  readonly payTo: string;
  readonly order: string;
  readonly paymentNumber: string;
  readonly timeLeft: string;
  readonly secure: string;
  readonly footer: string;
  readonly footerCard: string;
  readonly noScript: string;
  readonly pageTitle: (amount: string, shop: string) => string;
  readonly summaryLabel: string;

  readonly chooseMethod: string;
  readonly methods: Readonly<Record<PayableMethod, { readonly name: string; readonly hint: string }>>;
  readonly beforePaying: Readonly<Record<PayableMethod, string>>;
  /** Before paying by a card that is typed on the bank's page. */
  readonly cardAtBank: string;
  /** Before paying by a card that was lost on its way to the bank. */
  readonly cardAgain: string;
  readonly noBuyer: Said;
  readonly noMethods: Said;
  readonly pay: (amount: string) => string;
  readonly paying: string;

  readonly saving: Readonly<Record<SavableMethod, SavingWords>>;
  readonly footerSaving: string;

  readonly cardNumber: string;
  readonly cardExpiry: string;
  readonly cardExpiryExample: string;
  readonly cardCvc: string;
  readonly cardCvcHint: string;
  readonly cardHolder: string;
  readonly cardHolderExample: string;
  readonly testCards: string;
  readonly testCardsHint: string;
  readonly fillIn: (brand: string) => string;

  readonly wait: Said;
  readonly qr: Said;
  readonly qrPhone: string;
  readonly qrLabel: string;
  readonly qrOpen: string;
  readonly qrHere: string;
  readonly waitingForBank: string;
  readonly redirect: (method: string) => Said;
  readonly redirectGo: (method: string) => string;
  readonly threeDSecure: Said;
  readonly threeDSecureGo: string;

  readonly succeeded: Said;
  readonly failed: string;
  readonly notCharged: string;
  readonly expired: string;
  readonly cancelled: Said;
  readonly refunded: Said;
  /** Of one refund, by how far it is. */
  readonly refunds: Readonly<Record<'pending' | 'succeeded', (amount: string) => string>>;
  readonly backToShop: string;
  readonly returning: string;
  readonly closePage: string;
  readonly failureCode: string;
  readonly failures: Readonly<Record<PaymentFailureCode, FailureWords>>;

  readonly testMode: string;
  readonly testModeText: string;
  readonly plan: string;
  readonly planSelect: string;
  readonly planFails: string;
  readonly outcomes: Readonly<Record<NonNullable<CheckoutFieldsFragment['plannedOutcome']>, string>>;

  readonly bankName: string;
  readonly bankNotice: string;
  readonly bankPageTitle: string;
  readonly bankShop: string;
  readonly bankAmount: string;
  readonly bankCode: Said;
  readonly bankCodeLabel: string;
  readonly bankCodeWrong: string;
  readonly bankApp: (method: string) => Said;
  readonly bankApprove: string;
  readonly bankDecline: string;

  readonly unknownPage: Said;
  readonly brokenPage: Said;
  readonly tryAgain: string;

  /** Refusals in the buyer's words; any other code is said with `refused`. */
  readonly refusals: Readonly<Record<'bad_request' | 'not_pending' | 'method_unsupported' | 'route_not_configured' | 'not_found', string>>;
  readonly refused: string;

  readonly browser: BrowserWords;
}

/** The table of a language. */
export const wordsOf = (language: Language): Words => {
  switch (language) {
    case 'ru':
      return ru;
    case 'en':
      return en;
  }
};

/** A refusal or an error code in the buyer's words. */
export const refusalWords = (words: Words, code: string): string => Object.entries(words.refusals).find(([known]) => known === code)?.[1] ?? words.refused;

/** The words of a failure; null for a code that no payment ends with. */
export const failureWords = (words: Words, code: string): FailureWords | null => Object.entries(words.failures).find(([known]) => known === code)?.[1] ?? null;
