/** Payouts, and the money that they are paid from. */
import * as v from 'valibot';
import type { OperationMap } from '../../schema/generated/operation-map.ts';
import type * as graph from '../../schema/generated/operations.ts';
import { payoutJson } from '../../schema/wire.ts';
import { payoutScopes } from '../../subgraphs/platform/access/access.ts';
import type { Scope } from '../../subgraphs/platform/access/principal.ts';
import {
  row,
  ok,
  created,
  paged,
  narrowed,
  pageVariables,
  bodyAsInput,
  batchBodyLimit_bytes,
  type ValidRequest,
  type Route,
  type Asking,
  type Page,
  type Narrowed,
} from './route.ts';

const ofPayoutMethod = v.object({
  method: v.nullish(v.picklist(['payouts_sbp', 'payouts_card', 'payouts_account']), 'payouts_sbp'),
});
/** The scope of the payout's method; null when the method is not one, which validation reports. */
const payoutScope = (body: unknown): Scope | null => {
  const { success, output } = v.safeParse(ofPayoutMethod, Object(body));
  return success ? payoutScopes[output.method] : null;
};

type BatchItem = Omit<graph.PayoutCreateInput, 'amount'> & { readonly amount?: number };

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

type PayoutsQuery = Page<graph.PayoutStatus> &
  Narrowed<{ orderId: string }> & { method?: graph.PayoutMethod[] };

export const payouts = [
  row('POST', '/payouts', 'CreatePayout', 'Mutation.payoutCreate', {
    idempotent: true,
    bodyScope: payoutScope,
    variables: bodyAsInput<graph.PayoutCreateInput>,
    answer: ({ payoutCreate: result }) =>
      created({ ...result, payout: payoutJson(result.payout) }, result.idempotent),
  }),
  row('POST', '/payouts/batch', 'CreatePayoutBatch', 'Mutation.payoutBatchCreate', {
    idempotent: true,
    bodyScope: payoutScope,
    bodyLimit_bytes: batchBodyLimit_bytes,
    variables: ({
      body: { method, items },
      idempotency,
    }: ValidRequest<{ method: graph.PayoutMethod; items: BatchItem[] }>) => ({
      method,
      items: items.map((item) => ({ ...item, amount: batchAmount(item), method })),
      idempotency,
    }),
    answer: ({ payoutBatchCreate: { idempotent, ...batch } }, { body: { items } }) => {
      const results = batch.results.map((result) => ({
        ...result,
        error: batchError(items[result.index], result),
      }));
      return created({ ...batch, results }, idempotent);
    },
  }),
  row('GET', '/payouts', 'ListPayouts', 'Query.payouts', {
    variables: ({ query }: Asking<PayoutsQuery>) => ({
      ...pageVariables(query),
      method: query.method,
      filter: narrowed(query, { orderId: query.orderId }),
    }),
    answer: ({ payouts: page }) => paged(page, payoutJson),
  }),
  row('GET', '/payouts/{id}', 'GetPayout', 'Query.payout', {
    variables: ({ id }) => ({ id }),
    answer: ({ payout }) => payout && ok(payoutJson(payout)),
  }),
  row('GET', '/banks/sbp', 'ListSbpBanks', 'Query.sbpBanks', {
    variables: () => ({}),
    answer: ({ sbpBanks }) => ok({ items: sbpBanks }),
  }),
];

const ledgerVariables = ({ query }: Asking<Page & { type?: graph.LedgerEntryType }>) => ({
  ...pageVariables(query),
  type: query.type,
});

export const money = [
  row('GET', '/balance', 'GetBalance', 'Query.balance', {
    variables: ({ query }: Asking<{ currency: string }>) => query,
    answer: ({ balance }) => ok(balance),
  }),
  row('GET', '/rates', 'ListRates', 'Query.rates', {
    variables: () => ({}),
    answer: ({ rates }) => ok({ rates }),
  }),
  row('GET', '/ledger', 'ListLedger', 'Query.ledger', {
    kind: 'ledger',
    variables: ledgerVariables,
    answer: ({ ledger: page }) => paged(page),
  }),
];

/** The operation of the ledger's row for a file: one part of it. */
export const ledgerFilePart: Pick<Route, 'variables' | 'answer'> = {
  variables: ledgerVariables,
  answer: ({ ledgerFile }: OperationMap['ExportLedger']['result']) => ok(ledgerFile),
};
