/**
 * Free texts in the graph, and what an erasure of personal data does with each. `build-subgraph`
 * masks card numbers in them.
 */
/**
 * Why an erasure of personal data skips a text: it is about something else, is not stored, or is
 * erased by other means.
 */
const stays = {
  merchant: 'stays: what the merchant calls itself, its shops, goods and addresses',
  number: 'stays: a number of the merchant, where nothing personal belongs',
  program: 'stays: words of the program, the acquirer or the cash register',
  console: "stays: an operator's own list or view",
  answer: 'stays: it is not stored',
  month: 'stays: frozen, and goes with its month',
  day: 'stays: masked when it was written, and goes with its day',
  books: 'stays: the ledger is kept',
  log: 'stays: the log masks names, and what people wrote is kept beside it (audit_text)',
} as const;

type ErasedColumn = `${string}.${string}`;
type Erasure = ErasedColumn | (typeof stays)[keyof typeof stays];

/**
 * The fields that hold them, by type, each with the column that an erasure of personal data
 * empties, or why none. A test holds the list against every text of the schema, another one the
 * erasure against the list.
 */
export const freeTexts: Readonly<Record<string, Readonly<Record<string, Erasure>>>> = {
  Payment: {
    orderId: stays.number,
    returnUrl: stays.merchant,
    description: 'payment.description',
    metadata: 'payment.metadata',
    customerCardHolder: 'payment.customer_card_holder',
  },
  PaymentNote: { text: 'payment_note.text' },
  PaymentLink: {
    description: 'payment_link.description',
    metadata: 'payment_link.metadata',
    orderId: stays.number,
    returnUrl: stays.merchant,
  },
  Receipt: { failureReason: stays.program },
  ReceiptItem: { description: stays.merchant, markCode: stays.merchant },
  Refund: { reason: 'refund.reason', metadata: 'refund.metadata' },
  RefundDraft: { reason: 'refund_draft.reason', rejectReason: 'refund_draft.reject_reason' },
  RefundDraftRefusal: { message: stays.program },
  Payout: { orderId: stays.number, metadata: 'payout.metadata' },
  PayoutRecipient: { fullName: 'payout.recipient_name' },
  PayoutDraft: { reason: 'payout_draft.reason', rejectReason: 'payout_draft.reject_reason' },
  PayoutDraftRecipient: { fullName: 'payout_draft.recipient_name' },
  PayoutDraftRefusal: { message: stays.program },
  PayoutBatchItem: { error: stays.answer },
  Token: {
    customerRef: 'token.customer_ref',
    metadata: 'token.metadata',
    cardHolder: 'token.card_holder',
  },
  BillingSubscription: {
    customerRef: 'subscription.customer_ref',
    planName: stays.merchant,
    metadata: 'subscription.metadata',
    cancelReason: 'subscription.cancel_reason',
  },
  SubscriptionTerms: { planName: stays.merchant },
  Merchant: { name: stays.merchant },
  Shop: { name: stays.merchant, terminalName: stays.merchant },
  ApiKey: { name: stays.merchant },
  ShopBalance: { shopName: stays.merchant },
  ShopClosing: { shopName: stays.merchant },
  WebhookEndpoint: { url: stays.merchant },
  WebhookDelivery: { url: stays.merchant },
  WebhookFailure: { url: stays.merchant },
  WebhookRequest: { body: stays.month },
  WebhookAttempt: { error: stays.month, responseHead: stays.month },
  WebhookEndpointTested: { error: stays.answer, responseHead: stays.answer },
  SavedView: { name: stays.console, search: stays.console },
  LoggedEvent: { data: stays.month },
  LedgerEntry: { description: stays.books },
  AuditEntry: {
    actorName: stays.merchant,
    subjectName: stays.merchant,
    before: stays.log,
    after: stays.log,
    requestId: stays.number,
  },
  BlockEntry: { reason: stays.console },
  ForbiddenPurpose: { word: stays.console, reason: stays.console },
  Alert: { detail: stays.program, note: 'alert.note' },
  AlertField: { value: stays.program },
  ReconciliationRun: { reference: stays.number },
  ReconciliationDifference: {
    reference: stays.number,
    detail: stays.program,
    note: 'reconciliation_difference.note',
  },
  ApiRequest: {
    path: stays.day,
    idempotencyKey: stays.day,
    requestBody: stays.day,
    responseBody: stays.day,
  },
  Refused: { message: stays.answer },
  FieldMistake: { path: stays.answer, message: stays.answer },
};

/** The columns of free texts that an erasure empties, by table. */
export const erasedTexts: ReadonlyMap<string, readonly string[]> = Object.values(freeTexts)
  .flatMap((fields) => Object.values(fields))
  .reduce((tables, erasure) => {
    const [, table, column] = /^(\w+)\.(\w+)$/.exec(erasure) ?? [];
    if (table === undefined || column === undefined) return tables;
    return tables.set(table, [...(tables.get(table) ?? []), column]);
  }, new Map<string, readonly string[]>());
