/**
 * Makes statements that the program makes only by a call: of a filter, of a table, of what others
 * give it. Their texts are what counts here, so nothing runs: a statement that is sent returns no rows,
 * or those that lead to the next statement.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import type { Banks } from '../../subgraphs/acquirers/route.ts';
import type { Database } from '../../subgraphs/platform/database/orm.ts';
import type { Secrets } from '../../subgraphs/platform/config/config.ts';
import type { ListRequest, FoundPage } from '../../subgraphs/platform/database/lists.ts';
import type { Reach } from '../../subgraphs/platform/database/reach.ts';
import type { Runner } from '../../subgraphs/platform/database/statement.ts';
import { isRefusal, type Refusal } from '../../subgraphs/rules/refusal.ts';
import type { OperatorPrincipal } from '../../subgraphs/platform/access/principal.ts';
import type { PaymentSearchInput } from '../../schema/generated/payments.ts';

const merchantId = '11111111-1111-4111-8111-111111111111';
const id = '22222222-2222-4222-8222-222222222222';

/** A list's statement has no name, or one that ends with a digest of its text. */
const ofList = /^$|\.list_/;

/** A pool without a server: gives rows by the statement's name, and keeps the texts of lists. */
const openNobody = (rows: Readonly<Record<string, readonly object[]>> = {}) => {
  const listed: string[] = [];
  const query = ({
    name = 'command',
    text = '',
  }: {
    readonly name?: string;
    readonly text?: string;
  }) => {
    const isList = ofList.test(name);
    if (isList) listed.push(text);
    return Promise.resolve({ rows: rows[isList ? 'list' : name] ?? [] });
  };
  const client = { query, release: () => {} };
  const pool: unknown = { ...client, connect: () => Promise.resolve(client) };
  return { pool: pool as pg.Pool & pg.PoolClient, listed };
};

/** Is whatever is asked of it: who takes it only keeps it for later. */
const anything: object = new Proxy(() => {}, { get: () => anything, apply: () => anything });
/** It stands for a part of any type. */
const anyPart = anything as never;
const parts = {
  publicUrl: 'https://pay.example',
  alertChannels: { webhook: null, mail: null },
  issuer: null,
  eventsKept_days: 30,
  privateTargets: () => false,
  now: () => Temporal.Now.instant(),
  payments: anyPart,
  policies: anyPart,
  clocks: anyPart,
  queues: anyPart,
  bus: anyPart,
  log: anyPart,
  customers: anyPart,
  openings: anyPart,
};

/** The looks of all sweeps, and the clocks that have work. */
const makeJobs = async (): Promise<void> => {
  const { backgroundJobs } = await import('../../subgraphs/background-jobs.ts');
  const { openSimulator } = await import('../../subgraphs/acquirers/simulator/simulator.ts');
  const [{ pool }, vault] = [openNobody(), randomBytes(32)];
  const banks = { simulator: openSimulator({ pool }) } as Banks;
  const database: Pick<Database, 'pool' | 'sessions'> = { pool, sessions: pool };
  const secrets = { vault, page: vault } as Secrets;
  const stopping = new AbortController().signal;
  assert.ok(
    backgroundJobs({ ...parts, banks, database: database as Database, secrets }, stopping, anyPart)
      .length > 20,
  );
};

const everybody: OperatorPrincipal = {
  kind: 'operator',
  subject: 'anna',
  role: 'viewer',
  merchantId: null,
};
const created = { id, merchantId, createdAt: Temporal.Instant.from('2026-11-01T12:00Z') };
const counted = { count: 1, looked: 1 };
const filters = [
  {},
  { mode: ['live'] },
  { shopId: [id], amountFrom: 1n, amountTo: 2n },
  { since: created.createdAt, until: created.createdAt.add({ hours: 1 }) },
] as const;

type List = (
  runner: Runner,
  principal: OperatorPrincipal,
  request: ListRequest,
) => Promise<FoundPage<object> | Refusal>;

/** Turns the first two pages of a list, forwards and backwards, and counts it. */
const turnPages = async (
  runner: Runner,
  list: List,
  given: Pick<ListRequest, 'merchantId' | 'filter' | 'columns'>,
): Promise<void> => {
  for (const [size, place, cursor] of [
    ['first', 'after', 'endCursor'],
    ['last', 'before', 'startCursor'],
  ] as const) {
    const request = { ...given, [size]: 1 };
    const page = await list(runner, everybody, request);
    assert.ok(!isRefusal(page), JSON.stringify(page));
    await page.total?.();
    const from = page.pageInfo[cursor];
    assert.ok(from, 'there is no second page');
    await list(runner, everybody, { ...request, [place]: from });
  }
};

/** The lists that people narrow; gives the texts that are of one merchant, and those of all. */
const makeLists = async () => {
  const payments = await import('../../subgraphs/payments/find-payments.ts');
  const { exactly } = await import('../../subgraphs/platform/database/lists.ts');
  const { pageOfReceipts } = await import('../../subgraphs/payments/receipts/store-receipts.ts');
  const { pageOfPayouts } = await import('../../subgraphs/payouts/find-payouts.ts');
  const { payoutDrafts } = await import('../../subgraphs/payouts/drafts/create-draft.ts');
  const { refundDrafts } = await import('../../subgraphs/payments/refund-drafts/create-draft.ts');
  const { pageOfLedger } = await import('../../subgraphs/merchants/ledger/read-ledger.ts');
  const { madeThrough } = await import('../../subgraphs/payments/links/store-link.ts');
  const { listSubscriptions } = await import('../../subgraphs/recurring/find-recurring.ts');
  const { listDeliveries } = await import('../../subgraphs/merchants/list-cabinet.ts');
  const lists: readonly List[] = [
    payments.pageOfPayments,
    (runner, principal, request) =>
      payments.pageOfPayments(runner, principal, { ...request, rows: [madeThrough(id)] }),
    payments.pageOfRefunds,
    pageOfPayouts,
    payoutDrafts.page,
    refundDrafts.page,
    pageOfLedger,
    listSubscriptions,
    (runner, principal, request) => {
      const ofPayment = exactly('receipt.payment_id', id, { type: 'uuid' });
      return pageOfReceipts(runner, principal, { ...request, rows: [ofPayment] });
    },
  ];
  const deliveries: List = (runner, _, { merchantId: of = null, columns: __, ...page }) =>
    listDeliveries(runner, { ...page, merchantId: of, shopId: id, subjectId: id });
  const rows = [created, created].map((row) => ({ ...row, ...counted }));
  const [ofMerchant, ofAll] = [openNobody({ list: rows }), openNobody({ list: rows })];
  const spread = openNobody({ list: rows, 'database.is_spread': [{ isSharded: true }] });
  await turnPages(ofAll.pool, deliveries, { columns: {} });
  await turnPages(spread.pool, deliveries, { columns: {} });
  for (const list of lists) {
    for (const filter of filters) {
      for (const columns of [{}, { status: ['pending'] }]) {
        await turnPages(ofMerchant.pool, list, { merchantId, filter, columns });
        await turnPages(ofAll.pool, list, { filter, columns });
        await turnPages(spread.pool, list, { filter, columns });
      }
    }
  }
  return [ofMerchant, ofAll, spread] as const;
};

/** Searches of payments, likewise. */
const makeSearches = async (ofMerchant: Runner, ofAll: Runner): Promise<void> => {
  const { searchPayments } = await import('../../subgraphs/payments/search-payments.ts');
  const reach = { merchantId, shopIds: [id], modes: ['live'] } as const;
  const days = { from: '2026-11-01', to: '2026-11-02' };
  const search =
    (found: PaymentSearchInput, within: Reach | null): List =>
    (runner, _, { first, after, last, before }) =>
      searchPayments(runner, within, found, { first, after, last, before });
  for (const found of [{ id }, { publicId: 'P-1' }])
    await turnPages(ofAll, search(found, null), { columns: {} });
  for (const found of [{ id }, { orderId: 'A-1', amount: 1n }, { cardMask: '0004', ...days }])
    await turnPages(ofMerchant, search(found, reach), { columns: {} });
};

/** Texts of the statements of lists and searches. */
export interface Listed {
  /** Of one merchant. */
  readonly ofMerchant: readonly string[];
  readonly ofAll: readonly string[];
  /** Of all merchants, where the tables are not spread. */
  readonly inOneDatabase: readonly string[];
}

/**
 * Makes them all, and gives those of lists; `statements.ts` is imported before, as it watches
 * what is imported here.
 */
export const makeStatements = async (): Promise<Listed> => {
  await makeJobs();
  const [ofMerchant, inOneDatabase, spread] = await makeLists();
  await makeSearches(ofMerchant.pool, spread.pool);
  const texts = new Set(spread.listed);
  return {
    ofMerchant: ofMerchant.listed,
    ofAll: spread.listed,
    inOneDatabase: inOneDatabase.listed.filter((text) => !texts.has(text)),
  };
};
