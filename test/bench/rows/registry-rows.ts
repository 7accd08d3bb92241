/**
 * Pages of registries and of the ledger in a large database against the same pages in a small one,
 * both on one server: first, deep and filtered ones. The verbs are called as the resolvers call
 * them, so that what REST adds to both does not hide what the database does.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { startEmbeddedPostgres } from '../../../subgraphs/kernel/database/embedded-postgres.ts';
import { cursorOf, type Page } from '../../../subgraphs/kernel/database/keyset.ts';
import { migrate, openDatabase, type Database } from '../../../subgraphs/kernel/database/orm.ts';
import {
  registryRange,
  type RegistryQuery,
  type RegistryTable,
} from '../../../subgraphs/kernel/database/registry.ts';
import type { Reach } from '../../../subgraphs/kernel/database/reach.ts';
import { isRefused, type Refused } from '../../../subgraphs/kernel/rules/refusal.ts';
import {
  ledgerRegistryQuery,
  ledgerTable,
  pageOfLedger,
  type LedgerQuery,
} from '../../../subgraphs/merchants/ledger/read-ledger.ts';
import { entities } from '../../../subgraphs/entities.ts';
import {
  listPayments,
  listRefunds,
  paymentTable,
} from '../../../subgraphs/payments/find-payments.ts';
import { refundStatuses } from '../../../subgraphs/payments/refunds/rules.ts';
import { listPayouts } from '../../../subgraphs/payouts/find-payouts.ts';
import { payoutMethods, payoutStatuses } from '../../../subgraphs/payouts/rules/payout.ts';
import { fillPayments, fillRefundsAndPayouts, firstDay } from '../many-payments.ts';
import type { Bench } from '../plan.ts';
import type { Row } from '../report.ts';
import { median } from '../rounds.ts';
import type { BenchShop } from '../sent-statement.ts';

/**
 * Issue: so many payments in the small one, and at most so many times its latency in the large one.
 */
const smallPayments = 10_000;
const slower_max = 1.3;
const page_rows = 50;
/** Places in the depth of a registry at which deep pages begin. */
const depths = 20;

const shop: BenchShop = {
  merchantId: 'b0000000-0000-4000-8000-000000000001',
  shopId: 'b0000000-0000-4000-8000-000000000002',
};
const reach: Reach = { merchantId: shop.merchantId, shopIds: [shop.shopId], modes: ['live'] };
const key = { kind: 'key', keyId: shop.shopId, ...shop, mode: 'live', scopes: [] } as const;

/** One kind of page. */
interface Kind {
  readonly what: string;
  /** Whether its pages begin at many depths. */
  readonly deep: boolean;
  readonly table: RegistryTable;
  readonly query: RegistryQuery;
  /** Reads the page behind a cursor; without one the first. */
  readonly read: (database: Database, after: string | null) => Promise<Page<object> | Refused>;
}

const ofPayments = (what: string, deep: boolean, query: Omit<RegistryQuery, 'first'>): Kind => ({
  what: `payments, ${what}`,
  deep,
  table: paymentTable,
  query: { first: page_rows, ...query },
  read: ({ pool }, after) => listPayments(pool, reach, { first: page_rows, ...query, after }),
});

const ofLedger = (what: string, deep: boolean, query: Omit<LedgerQuery, 'first'>): Kind => ({
  what: `ledger, ${what}`,
  deep,
  table: ledgerTable,
  query: ledgerRegistryQuery({ first: page_rows, ...query }),
  read: ({ pool }, after) => {
    const { type, ...page } = query;
    const columns = { type: type ? [type] : null };
    return pageOfLedger(pool, key, { first: page_rows, ...page, after, columns });
  },
});

const refundTable: RegistryTable = { name: 'refund', filters: { status: refundStatuses } };
const payoutTable: RegistryTable = {
  name: 'payout',
  filters: { status: payoutStatuses, method: payoutMethods },
};

/** Of refunds and payouts, which are a tenth as many. */
const ofOthers = (
  name: 'refunds' | 'payouts',
  what: string,
  deep: boolean,
  query: Omit<RegistryQuery, 'first'>,
): Kind => ({
  what: `${name}, ${what}`,
  deep,
  table: name === 'refunds' ? refundTable : payoutTable,
  query: { first: page_rows, ...query },
  read: ({ pool }, after) =>
    (name === 'refunds' ? listRefunds : listPayouts)(pool, reach, {
      first: page_rows,
      ...query,
      after,
    }),
});

const someDays = { from: '2026-02-01', to: '2026-06-30' };
const kinds: readonly Kind[] = [
  ofPayments('first page', false, { filters: {} }),
  ofPayments('deep page', true, { filters: {} }),
  ofPayments('rare status', false, { filters: { status: ['cancelled'] } }),
  ofPayments('rare status, deep', true, { filters: { status: ['cancelled'] } }),
  ofPayments('three statuses, some days', false, {
    filters: { status: ['cancelled', 'failed', 'expired'] },
    ...someDays,
  }),
  ofLedger('first page', false, {}),
  ofLedger('deep page', true, {}),
  ofLedger('rare type, deep', true, { type: 'adjustment' }),
  ofLedger('one type, some days', false, { type: 'fee', ...someDays }),
  ofOthers('refunds', 'deep page', true, { filters: {} }),
  ofOthers('refunds', 'rare status, deep', true, { filters: { status: ['failed'] } }),
  ofOthers('payouts', 'deep page', true, { filters: {} }),
  ofOthers('payouts', 'rare status, deep', true, { filters: { status: ['failed'] } }),
  ofOthers('payouts', 'one method, some days', false, {
    filters: { method: ['payouts_card'] },
    ...someDays,
  }),
];

const orThrow = <Found extends object>(found: Found | Refused): Found => {
  if (isRefused(found)) throw new Error(found.message);
  return found;
};

/** Where the pages of a kind begin: deep ones at moments spread over the depth. */
const cursorsOf = ({ deep, table, query }: Kind): readonly (string | null)[] => {
  if (!deep) return [null];
  const { bound } = orThrow(registryRange(table, reach, query));
  const start = Temporal.Instant.from(`${firstDay}T00:00:00Z`);
  return Array.from({ length: depths }, (_, index) =>
    cursorOf(
      { createdAt: start.add({ hours: 24 * (50 + 10 * index) }), id: shop.merchantId },
      bound,
    ),
  );
};

/** Milliseconds that a page takes; a page that is not full would be another work. */
const timeOf = async (
  database: Database,
  { read, what }: Kind,
  cursor: string | null,
): Promise<number> => {
  const began_ms = performance.now();
  const { nodes } = orThrow(await read(database, cursor));
  const took_ms = performance.now() - began_ms;
  if (nodes.length !== page_rows) throw new Error(`${what}: a page of ${nodes.length} rows`);
  return took_ms;
};

interface Sizes {
  readonly small: Database;
  readonly large: Database;
}

interface Measured {
  readonly small_ms: number;
  readonly large_ms: number;
}

/** The medians, of pages read in turn in both. The first turns compile, plan and fill the cache. */
const measure = async (kind: Kind, { small, large }: Sizes, pages: number): Promise<Measured> => {
  const cursors = cursorsOf(kind);
  const smalls: number[] = [];
  const larges: number[] = [];
  for (let turn = -2 * depths; turn < pages; turn += 1) {
    const cursor = cursors[(turn + 2 * depths) % cursors.length] ?? null;
    const smallFirst = turn % 2 === 0;
    const before_ms = smallFirst ? await timeOf(small, kind, cursor) : 0;
    const large_ms = await timeOf(large, kind, cursor);
    const small_ms = smallFirst ? before_ms : await timeOf(small, kind, cursor);
    if (turn >= 0) {
      smalls.push(small_ms);
      larges.push(large_ms);
    }
  }
  return { small_ms: median(smalls), large_ms: median(larges) };
};

/** An empty database of its own on the server. */
const openEmpty = async (serverUrl: string, name: string): Promise<Database> => {
  const admin = new Client({ connectionString: serverUrl });
  await admin.connect();
  await admin.query(`create database ${name}`);
  await admin.end();
  return openDatabase({
    url: Object.assign(new URL(serverUrl), { pathname: `/${name}` }).href,
    entities,
    pool: 2,
  });
};

/** The rows: one for each kind of page. */
export const registryRows = async ({ plan, progress }: Bench): Promise<readonly Row[]> => {
  await using stack = new AsyncDisposableStack();
  const directory = mkdtempSync(join(tmpdir(), 'payments-registry-'));
  stack.defer(() => rmSync(directory, { recursive: true, force: true }));
  progress('registry: starting PostgreSQL');
  const server = await startEmbeddedPostgres({ dataDir: directory, progress: () => {} });
  stack.defer(() => server.stop());
  const open = async (name: string, count: number): Promise<Database> => {
    const database = await openEmpty(server.url, name);
    stack.defer(() => database.close());
    await migrate(database);
    await fillPayments(database.pool, shop, 'live', count, (text) =>
      progress(`registry: ${name}: ${text}`),
    );
    progress(`registry: ${name}: refunds and payouts`);
    await fillRefundsAndPayouts(database.pool, shop, 'live', Math.ceil(count / 10));
    return database;
  };
  const sizes: Sizes = {
    small: await open('small', smallPayments),
    large: await open('large', plan.registryPayments),
  };
  const rows: Row[] = [];
  for (const kind of kinds) {
    progress(`registry: ${kind.what}`);
    const { small_ms, large_ms } = await measure(kind, sizes, plan.registryPages);
    rows.push({
      what: `${kind.what}, of ${plan.registryPayments.toLocaleString('en')}`,
      against: `of ${smallPayments.toLocaleString('en')}`,
      ratio: small_ms / large_ms,
      aim: { least: Math.round(100 / slower_max) / 100 },
      rounds: plan.registryPages,
      figures: `half within ${large_ms.toFixed(2)} ms to ${small_ms.toFixed(2)} ms`,
    });
  }
  return rows;
};
