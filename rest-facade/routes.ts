/**
 * The facade is this table: one row per documented route. A row names the operation behind the
 * route, the root field whose access row holds the scopes, how a request becomes variables, and how
 * data becomes an answer. `schema/openapi.yaml` defines valid requests.
 */
import { nullish, object, picklist, safeParse } from 'valibot';
import type { OperationMap, OperationName } from '../schema/generated/operation-map.ts';
import type {
  CustomerSessionCreateInput,
  Idempotency,
  LedgerEntryType,
  PaymentCreateInput,
  PaymentLinkCreateInput,
  PaymentLinkStatus,
  PaymentStatus,
  PayoutCreateInput,
  PayoutMethod,
  PayoutStatus,
  ReceiptInput,
  ReceiptStatus,
  RefundStatus,
  RefusedFieldsFragment,
  SubscriptionCreateInput,
  SubscriptionStatus,
  TokenCreateInput,
  TokenStatus,
  WebhookEvent as GraphEvent,
} from '../schema/generated/operations.ts';
import { deliveredEventJson, loggedEventJson } from '../schema/event-log-json.ts';
import { receiptJson } from '../schema/receipt-json.ts';
import {
  balanceJson,
  chargeJson,
  ledgerEntryJson,
  linkJson,
  paymentJson,
  payoutJson,
  rateJson,
  refundJson,
  requestJson,
  sbpBankJson,
  scheduleJson,
  subscriptionJson,
  tokenJson,
  wholePaymentJson,
  withPage,
} from '../schema/wire.ts';
import { payoutScopes, type access } from '../subgraphs/kernel/service/access/access.ts';
import { graphKindOf, type WebhookEvent } from '../subgraphs/kernel/rules/event.ts';
import { publicIdInAnyCase } from '../subgraphs/kernel/rules/uuid.ts';
import type { Scope } from '../subgraphs/kernel/service/access/principal.ts';

/** A valid request. Fields of body and query are camelCase, and defaults are filled in. */
export interface ValidRequest<Body, Query> {
  /** The `{id}` of the path, lower case, with its prefix; '' where there is none. */
  readonly id: string;
  readonly body: Body;
  readonly query: Query;
  /** Null without the header. */
  readonly idempotency: Idempotency | null;
}

/** What the merchant gets. */
export interface Answer {
  readonly status: 200 | 201;
  readonly body: object;
  /** A replay has the header Idempotent-Replayed. */
  readonly replayed: boolean;
}

/** What a mutation answers instead of its result. */
type Refused = Omit<RefusedFieldsFragment, '__typename'>;

/** Null: there is no such object. */
export type Outcome = Answer | Refused | null;

/** A row as the facade runs it: any operation, any request. */
export interface Route {
  readonly method: 'GET' | 'POST';
  /** OpenAPI style: `/v1/public/payments/{id}`. */
  readonly path: string;
  readonly operation: OperationName | 'StreamEvents';
  /** The row of the access table. */
  readonly field: keyof typeof access;
  /** The prefix before the UUID of the path's `{id}`: `evt_`. Absent: none. */
  readonly idPrefix?: string;
  /** The form of the path's `{id}`, with its case, where it is no UUID. Absent: a UUID. */
  readonly idForm?: RegExp;
  /** What else names the route's object, in lower case: the public number of a payment. */
  readonly otherId?: RegExp;
  /** Whether the route accepts Idempotency-Key. */
  readonly idempotent: boolean;
  /** 256 KiB, a batch 1 MiB. */
  readonly bodyLimit_bytes: number;
  /**
   * json: one operation, one answer. list: one answer out of as many pages of the operation as
   * there are. ledger: json, or a CSV file. stream: server-sent events.
   */
  readonly kind: 'json' | 'list' | 'ledger' | 'stream';
  /**
   * A scope that the body decides, in addition to those of the access row, as for payouts by
   * method.
   */
  readonly bodyScope?: (body: unknown) => Scope | null;
  readonly variables: (request: ValidRequest<never, never>) => Readonly<Record<string, unknown>>;
  readonly answer: (data: never, request: ValidRequest<never, never>) => Outcome;
}

interface Row<Name extends OperationName, Body, Query>
  extends
    Pick<Route, 'method' | 'path' | 'field'>,
    Partial<
      Pick<
        Route,
        'idempotent' | 'idPrefix' | 'idForm' | 'otherId' | 'bodyLimit_bytes' | 'kind' | 'bodyScope'
      >
    > {
  readonly operation: Name;
  readonly variables: (request: ValidRequest<Body, Query>) => OperationMap[Name]['variables'];
  readonly answer: (
    data: OperationMap[Name]['result'],
    request: ValidRequest<Body, Query>,
  ) => Outcome;
}

const bodyLimit_bytes = 256 * 1_024;
const batchBodyLimit_bytes = 1_024 * 1_024;

const row = <Name extends OperationName, Body = Empty, Query = Empty>(
  of: Row<Name, Body, Query>,
): Route => ({
  idempotent: false,
  bodyLimit_bytes,
  kind: 'json',
  ...of,
});

/** The merchant's own pairs. */
type Metadata = Readonly<Record<string, string>>;
type Empty = Readonly<Record<never, never>>;
interface Page {
  readonly limit: number;
  readonly cursor?: string;
  readonly from?: string;
  readonly to?: string;
}
interface StatusPage<Status> extends Page {
  readonly status?: Status[];
}
/** Moments between which the rows of a page were made, and further fields of its list's filter. */
type Narrowed<Fields = Empty> = Partial<Fields> & {
  readonly createdFrom?: string;
  readonly createdTo?: string;
};

const ok = (body: object): Answer => ({ status: 200, body, replayed: false });
const created = (body: object, idempotent: boolean): Answer => ({
  status: idempotent ? 200 : 201,
  body,
  replayed: idempotent,
});
/** A refusal whose fields are in the body itself, while other bodies have them within `name`. */
const ofBody = (refused: Refused, name: string): Refused => ({
  ...refused,
  fields: refused.fields.map(({ path, message }) => ({
    path: path.replace(`${name}.`, ''),
    message,
  })),
});
const cancelled = ok({ status: 'cancelled' });
const paged = <Node>(
  {
    nodes,
    pageInfo,
  }: { nodes: readonly Node[]; pageInfo: { hasNextPage: boolean; endCursor: string | null } },
  json: (node: Node) => object,
): Answer =>
  ok({ items: nodes.map(json), next_cursor: pageInfo.hasNextPage ? pageInfo.endCursor : null });
/** A page of a list that is answered as a whole by default: `call.ts`. */
interface ListPage {
  readonly limit?: number;
  readonly cursor?: string;
}
/** The filter of a list; null where the query narrows nothing, which is the registry's own page. */
const filterOf = <Fields extends object>(fields: Fields): Fields | null =>
  Object.values(fields).some((value) => value !== undefined) ? fields : null;
const narrowed = <Fields extends object>({ createdFrom, createdTo }: Narrowed, fields: Fields) =>
  filterOf({ ...fields, since: createdFrom, until: createdTo });
const pageVariables = ({ limit, cursor, from, to }: Page) => ({
  first: limit,
  after: cursor ?? null,
  from: from ?? null,
  to: to ?? null,
});

const payments = [
  row<'CreatePayment', PaymentCreateInput>({
    method: 'POST',
    path: '/v1/public/payments',
    operation: 'CreatePayment',
    field: 'Mutation.paymentCreate',
    idempotent: true,
    variables: ({ body, idempotency }) => ({ input: body, idempotency }),
    answer: ({ paymentCreate: result }) =>
      result.__typename === 'Refused'
        ? result
        : created(
            {
              payment: wholePaymentJson(result.payment),
              payment_url: result.paymentUrl,
              mode: result.mode,
              idempotent: result.idempotent,
              simulator: result.simulator,
              bank: result.bank,
              bank_ref: result.bankRef,
              failure_code: result.failureCode,
              failure_message: result.failureMessage,
            },
            result.idempotent,
          ),
  }),
  row<
    'ListPayments',
    Empty,
    StatusPage<PaymentStatus> & { includeTest?: '0' | '1' } & Narrowed<{
        orderId: string;
        customerId: string;
      }>
  >({
    method: 'GET',
    path: '/v1/public/payments',
    operation: 'ListPayments',
    field: 'Query.payments',
    variables: ({ query }) => ({
      ...pageVariables(query),
      status: query.status ?? null,
      includeTest: query.includeTest === '1',
      filter: narrowed(query, { orderId: query.orderId, customerId: query.customerId }),
    }),
    answer: ({ payments: page }) => paged(page, paymentJson),
  }),
  row<'GetPayment'>({
    method: 'GET',
    path: '/v1/public/payments/{id}',
    otherId: publicIdInAnyCase,
    operation: 'GetPayment',
    field: 'Query.payment',
    variables: ({ id }) => ({ id }),
    answer: ({ payment }) => payment && ok(wholePaymentJson(payment)),
  }),
  row<'CancelPayment'>({
    method: 'POST',
    path: '/v1/public/payments/{id}/cancel',
    operation: 'CancelPayment',
    field: 'Mutation.paymentCancel',
    variables: ({ id }) => ({ id }),
    answer: ({ paymentCancel: result }) =>
      result.__typename === 'Refused' ? result : ok({ status: result.payment.status }),
  }),
  row<'CapturePayment', { amount?: number; receipt?: ReceiptInput }>({
    method: 'POST',
    path: '/v1/public/payments/{id}/capture',
    operation: 'CapturePayment',
    field: 'Mutation.paymentCapture',
    idempotent: true,
    variables: ({ id, body, idempotency }) => ({
      id,
      amount: body.amount ?? null,
      receipt: body.receipt ?? null,
      idempotency,
    }),
    answer: ({ paymentCapture: result }) =>
      result.__typename === 'Refused'
        ? result
        : {
            status: 200,
            body: { payment: wholePaymentJson(result.payment) },
            replayed: result.idempotent,
          },
  }),
  row<
    'CreateRefund',
    { amount?: number; reason?: string; receipt?: ReceiptInput; metadata?: Metadata }
  >({
    method: 'POST',
    path: '/v1/public/payments/{id}/refund',
    operation: 'CreateRefund',
    field: 'Mutation.refundCreate',
    idempotent: true,
    variables: ({ id, body, idempotency }) => ({
      paymentId: id,
      amount: body.amount ?? null,
      reason: body.reason ?? null,
      receipt: body.receipt ?? null,
      metadata: body.metadata ?? null,
      idempotency,
    }),
    answer: ({ refundCreate: result }) =>
      result.__typename === 'Refused'
        ? result
        : created(refundJson(result.refund), result.idempotent),
  }),
  row<'CloseReceipt', ReceiptInput>({
    method: 'POST',
    path: '/v1/public/payments/{id}/receipts',
    operation: 'CloseReceipt',
    field: 'Mutation.receiptClose',
    idempotent: true,
    variables: ({ id, body, idempotency }) => ({ paymentId: id, receipt: body, idempotency }),
    answer: ({ receiptClose: result }) =>
      result.__typename === 'Refused'
        ? ofBody(result, 'receipt')
        : created({ receipt: receiptJson(result.receipt) }, result.idempotent),
  }),
  row<'ListReceipts', Empty, StatusPage<ReceiptStatus> & { paymentId?: string }>({
    method: 'GET',
    path: '/v1/public/receipts',
    operation: 'ListReceipts',
    field: 'Query.receipts',
    variables: ({ query }) => ({
      ...pageVariables(query),
      status: query.status ?? null,
      paymentId: query.paymentId ?? null,
    }),
    answer: ({ receipts: page }) => paged(page, receiptJson),
  }),
  row<'GetReceipt'>({
    method: 'GET',
    path: '/v1/public/receipts/{id}',
    operation: 'GetReceipt',
    field: 'Query.receipt',
    variables: ({ id }) => ({ id }),
    answer: ({ receipt }) => receipt && ok(receiptJson(receipt)),
  }),
  row<'ListRefunds', Empty, StatusPage<RefundStatus> & Narrowed<{ paymentId: string }>>({
    method: 'GET',
    path: '/v1/public/refunds',
    operation: 'ListRefunds',
    field: 'Query.refunds',
    variables: ({ query }) => ({
      ...pageVariables(query),
      status: query.status ?? null,
      filter: narrowed(query, { paymentId: query.paymentId }),
    }),
    answer: ({ refunds: page }) => paged(page, refundJson),
  }),
];

const ofPayoutMethod = object({
  method: nullish(picklist(['payouts_sbp', 'payouts_card', 'payouts_account']), 'payouts_sbp'),
});
/**
 * The scope of the payout's method; null when the method is not one, which validation reports.
 */
const payoutScope = (body: unknown): Scope | null => {
  const { success, output } = safeParse(ofPayoutMethod, Object(body));
  return success ? payoutScopes[output.method] : null;
};

type BatchItem = Omit<PayoutCreateInput, 'amount'> & { readonly amount?: number };

/**
 * A missing amount, or one below 1, fails only its item. The graph has no negative amounts, so it
 * gets 0.
 */
const batchAmount = ({ amount = 0 }: BatchItem): number => Math.max(amount, 0);
/** The error of an item; for an amount that the graph did not see, it states the original value. */
const batchError = (
  item: BatchItem | undefined,
  { code, error }: { readonly code: string | null; readonly error: string | null },
): string | null =>
  code === 'bad_request' && item && batchAmount(item) === 0
    ? `amount: expected an integer from 1 to ${Number.MAX_SAFE_INTEGER}, got ${item.amount ?? 'nothing'}`
    : error;

const payouts = [
  row<'CreatePayout', PayoutCreateInput>({
    method: 'POST',
    path: '/v1/public/payouts',
    operation: 'CreatePayout',
    field: 'Mutation.payoutCreate',
    idempotent: true,
    bodyScope: payoutScope,
    variables: ({ body, idempotency }) => ({ input: body, idempotency }),
    answer: ({ payoutCreate: result }) =>
      result.__typename === 'Refused'
        ? result
        : created(
            {
              payout: payoutJson(result.payout),
              mode: result.mode,
              idempotent: result.idempotent,
              simulator: result.simulator,
              bank: result.bank,
              bank_ref: result.bankRef,
              failure_reason: result.failureReason,
            },
            result.idempotent,
          ),
  }),
  row<'CreatePayoutBatch', { method: PayoutMethod; items: BatchItem[] }>({
    method: 'POST',
    path: '/v1/public/payouts/batch',
    operation: 'CreatePayoutBatch',
    field: 'Mutation.payoutBatchCreate',
    idempotent: true,
    bodyScope: payoutScope,
    bodyLimit_bytes: batchBodyLimit_bytes,
    variables: ({ body: { method, items }, idempotency }) => ({
      method,
      items: items.map((item) => ({ ...item, amount: batchAmount(item), method })),
      idempotency,
    }),
    answer: ({ payoutBatchCreate: result }, { body: { items } }) => {
      if (result.__typename === 'Refused') return result;
      const results = result.results.map(
        ({ payoutId, index, status, method, amount, code, error }) => ({
          index,
          status,
          method,
          amount,
          payout_id: payoutId,
          code,
          error: batchError(items[index], { code, error }),
        }),
      );
      return created(
        {
          mode: result.mode,
          created: result.created,
          failed: result.failed,
          total: result.total,
          results,
        },
        result.idempotent,
      );
    },
  }),
  row<
    'ListPayouts',
    Empty,
    StatusPage<PayoutStatus> & { method?: PayoutMethod[] } & Narrowed<{ orderId: string }>
  >({
    method: 'GET',
    path: '/v1/public/payouts',
    operation: 'ListPayouts',
    field: 'Query.payouts',
    variables: ({ query }) => ({
      ...pageVariables(query),
      status: query.status ?? null,
      method: query.method ?? null,
      filter: narrowed(query, { orderId: query.orderId }),
    }),
    answer: ({ payouts: page }) => paged(page, payoutJson),
  }),
  row<'GetPayout'>({
    method: 'GET',
    path: '/v1/public/payouts/{id}',
    operation: 'GetPayout',
    field: 'Query.payout',
    variables: ({ id }) => ({ id }),
    answer: ({ payout }) => payout && ok(payoutJson(payout)),
  }),
  row<'ListSbpBanks'>({
    method: 'GET',
    path: '/v1/public/banks/sbp',
    operation: 'ListSbpBanks',
    field: 'Query.sbpBanks',
    variables: () => ({}),
    answer: ({ sbpBanks }) => ok({ items: sbpBanks.map(sbpBankJson) }),
  }),
];

const money = [
  row<'GetBalance', Empty, { currency: string }>({
    method: 'GET',
    path: '/v1/public/balance',
    operation: 'GetBalance',
    field: 'Query.balance',
    variables: ({ query: { currency } }) => ({ currency }),
    answer: ({ balance }) => ok(balanceJson(balance)),
  }),
  row<'ListRates'>({
    method: 'GET',
    path: '/v1/public/rates',
    operation: 'ListRates',
    field: 'Query.rates',
    variables: () => ({}),
    answer: ({ rates }) => ok({ rates: rates.map(rateJson) }),
  }),
  row<'ListLedger', Empty, Page & { type?: LedgerEntryType }>({
    method: 'GET',
    path: '/v1/public/ledger',
    operation: 'ListLedger',
    field: 'Query.ledger',
    kind: 'ledger',
    variables: ({ query }) => ({ ...pageVariables(query), type: query.type ?? null }),
    answer: ({ ledger: page }) => paged(page, ledgerEntryJson),
  }),
];

/** The operation of the ledger's row for a file: one part of it. */
export const ledgerFilePart: Pick<Route, 'variables' | 'answer'> = {
  variables: ({ query }: ValidRequest<Empty, Page & { type?: LedgerEntryType }>) => ({
    ...pageVariables(query),
    type: query.type ?? null,
  }),
  answer: ({ ledgerFile }: OperationMap['ExportLedger']['result']) => ok(ledgerFile),
};

const subscriptions = [
  row<'CreateSubscription', SubscriptionCreateInput>({
    method: 'POST',
    path: '/v1/public/subscriptions',
    operation: 'CreateSubscription',
    field: 'Mutation.subscriptionCreate',
    idempotent: true,
    variables: ({ body, idempotency }) => ({ input: body, idempotency }),
    answer: ({ subscriptionCreate: result }) =>
      result.__typename === 'Refused'
        ? result
        : created(
            {
              subscription: withPage(
                subscriptionJson(result.subscription),
                result.subscription.payUrl,
              ),
              initial_payment: wholePaymentJson(result.initialPayment),
              pay_url: result.payUrl,
            },
            result.idempotent,
          ),
  }),
  row<
    'ListSubscriptions',
    Empty,
    ListPage & { customerRef?: string; status?: SubscriptionStatus[] }
  >({
    method: 'GET',
    path: '/v1/public/subscriptions',
    operation: 'ListSubscriptions',
    field: 'Query.billingSubscriptionsConnection',
    kind: 'list',
    variables: ({ query: { limit, cursor, customerRef, status } }) => ({
      first: limit ?? null,
      after: cursor ?? null,
      filter: filterOf({ customerRef, status }),
    }),
    answer: ({ billingSubscriptionsConnection: page }) => paged(page, subscriptionJson),
  }),
  row<'GetSubscription'>({
    method: 'GET',
    path: '/v1/public/subscriptions/{id}',
    operation: 'GetSubscription',
    field: 'Query.billingSubscription',
    variables: ({ id }) => ({ id }),
    answer: ({ billingSubscription }) =>
      billingSubscription &&
      ok(withPage(subscriptionJson(billingSubscription), billingSubscription.payUrl)),
  }),
  row<'GetSubscriptionSchedule'>({
    method: 'GET',
    path: '/v1/public/subscriptions/{id}/schedule',
    operation: 'GetSubscriptionSchedule',
    field: 'Query.billingSubscription',
    variables: ({ id }) => ({ id }),
    answer: ({ billingSubscription }) =>
      billingSubscription && ok(scheduleJson(billingSubscription)),
  }),
  row<'CancelSubscription', { reason?: string }>({
    method: 'POST',
    path: '/v1/public/subscriptions/{id}/cancel',
    operation: 'CancelSubscription',
    field: 'Mutation.subscriptionCancel',
    variables: ({ id, body }) => ({ id, reason: body.reason ?? null }),
    answer: ({ subscriptionCancel: result }) =>
      result.__typename === 'Refused' ? result : cancelled,
  }),
];

const tokens = [
  row<'CreateToken', TokenCreateInput>({
    method: 'POST',
    path: '/v1/public/tokens',
    operation: 'CreateToken',
    field: 'Mutation.tokenCreate',
    idempotent: true,
    variables: ({ body, idempotency }) => ({ input: body, idempotency }),
    answer: ({ tokenCreate: result }) =>
      result.__typename === 'Refused'
        ? result
        : created(
            {
              card: withPage(tokenJson(result.token), result.token.payUrl),
              pay_url: result.payUrl,
            },
            result.idempotent,
          ),
  }),
  row<'ListTokens', Empty, ListPage & { customerRef?: string; status?: TokenStatus[] }>({
    method: 'GET',
    path: '/v1/public/tokens',
    operation: 'ListTokens',
    field: 'Query.tokensConnection',
    kind: 'list',
    variables: ({ query: { customerRef, status, limit, cursor } }) => ({
      customerRef: customerRef ?? null,
      status: status ?? null,
      first: limit ?? null,
      after: cursor ?? null,
    }),
    answer: ({ tokensConnection: page }) => paged(page, tokenJson),
  }),
  row<
    'ChargeToken',
    {
      amount: number;
      orderId?: string;
      description?: string;
      receipt?: ReceiptInput;
      metadata?: Metadata;
    }
  >({
    method: 'POST',
    path: '/v1/public/tokens/{id}/charge',
    operation: 'ChargeToken',
    field: 'Mutation.tokenCharge',
    idempotent: true,
    variables: ({ id, body, idempotency }) => ({
      id,
      amount: body.amount,
      orderId: body.orderId ?? null,
      description: body.description ?? null,
      receipt: body.receipt ?? null,
      metadata: body.metadata ?? null,
      idempotency,
    }),
    answer: ({ tokenCharge: result }) =>
      result.__typename === 'Refused'
        ? result
        : created(chargeJson(result.payment), result.idempotent),
  }),
  row<'CancelToken'>({
    method: 'POST',
    path: '/v1/public/tokens/{id}/cancel',
    operation: 'CancelToken',
    field: 'Mutation.tokenCancel',
    variables: ({ id }) => ({ id }),
    answer: ({ tokenCancel: result }) => (result.__typename === 'Refused' ? result : cancelled),
  }),
];

const customers = [
  row<'CreateCustomerSession', CustomerSessionCreateInput>({
    method: 'POST',
    path: '/v1/public/customer-sessions',
    operation: 'CreateCustomerSession',
    field: 'Mutation.customerSessionCreate',
    variables: ({ body }) => ({ input: body }),
    answer: ({ customerSessionCreate: result }) =>
      result.__typename === 'Refused'
        ? result
        : created({ url: result.url, expires_at: result.expiresAt }, false),
  }),
];

const links = [
  row<'CreateLink', PaymentLinkCreateInput>({
    method: 'POST',
    path: '/v1/public/links',
    operation: 'CreateLink',
    field: 'Mutation.linkCreate',
    idempotent: true,
    variables: ({ body, idempotency }) => ({ input: body, idempotency }),
    answer: ({ linkCreate: result }) =>
      result.__typename === 'Refused'
        ? result
        : created({ link: linkJson(result.link) }, result.idempotent),
  }),
  row<'ListLinks', Empty, StatusPage<PaymentLinkStatus>>({
    method: 'GET',
    path: '/v1/public/links',
    operation: 'ListLinks',
    field: 'Query.paymentLinks',
    variables: ({ query }) => ({ ...pageVariables(query), status: query.status ?? null }),
    answer: ({ paymentLinks: page }) => paged(page, linkJson),
  }),
  row<'GetLink'>({
    method: 'GET',
    path: '/v1/public/links/{id}',
    operation: 'GetLink',
    field: 'Query.paymentLink',
    variables: ({ id }) => ({ id }),
    answer: ({ paymentLink }) => paymentLink && ok(linkJson(paymentLink)),
  }),
  row<'DeactivateLink'>({
    method: 'POST',
    path: '/v1/public/links/{id}/deactivate',
    operation: 'DeactivateLink',
    field: 'Mutation.linkDeactivate',
    variables: ({ id }) => ({ id }),
    answer: ({ linkDeactivate: result }) =>
      result.__typename === 'Refused'
        ? result
        : ok({ status: result.link.status, link: linkJson(result.link) }),
  }),
];

const eventLog = [
  row<
    'ListEventLog',
    Empty,
    Omit<Page, 'cursor'> & { after?: string; event?: WebhookEvent[]; subjectId?: string }
  >({
    method: 'GET',
    path: '/v1/public/event-log',
    operation: 'ListEventLog',
    field: 'Query.eventLog',
    variables: ({ query: { limit, after, event, from, to, subjectId } }) => ({
      first: limit,
      after: after ?? null,
      events: event?.map((name): GraphEvent => graphKindOf(name)) ?? null,
      from: from ?? null,
      to: to ?? null,
      subjectId: subjectId ?? null,
    }),
    answer: ({ eventLog: { items, hasMore, lastId } }) =>
      ok({ items: items.map(loggedEventJson), has_more: hasMore, last_id: lastId }),
  }),
  row<'GetLoggedEvent'>({
    method: 'GET',
    path: '/v1/public/event-log/{id}',
    idPrefix: 'evt_',
    operation: 'GetLoggedEvent',
    field: 'Query.loggedEvent',
    variables: ({ id }) => ({ id }),
    answer: ({ loggedEvent }) => loggedEvent && ok(deliveredEventJson(loggedEvent)),
  }),
];

const requests = [
  row<'ListRequests', Empty, Page & { status?: string[] }>({
    method: 'GET',
    path: '/v1/public/requests',
    operation: 'ListRequests',
    field: 'Query.apiRequests',
    variables: ({ query }) => ({
      ...pageVariables(query),
      status: query.status?.map(Number) ?? null,
    }),
    answer: ({ apiRequests: page }) => paged(page, requestJson),
  }),
  row<'GetRequest'>({
    method: 'GET',
    path: '/v1/public/requests/{id}',
    idForm: /^[A-Za-z0-9._:-]{1,128}$/,
    operation: 'GetRequest',
    field: 'Query.apiRequest',
    variables: ({ id }) => ({ id }),
    answer: ({ apiRequest }) =>
      apiRequest &&
      ok({
        ...requestJson(apiRequest),
        request_body: apiRequest.requestBody,
        response_body: apiRequest.responseBody,
      }),
  }),
];

const events: Route = {
  method: 'GET',
  path: '/v1/public/events',
  operation: 'StreamEvents',
  field: 'Subscription.events',
  idempotent: false,
  bodyLimit_bytes,
  kind: 'stream',
  // The stream itself is rest-facade/event-stream.ts.
  variables: () => ({}),
  answer: () => null,
};

/** Every documented route. */
export const routes: readonly Route[] = [
  ...payments,
  ...payouts,
  ...money,
  ...subscriptions,
  ...tokens,
  ...customers,
  ...links,
  ...eventLog,
  ...requests,
  events,
];
