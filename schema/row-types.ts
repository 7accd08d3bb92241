/** The program's own types behind those of the graph: what resolvers get and give. */
import { Kind } from 'graphql';
import { readSubgraphSdl, type SubgraphName } from './sources.ts';

const rows = (folder: string, types: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(types).map(([type, row]) => [
      type,
      `../../subgraphs/${folder}#${row} as ${row}Row`,
    ]),
  );

const reference = '../../subgraphs/platform/graph/entities.ts#EntityReference';
const shown = '../../subgraphs/merchants/rows.ts#';
const eventRow = `${shown}EventRow`;

/** The object types of the merchants subgraph that implement an interface. */
const implementationsOf = (wanted: string): readonly string[] =>
  readSubgraphSdl('merchants').definitions.flatMap((definition) =>
    definition.kind === Kind.OBJECT_TYPE_DEFINITION &&
    definition.interfaces?.some(({ name }) => name.value === wanted)
      ? [definition.name.value]
      : [],
  );

/** What stands behind a GraphQL type inside its subgraph, where it is not the type's own shape. */
export const rowTypes: Record<SubgraphName, Record<string, string>> = {
  payments: {
    ...rows('payments/entities.ts', { Payment: 'Payment', RecurringPayment: 'RecurringPayment' }),
    ...rows('payments/entities.ts', { Refund: 'Refund' }),
    ...rows('payments/entities.ts', { RefundDraft: 'RefundDraft' }),
    ...rows('payments/refund-drafts/create-draft.ts', { RefundDraftConnection: 'RefundDraftPage' }),
    ...rows('payments/find-payments.ts', {
      PaymentConnection: 'PaymentPage',
      RefundConnection: 'RefundPage',
    }),
    ...rows('payments/entities.ts', { PaymentLink: 'PaymentLink' }),
    ...rows('payments/checkout/page-openings.ts', { Checkout: 'CheckoutPage' }),
    ...rows('payments/entities.ts', { Receipt: 'Receipt' }),
    ...rows('payments/receipts/store-receipts.ts', { ReceiptConnection: 'ReceiptPage' }),
  },
  payouts: {
    ...rows('payouts/entities.ts', { Payout: 'Payout' }),
    ...rows('payouts/find-payouts.ts', { PayoutConnection: 'PayoutPage' }),
    ...rows('payouts/entities.ts', { PayoutDraft: 'PayoutDraft' }),
    ...rows('payouts/drafts/create-draft.ts', { PayoutDraftConnection: 'DraftPage' }),
  },
  recurring: {
    ...rows('recurring/entities.ts', { Token: 'Token' }),
    ...rows('recurring/entities.ts', {
      BillingSubscription: 'Subscription',
      SubscriptionCharge: 'SubscriptionCharge',
      SubscriptionTerms: 'Subscription as SubscriptionTermsRow',
    }),
    ...rows('recurring/find-recurring.ts', {
      BillingSubscriptionConnection: 'SubscriptionPage',
    }),
    ...rows('recurring/customers/customer-session.ts', {
      CustomerPage: 'CustomerPage as CustomerRow',
    }),
    Payment: reference,
  },
  merchants: {
    ...rows('merchants/entities.ts', {
      ApiKey: 'ApiKey',
      WebhookEndpoint: 'WebhookEndpoint',
      WebhookDelivery: 'WebhookDelivery',
      WebhookAttempt: 'WebhookAttempt',
    }),
    ...rows('platform/database/entities.ts', { AuditEntry: 'AuditEntry', Merchant: 'Merchant' }),
    PersonSession: '../../subgraphs/merchants/entities.ts#ConsoleSession as SessionRow',
    ...rows('merchants/entities.ts', { SavedView: 'SavedView' }),
    SearchHit: '../../subgraphs/merchants/search/search-anything.ts#Found as FoundRow',
    Viewer: '../../subgraphs/platform/access/principal.ts#OperatorPrincipal',
    Shop: '../../subgraphs/platform/database/entities.ts#Shop as ShopRow',
    LiveEventKind: '../../subgraphs/rules/event.ts#LiveKind',
    WebhookEvent: '../../subgraphs/rules/event.ts#WebhookEvent as WebhookEventName',
    ApiRequest: '../../subgraphs/merchants/entities.ts#ApiRequest as ApiRequestRow',
    LoggedEvent: `${shown}LoggedEvent as LoggedEventRow`,
    LedgerEntry: `${shown}LedgerRow`,
    ...rows('merchants/rows.ts', {
      LedgerConnection: 'LedgerPage',
      WebhookDeliveryConnection: 'DeliveryPage',
    }),
    ReconciliationRun:
      '../../subgraphs/merchants/reconciliation/entities.ts#ReconciliationRun as ReconciliationRunRow',
    ReconciliationDifference:
      '../../subgraphs/merchants/reconciliation/entities.ts#ReconciliationDifference as ReconciliationDifferenceRow',
    ConsoleSession: '../../subgraphs/merchants/entities.ts#ConsoleSession as SessionRow',
    Alert: '../../subgraphs/platform/alerts/entities.ts#Alert as AlertRow',
    RateRecord: '../../subgraphs/ledger/entities.ts#Rate as RateRow',
    BankRoute: '../../subgraphs/acquirers/entities.ts#BankRoute as BankRouteRow',
    BlockEntry: '../../subgraphs/platform/policies/policies.ts#BlockEntry as BlockEntryRow',
    ForbiddenPurpose:
      '../../subgraphs/platform/policies/policies.ts#ForbiddenWord as ForbiddenWordRow',
    ExchangeRate: '../../subgraphs/platform/policies/policies.ts#ExchangeRate as ExchangeRateRow',
    Payment: reference,
    Refund: reference,
    Payout: reference,
    BillingSubscription: reference,
    LiveEvent: eventRow,
    ...Object.fromEntries(implementationsOf('LiveEvent').map((type) => [type, eventRow])),
  },
};
