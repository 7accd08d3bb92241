/** The texts of the hosted page: one table per language, each of exactly this shape. */
import type { FailureCode } from '../../../subgraphs/rules/failure-code.ts';
import type { CheckoutFieldsFragment } from '../../../schema/wire.ts';

export const languages = ['ru', 'en'] as const;
export type Language = (typeof languages)[number];

/** Failure codes of payouts and refunds alone. */
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
/** Failure codes of payments. */
type PaymentFailureCode = Exclude<FailureCode, OtherCode>;

/** Why a payment did not pass, and what the buyer can do about it. */
interface FailureWords {
  readonly reason: string;
  readonly advice: string;
}

/** A heading and the sentence under it. */
export interface Message {
  readonly title: string;
  readonly text: string;
}

export type SubscriptionPeriod = NonNullable<CheckoutFieldsFragment['subscription']>['period'];
export type PayableMethod = 'sbp' | 'cards' | 'tpay' | 'sberpay';
/** Methods that a shop can save. */
export type SavableMethod = Exclude<PayableMethod, 'sberpay'>;

/** The texts for one method that a shop saves to charge it again without the buyer. */
export interface SavingWords {
  /** What the buyer agrees to. */
  readonly consent: (shop: string) => string;
  /** What happens to the 1 RUB that verifies the method. */
  readonly verification: string;
  readonly verify: string;
  readonly payAndSave: (amount: string) => string;
  readonly saved: Message;
  readonly notSaved: string;
}

/** The texts about a subscription that a payment begins. */
export interface SubscriptionWords {
  readonly title: string;
  readonly plan: string;
  readonly priceLabel: string;
  /** What every `count` periods cost. */
  readonly price: (amount: string, period: SubscriptionPeriod, count: number) => string;
  readonly trial: string;
  readonly days: (count: number) => string;
  /** Stands before a day. */
  readonly until: string;
  readonly firstCharge: string;
  readonly today: string;
  readonly nextCharge: string;
  /** When the first charge comes of a trial that is about to begin. */
  readonly chargedIn: (days: number) => string;
  /** The button of a trial: the price, and the day of the first charge. */
  readonly begin: (price: string, day: string) => string;
  /** How to cancel; `host`: the shop's site. */
  readonly cancel: (host: string | null) => string;
  readonly ended: string;
}

/** The texts of a payment link's page. */
export interface LinkWords {
  /** The heading where the buyer decides on the amount. */
  readonly title: string;
  readonly amountLabel: string;
  readonly bounds: (least: string, most: string) => string;
  readonly amountWrong: (least: string, most: string) => string;
  readonly hint: string;
  readonly goOn: string;
  readonly ended: Readonly<Record<'paid' | 'expired' | 'deactivated', Message>>;
}

/** Objects that a customer can end, with the texts before and after. */
interface EndingWords {
  readonly begin: string;
  readonly sure: string;
  readonly go: string;
  readonly done: string;
}

/** The texts of the page of one subscription. */
interface OwnSubscriptionWords {
  /** Leads to the page, and back. */
  readonly open: string;
  readonly back: string;
  readonly state: string;
  readonly cancelledOn: (day: string) => string;
  readonly retry: string;
  readonly underWay: string;
  readonly paidUntil: string;
  readonly terms: string;
  readonly agreed: (day: string, shop: string, price: string) => string;
  readonly charges: string;
  readonly noCharges: string;
  readonly olderCharges: string;
  /** The verification that begins a trial. */
  readonly check: string;
  readonly chargeStates: Readonly<Record<'open' | 'succeeded' | 'failed' | 'cancelled', string>>;
  readonly refunded: (amount: string) => string;
  /** What a cancellation leaves until a day, and what it cannot stop. */
  readonly leaves: Readonly<Record<'paid' | 'trial', (day: string) => string>>;
  readonly leavesCharge: string;
}

/** The texts of a customer's page. */
interface CustomerWords {
  readonly title: string;
  readonly text: (shop: string) => string;
  readonly tokens: string;
  readonly noTokens: string;
  readonly subscriptions: string;
  readonly noSubscriptions: string;
  readonly lastCharge: (day: string) => string;
  readonly savedOn: (day: string) => string;
  /** The subscriptions that are not charged again without a token, each with its price. */
  readonly pays: (subscriptions: readonly string[]) => string;
  /** Of a subscription whose token was removed. */
  readonly unpaid: string;
  /** When a trial ends and the first charge comes. */
  readonly freeUntil: (day: string) => string;
  readonly paidWith: string;
  readonly states: Readonly<Record<'active' | 'past_due' | 'paused', string>>;
  readonly token: EndingWords;
  readonly subscription: EndingWords;
  readonly one: OwnSubscriptionWords;
  /** Until when the page works. */
  readonly until: (time: string) => string;
}

/** Refusals as buyers read them; `refused` is for any other code. */
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

/** The texts of page.js, sent with the page together with the refusals. */
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
  /** Shown while the page finds out whether a request without an answer took effect. */
  readonly unsure: string;
  /** The request never arrived; sending it again is safe. */
  readonly unsent: string;
  readonly filled: string;
}

export interface Words extends RefusalWords {
  readonly language: Language;
  /** The locale of Intl, for amounts. */
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
  /** At the foot: who sells, its taxpayer's number, and its offer. */
  readonly seller: Readonly<Record<'title' | 'inn' | 'offer', string>>;
  readonly noScript: string;
  /** Shown until page.js has started, or when it never does. */
  readonly asleep: Message;
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
  readonly noBuyer: Message;
  readonly noMethods: Message;
  readonly link: LinkWords;
  readonly customer: CustomerWords;
  readonly pay: (amount: string) => string;
  readonly paying: string;

  readonly saving: Readonly<Record<SavableMethod, SavingWords>>;
  readonly subscription: SubscriptionWords;
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
  /** Begins with the text of the button, because users of speech control say what they see. */
  readonly fillIn: (brand: string, number: string) => string;

  readonly wait: Message;
  readonly qr: Message;
  readonly qrPhone: string;
  readonly qrLabel: string;
  readonly qrOpen: string;
  /** Above the banks' apps, and for a bank that is not among them. */
  readonly qrBanks: string;
  readonly qrOther: string;
  readonly qrHere: string;
  readonly waitingForBank: string;
  readonly redirect: (method: string) => Message;
  readonly redirectGo: (method: string) => string;
  readonly threeDSecure: Message;
  readonly threeDSecureGo: string;

  readonly succeeded: Message;
  /** The bank holds the money; the shop has yet to take it. */
  readonly held: Message;
  /** What was taken, where it is less than the amount. */
  readonly captured: string;
  readonly failed: string;
  readonly notCharged: string;
  readonly expired: string;
  readonly cancelled: Message;
  readonly refunded: Message;
  /** The states of one refund. */
  readonly refunds: Readonly<Record<'pending' | 'succeeded', string>>;
  /** The money came after the payment had ended: why it was too late, and that it is returned. */
  readonly late: Message & {
    readonly because: Readonly<Record<'expired' | 'cancelled' | 'failed', string>>;
  };
  /** The reason of the refund that the service then makes by itself. */
  readonly lateReason: string;

  readonly date: string;
  /** The time zone of receipts. */
  readonly moscowTime: string;
  readonly paidWith: string;
  readonly card: string;
  readonly savedMethod: string;
  readonly brands: Readonly<Record<'mir' | 'visa' | 'mastercard' | 'unionpay', string>>;
  readonly refundsLabel: string;
  /** The receipt of the cash register, and its states. */
  readonly fiscalReceipt: string;
  readonly fiscalStates: Readonly<Record<'registered' | 'beingRegistered', string>>;
  readonly print: string;

  /**
   * For a buyer who cannot pay this way: before the bank, at the bank, and while the bank decides.
   */
  readonly stuck: Readonly<Record<'fixed' | 'atBank' | 'waiting', Message>>;
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
  readonly bankCode: Message;
  readonly bankCodeLabel: string;
  readonly bankCodeWrong: string;
  readonly bankApp: (method: string) => Message;
  readonly bankApprove: string;
  readonly bankDecline: string;

  readonly unknownPage: Message;
  readonly brokenPage: Message;
  readonly busyPage: Message;
  readonly tryAgain: string;

  readonly browser: BrowserWords;
}

/** A refusal or an error code in the buyer's words. */
export const refusalWords = ({ refusals, refused }: Words, code: string): string =>
  Object.entries(refusals).find(([known]) => known === code)?.[1] ?? refused;

/** The words of a failure; null for a code that no payment ends with. */
export const failureWords = (words: Words, code: string): FailureWords | null =>
  Object.entries(words.failures).find(([known]) => known === code)?.[1] ?? null;
