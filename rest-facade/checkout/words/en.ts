/** The hosted page in English: the shape of every language's words. */
import type { FailureWords, Language, PaymentFailureCode, SubscriptionPeriod } from './words.ts';

// A payment that has failed is over: paying again is the shop's to offer.
const otherWay = 'Go back to the shop and pay with another card or another way.';
const callBank = 'Call your bank, or go back to the shop and pay another way.';
const checkCard = 'Go back to the shop, start again and check the card details.';
const later = 'Go back to the shop and start again in a few minutes, or pay another way.';

export const en = {
  language: 'en' as Language,
  locale: 'en-US',
  languageName: 'English',
  languageChoice: 'Page language',

  payTo: 'To pay',
  order: 'Order',
  paymentNumber: 'Payment number',
  timeLeft: 'Time left',
  secure: 'Secure payment',
  footer: 'You enter payment details only at your own bank.',
  seller: { title: 'Seller', inn: 'INN', offer: 'Terms of sale' },
  footerCard: 'Card details go straight to the bank and are never stored.',
  noScript: 'This page reloads every few seconds.',
  asleep: {
    title: 'The page has not loaded completely.',
    text: 'Check the connection. If this message stays,',
  },
  reload: 'reload the page',
  pageTitle: (amount: string, shop: string) => `${amount} — ${shop}`,
  summaryLabel: 'What you are paying for',

  chooseMethod: 'How would you like to pay?',
  methods: {
    sbp: { name: 'SBP', hint: 'QR code or your bank’s app' },
    cards: { name: 'Bank card', hint: 'Mir, Visa, Mastercard, UnionPay' },
    tpay: { name: 'T-Pay', hint: 'In the T-Bank app' },
    sberpay: { name: 'SberPay', hint: 'In SberBank Online' },
  },
  beforePaying: {
    sbp: 'A QR code comes next. Scan it with your phone’s camera or open your bank’s app.',
    cards: 'Enter the card details. The bank may ask you to confirm.',
    tpay: 'We will open T-Pay so that you can confirm in T-Bank.',
    sberpay: 'We will open SberPay so that you can confirm in SberBank Online.',
  },
  cardAtBank: 'You enter the card details on the bank’s page.',
  cardAgain:
    'The connection broke and the bank did not get your card. Nothing was charged. Please enter it again for the same order.',
  noBuyer: {
    title: 'Nothing is needed from you',
    text: 'This payment is charged to a saved method. The page shows how it ends.',
  },
  noMethods: {
    title: 'Paying is not possible yet',
    text: 'The shop has not set up this way to pay. Tell the shop, or try again later.',
  },
  link: {
    title: 'How much would you like to pay?',
    amountLabel: 'Amount',
    bounds: (least: string, most: string) => `From ${least} to ${most}`,
    amountWrong: (least: string, most: string) =>
      `Enter an amount from ${least} to ${most}, such as 1500 or 99.90`,
    hint: 'The way to pay comes next.',
    goOn: 'Continue',
    ended: {
      paid: {
        title: 'This link has been paid',
        text: 'It cannot be paid once more. If you did not pay it, ask the shop for another one.',
      },
      expired: {
        title: 'This link has expired',
        text: 'You were not charged. Ask the shop for a new one.',
      },
      deactivated: {
        title: 'The shop has closed this link',
        text: 'You were not charged. Ask the shop for a new one.',
      },
    },
  },
  customer: {
    title: 'Your automatic payments',
    text: (shop: string) =>
      `What ${shop} may charge without asking you each time. You can end it here.`,
    tokens: 'Saved ways to pay',
    noTokens: 'No way to pay is saved.',
    subscriptions: 'Subscriptions',
    noSubscriptions: 'You have no subscriptions.',
    lastCharge: (day: string) => `Last charged on ${day}`,
    savedOn: (day: string) => `Saved on ${day}`,
    pays: (subscriptions: readonly string[]) =>
      `${subscriptions.length > 1 ? 'These subscriptions' : 'This subscription'} will not renew: ${subscriptions.join('; ')}.`,
    unpaid: 'Its way to pay is removed: nothing more is charged',
    freeUntil: (day: string) => `Free until ${day}, then the first charge`,
    paidWith: 'Paid with',
    states: {
      active: 'Active',
      past_due: 'The last charge failed and will be tried again',
      paused: 'Paused',
    },
    token: {
      begin: 'Remove',
      sure: 'The shop will not be able to charge it any more.',
      go: 'Yes, remove it',
      done: 'It is removed: the shop cannot charge it any more.',
    },
    subscription: {
      begin: 'Cancel the subscription',
      sure: 'Charges stop at once. What you have paid stays paid.',
      go: 'Yes, cancel it',
      done: 'The subscription is cancelled: nothing more is charged.',
    },
    one: {
      open: 'Terms and charges',
      back: 'All automatic payments',
      state: 'State',
      cancelledOn: (day: string) => `Cancelled on ${day}`,
      retry: 'Next try',
      underWay: 'Under way',
      paidUntil: 'Paid until',
      terms: 'Terms',
      agreed: (day: string, shop: string, price: string) =>
        `On ${day} you agreed that ${shop} charges ${price} without asking you each time, until you cancel.`,
      charges: 'Charges',
      noCharges: 'Nothing has been charged yet.',
      olderCharges: 'These are the last 50 charges.',
      check: 'Check of the way to pay',
      chargeStates: {
        open: 'In progress',
        succeeded: 'Charged',
        failed: 'Not charged',
        cancelled: 'Cancelled',
      },
      refunded: (amount: string) => `${amount} returned`,
      leaves: {
        paid: (day: string) => `The period that you paid for ends on ${day}.`,
        trial: (day: string) => `The free trial ends on ${day}.`,
      },
      leavesCharge: 'A charge that is in progress may still go through.',
    },
    until: (time: string) => `This page works until ${time}.`,
  },
  pay: (amount: string) => `Pay ${amount}`,
  paying: 'Sending to the bank…',

  saving: {
    cards: {
      consent: (shop: string) =>
        `${shop} saves the card and charges later payments to it without asking you again.`,
      verification: 'The bank checks the card with ₽1. It is not charged.',
      verify: 'Save the card',
      payAndSave: (amount: string) => `Pay ${amount} and save the card`,
      saved: {
        title: 'The card is saved',
        text: 'The shop can charge it now. To stop that, ask the shop or your bank.',
      },
      notSaved: 'The card was not saved',
    },
    sbp: {
      consent: (shop: string) =>
        `${shop} links your account through SBP and charges later payments to it without asking you again.`,
      verification: 'The account is checked with ₽1, which comes back to you.',
      verify: 'Link the account',
      payAndSave: (amount: string) => `Pay ${amount} and link the account`,
      saved: {
        title: 'The account is linked',
        text: 'The shop can charge it now. To stop that, ask the shop or use your bank’s app.',
      },
      notSaved: 'The account was not linked',
    },
    tpay: {
      consent: (shop: string) =>
        `${shop} links T-Pay and charges later payments to it without asking you again.`,
      verification: 'T-Pay is checked with ₽1, which comes back to you.',
      verify: 'Link T-Pay',
      payAndSave: (amount: string) => `Pay ${amount} and link T-Pay`,
      saved: {
        title: 'T-Pay is linked',
        text: 'The shop can charge it now. To stop that, ask the shop or use the T-Bank app.',
      },
      notSaved: 'T-Pay was not linked',
    },
  },
  subscription: {
    title: 'Subscription',
    plan: 'Plan',
    priceLabel: 'Price',
    price: (amount: string, period: SubscriptionPeriod, count: number) =>
      count === 1 ? `${amount} a ${period}` : `${amount} every ${count} ${period}s`,
    trial: 'Free trial',
    days: (count: number) => (count === 1 ? '1 day' : `${count} days`),
    until: 'until',
    firstCharge: 'First charge',
    today: 'With this payment',
    nextCharge: 'Next charge',
    chargedIn: (days: number) =>
      `The first charge comes in ${days === 1 ? '1 day' : `${days} days`}.`,
    begin: (price: string, day: string) => `Subscribe: ${price} from ${day}`,
    cancel: (host: string | null) =>
      `You can cancel at any time ${host === null ? 'in the shop' : `at ${host}`}: nothing is charged after that.`,
    ended: 'The subscription has ended: nothing more is charged.',
  },
  footerSaving: 'Card details go straight to the bank. The shop sees the last 4 digits only.',

  cardNumber: 'Card number',
  cardExpiry: 'Expiry',
  cardExpiryExample: 'MM/YY',
  cardCvc: 'CVC',
  cardCvcHint: 'Three digits on the back',
  cardHolder: 'Name on card',
  optional: 'optional',
  cardHolderExample: 'IVAN IVANOV',
  testCards: 'Test cards',
  testCardsHint: 'Press one to fill the form. Any other valid number works too.',
  // Begins with the text of the button: users of speech control say what they see.
  fillIn: (brand: string, number: string) => `${brand} ${number}, fill the form with this card`,

  wait: {
    title: 'The bank is processing the payment',
    text: 'It usually takes a few seconds. There is no need to reload the page.',
  },
  qr: {
    title: 'Pay with SBP',
    text: 'Point your phone’s camera at the QR code or scan it in your bank’s app.',
  },
  qrPhone: 'Open your bank’s app. Or scan the code with another phone.',
  qrLabel: 'QR code to pay with SBP',
  qrOpen: 'Open the bank app',
  qrBanks: 'Choose your bank to open its app. Or scan the code with another phone.',
  qrOther: 'Another bank',
  qrHere: 'Open the link on this device',
  waitingForBank: 'Waiting for the bank',
  redirect: (method: string) => ({
    title: `Confirm the payment in ${method}`,
    text: 'Come back to this page afterwards; it updates by itself.',
  }),
  redirectGo: (method: string) => `Go to ${method}`,
  threeDSecure: {
    title: 'The bank asks you to confirm',
    text: 'Your bank’s page will open: enter the code or confirm in the app.',
  },
  threeDSecureGo: 'Go to the bank’s page',

  succeeded: { title: 'Paid', text: 'The payment went through. The shop gets a confirmation.' },
  held: {
    title: 'The money is held',
    text: 'Your bank holds the amount, and you are done here. The shop takes it later, or part of it; what it does not take is yours again.',
  },
  captured: 'Charged',
  failed: 'The payment did not go through',
  notCharged: 'You were not charged.',
  expired: 'Time is up',
  cancelled: {
    title: 'Payment cancelled',
    text: 'The shop cancelled this payment. You were not charged.',
  },
  refunded: {
    title: 'Money returned',
    text: 'The shop returned the whole payment. When it arrives depends on your bank.',
  },
  refunds: { pending: 'On its way back', succeeded: 'Returned' },
  late: {
    title: 'The money goes back to you',
    text: 'The whole amount is returned by itself; nothing is needed from you. When it arrives depends on your bank.',
    because: {
      expired: 'The bank confirmed the payment when its time was already up.',
      cancelled: 'The bank confirmed the payment when the shop had already cancelled it.',
      failed: 'The bank confirmed the payment after it had been declined.',
    },
  },
  lateReason: 'The payment came too late',

  date: 'Date',
  moscowTime: 'Moscow time',
  paidWith: 'Method',
  card: 'Card',
  savedMethod: 'Saved payment method',
  brands: { mir: 'Mir', visa: 'Visa', mastercard: 'Mastercard', unionpay: 'UnionPay' },
  refundsLabel: 'Returned money',
  fiscalReceipt: 'Fiscal receipt',
  fiscalStates: { registered: 'Registered', beingRegistered: 'Being registered' },
  print: 'Print the receipt',

  stuck: {
    fixed: {
      title: 'Need another way to pay?',
      text: 'This payment can only be made this way. To pay differently, go back to the shop and start again.',
    },
    atBank: {
      title: 'Can’t pay this way?',
      text: 'The way to pay cannot be changed any more. If you have not confirmed anything at the bank, go back to the shop and start again: this payment ends by itself.',
    },
    waiting: {
      title: 'Taking long?',
      text: 'You need not wait here: the shop learns the result by itself, and this address shows it. Please do not pay a second time until it is known.',
    },
  },
  toSite: (host: string) => `Go to ${host}`,
  backToShop: 'Back to the shop',
  returning: 'Taking you back to the shop…',
  closePage: 'You can close this page.',
  keepPage: 'This page is your receipt. Its link keeps working.',
  failureCode: 'Code',
  failures: {
    do_not_honor: { reason: 'The bank declined the payment', advice: callBank },
    generic_decline: {
      reason: 'The bank declined the payment and gave no reason',
      advice: callBank,
    },
    insufficient_funds: {
      reason: 'There is not enough money in the account',
      advice: 'Top up the account or choose another way, and start again in the shop.',
    },
    limit_exceeded: {
      reason: 'A spending limit was exceeded',
      advice:
        'Change the limit in your bank’s app or choose another way, and start again in the shop.',
    },
    call_issuer: { reason: 'The bank asks you to contact it', advice: callBank },
    expired_card: { reason: 'The card has expired', advice: otherWay },
    invalid_card_number: { reason: 'The card number is wrong', advice: checkCard },
    invalid_expiry: { reason: 'The card’s expiry date is wrong', advice: checkCard },
    incorrect_cvc: { reason: 'The CVC is wrong', advice: checkCard },
    lost_card: { reason: 'The bank has blocked this card', advice: callBank },
    stolen_card: { reason: 'The bank has blocked this card', advice: callBank },
    pickup_card: { reason: 'The bank has blocked this card', advice: callBank },
    card_restricted: { reason: 'The card is restricted', advice: callBank },
    transaction_not_permitted: {
      reason: 'The card does not allow such payments',
      advice: otherWay,
    },
    country_not_supported: { reason: 'Cards of this country are not accepted', advice: otherWay },
    fraud_suspected: { reason: 'The bank stopped the payment for safety', advice: callBank },
    authentication_failed: {
      reason: 'The payment was not confirmed',
      advice: 'Go back to the shop and start again: the bank needs your confirmation.',
    },
    authorization_revoked: { reason: 'The permission to charge was withdrawn', advice: otherWay },
    identification_required: {
      reason: 'The bank asks you to prove your identity',
      advice: 'Do it in your bank’s app, or choose another way, and start again in the shop.',
    },
    account_not_found: { reason: 'The account was not found', advice: otherWay },
    issuer_unavailable: { reason: 'Your bank is not answering at the moment', advice: later },
    processing_error: { reason: 'A technical fault stopped the payment', advice: later },
    session_expired: {
      reason: 'The bank did not get a confirmation in time',
      advice:
        'Go back to the shop and start again. If you are charged after all, the money comes back by itself.',
    },
    link_expired: {
      reason: 'The payment link has expired',
      advice: 'You were not charged. Go back to the shop and start again.',
    },
    capture_expired: {
      reason: 'The shop did not take the money in time',
      advice:
        'You were not charged: your bank releases what it held. If you still want the order, place it in the shop again.',
    },
    method_unavailable: { reason: 'This way to pay is not available at the moment', advice: later },
    unknown_bank_code: { reason: 'The bank declined the payment', advice: callBank },
  } satisfies Readonly<Record<PaymentFailureCode, FailureWords>>,

  testMode: 'Test mode',
  testModeText: 'no money moves',
  plan: 'The bank’s answer',
  planSelect: 'What the practice bank will answer',
  planFails: 'Declined',
  outcomes: {
    succeeded: 'Payment succeeds',
    requires_action: 'Asks to confirm',
    pending: 'Never answers',
    failed: 'Declined',
  },

  bankName: 'Practice Bank',
  bankNotice: 'this imitates a bank, no money moves.',
  bankPageTitle: 'Confirm the payment',
  bankShop: 'Shop',
  bankAmount: 'Amount',
  bankCode: {
    title: 'Enter the code from the message',
    text: 'In test mode any six digits are right, and 000000 is wrong.',
  },
  bankCodeLabel: 'Confirmation code',
  bankCodeWrong: 'Enter six digits.',
  bankApp: (method: string) => ({
    title: 'Confirm the payment',
    text: `This is what the buyer confirms in the app: ${method}.`,
  }),
  bankApprove: 'Confirm',
  bankDecline: 'Decline',

  unknownPage: {
    title: 'There is no such payment page',
    text: 'Check that the whole link was copied, or ask the shop to send it again.',
  },
  brokenPage: {
    title: 'The page did not open',
    text: 'The fault is ours, and nothing happened to the payment. Try again in a minute.',
  },
  busyPage: {
    title: 'Too many visits at once',
    text: 'Nothing happened to the payment. Try again in a few seconds.',
  },
  tryAgain: 'Try again',

  refusals: {
    bad_request: 'The bank did not accept these details. Check them and try again.',
    not_pending: 'The payment has already moved on, perhaps in another tab. Here is how it stands.',
    method_unsupported: 'This way to pay is not available now.',
    route_not_configured: 'The shop does not accept this way to pay yet.',
    live_not_enabled: 'The shop does not take payments at the moment.',
    aml_blocked: 'This card is not accepted. Use another one.',
    not_found: 'There is no such payment.',
    rate_limited: 'Too many requests from here just now. Try again in a few seconds.',
  },
  refused: 'That did not work. Try again.',

  browser: {
    numberEmpty: 'Enter the card number',
    numberShort: 'Some digits are missing',
    numberWrong: 'Check the number: there is a typo',
    numberAmex: 'American Express is not accepted. Use Mir, Visa, Mastercard or UnionPay.',
    numberJcb: 'JCB is not accepted. Use Mir, Visa, Mastercard or UnionPay.',
    numberDiners: 'Diners Club is not accepted. Use Mir, Visa, Mastercard or UnionPay.',
    expiryEmpty: 'Enter the expiry date',
    expiryWrong: 'Month and year, such as 09/28',
    expiryPast: 'The card has expired',
    cvcEmpty: 'Enter the CVC',
    cvcWrong: 'Three digits on the back',
    holderEmpty: 'Enter the name as on the card',
    holderWrong: 'In Latin letters, as on the card',
    offline: 'No connection. The page updates as soon as it is back.',
    unsure: 'The connection broke. Please wait: we are checking whether the payment has begun.',
    // The request never arrived: sending it again is safe.
    unsent:
      'The connection broke before the payment began. Press the button again: you cannot be charged twice.',
    filled: 'The form is filled with a test card',
  },
};

export type Words = typeof en;
