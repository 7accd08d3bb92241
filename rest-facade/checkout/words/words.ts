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

/** Refusals in the buyer's words; any other code is said with `refused`. */
export interface RefusalWords {
  readonly refusals: Readonly<
    Record<
      | 'bad_request'
      | 'not_pending'
      | 'method_unsupported'
      | 'route_not_configured'
      | 'live_not_enabled'
      | 'aml_blocked'
      | 'not_found'
      | 'rate_limited',
      string
    >
  >;
  readonly refused: string;
}

/** What page.js says by itself; sent with the page, and the refusals with it. */
export interface BrowserWords {
  readonly numberEmpty: string;
  readonly numberShort: string;
  readonly numberWrong: string;
  /** Brands that are not accepted, known by the first digits. */
  readonly numberAmex: string;
  readonly numberJcb: string;
  readonly numberDiners: string;
  readonly expiryEmpty: string;
  readonly expiryWrong: string;
  readonly expiryPast: string;
  readonly cvcEmpty: string;
  readonly cvcWrong: string;
  readonly holderEmpty: string;
  readonly holderWrong: string;
  readonly offline: string;
  /** The answer to what was sent was lost: while the page finds out what became of it. */
  readonly unsure: string;
  /** It never arrived; sending it again is safe. */
  readonly unsent: string;
  readonly filled: string;
}

export interface Words extends RefusalWords {
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
  /** While page.js has not begun, or when it never does. */
  readonly asleep: Said;
  /** What the button says then. */
  readonly asleepButton: string;
  readonly reload: string;
  readonly pageTitle: (amount: string, shop: string) => string;
  readonly summaryLabel: string;

  readonly chooseMethod: string;
  readonly methods: Readonly<
    Record<PayableMethod, { readonly name: string; readonly hint: string }>
  >;
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
  readonly optional: string;
  readonly cardHolderExample: string;
  readonly testCards: string;
  readonly testCardsHint: string;
  /** Begins with what the button shows: who speaks to the page names what is seen. */
  readonly fillIn: (brand: string, number: string) => string;

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
  readonly refunds: Readonly<Record<'pending' | 'succeeded', string>>;
  /**
   * The money came after the payment had ended (decision D-33): why it was too late, and that it
   * goes back.
   */
  readonly late: Said & {
    readonly because: Readonly<Record<'expired' | 'cancelled' | 'failed', string>>;
  };
  /** The reason of the refund that the service makes by itself then. */
  readonly lateReason: string;

  readonly date: string;
  /** The time zone of receipts. */
  readonly moscowTime: string;
  readonly paidWith: string;
  readonly card: string;
  readonly savedMethod: string;
  readonly brands: Readonly<Record<'mir' | 'visa' | 'mastercard' | 'unionpay', string>>;
  readonly refundsLabel: string;
  readonly print: string;

  /** For a buyer who cannot pay this way: before the bank, at the bank, and while it decides. */
  readonly stuck: Readonly<Record<'fixed' | 'atBank' | 'waiting', Said>>;
  readonly toSite: (host: string) => string;
  readonly backToShop: string;
  readonly returning: string;
  readonly closePage: string;
  /** Under a receipt. */
  readonly keepPage: string;
  readonly failureCode: string;
  readonly failures: Readonly<Record<PaymentFailureCode, FailureWords>>;

  readonly testMode: string;
  readonly testModeText: string;
  readonly plan: string;
  readonly planSelect: string;
  readonly planFails: string;
  readonly outcomes: Readonly<
    Record<NonNullable<CheckoutFieldsFragment['plannedOutcome']>, string>
  >;

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
  readonly busyPage: Said;
  readonly tryAgain: string;

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
export const refusalWords = ({ refusals, refused }: Words, code: string): string =>
  Object.entries(refusals).find(([known]) => known === code)?.[1] ?? refused;

/** The words of a failure; null for a code that no payment ends with. */
export const failureWords = (words: Words, code: string): FailureWords | null =>
  Object.entries(words.failures).find(([known]) => known === code)?.[1] ?? null;
