/** Payouts, and the money that they are paid from. */
import { nullish, object, picklist, safeParse } from 'valibot';
import type { OperationMap } from '../../schema/generated/operation-map.ts';
import type {
  LedgerEntryType,
  PayoutCreateInput,
  PayoutMethod,
  PayoutStatus,
} from '../../schema/generated/operations.ts';
import {
  balanceJson,
  ledgerEntryJson,
  payoutJson,
  rateJson,
  sbpBankJson,
} from '../../schema/wire.ts';
import { payoutScopes } from '../../subgraphs/platform/access/access.ts';
import type { Scope } from '../../subgraphs/platform/access/principal.ts';
import {
  row,
  ok,
  created,
  paged,
  narrowed,
  pageVariables,
  batchBodyLimit_bytes,
  type ValidRequest,
  type Route,
  type Empty,
  type Page,
  type StatusPage,
  type Narrowed,
} from './route.ts';

const ofPayoutMethod = object({
  method: nullish(picklist(['payouts_sbp', 'payouts_card', 'payouts_account']), 'payouts_sbp'),
});
/** The scope of the payout's method; null when the method is not one, which validation reports. */
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

export const payouts = [
  row<'CreatePayout', PayoutCreateInput>({
    method: 'POST',
    path: '/v1/public/payouts',
    operation: 'CreatePayout',
    field: 'Mutation.payoutCreate',
    idempotent: true,
    bodyScope: payoutScope,
    variables: ({ body, idempotency }) => ({ input: body, idempotency }),
    answer: ({ payoutCreate: result }) =>
      created(
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

export const money = [
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
