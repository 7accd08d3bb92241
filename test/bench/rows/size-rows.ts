/**
 * What a whole payment writes: bytes on the disk by table, write-ahead log without and with full
 * pages, transaction ids, flushes of the log, and the share of updates that touched no index (HOT).
 * Each is created with an idempotency key, paid, booked, and delivered to one endpoint, on the
 * service in one process among `--payments` others. Sizing in OPERATIONS comes from here.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../../subgraphs/kernel/database/embedded-postgres.ts';
import { fillPayments } from '../many-payments.ts';
import { connections, type Bench } from '../plan.ts';
import { limitRow, type Row } from '../report.ts';
import { openBuyers, payAtOnce } from '../whole-payments.ts';
import { startOn } from './whole-payment-rows.ts';

const bytes_max = 4_500;
const wal_max_bytes = 10_000;
const walWithPages_max_bytes = 25_000;
const transactions_max = 3;
const look_ms = 100;

/** What PostgreSQL has counted up to a moment. */
interface Counted {
  readonly wal: number;
  readonly transactions: number;
  readonly flushes: number;
  readonly updates: ReadonlyMap<string, { readonly all: number; readonly hot: number }>;
  readonly sizes: ReadonlyMap<string, { readonly table: number; readonly indexes: number }>;
}

// A partition counts for its table.
const ofTables = `
  select coalesce(parent.relname, child.relname) as name, child.oid
    from pg_class as child
    left join pg_inherits on inhrelid = child.oid left join pg_class as parent on parent.oid = inhparent
    where child.relkind = 'r' and child.relnamespace in ('public'::regnamespace, 'partitions'::regnamespace)`;

const count = async (pool: pg.Pool): Promise<Counted> => {
  const { rows: totals } = await pool.query<Record<'wal' | 'transactions' | 'flushes', string>>(
    `select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') as wal,
      pg_snapshot_xmax(pg_current_snapshot())::text as transactions,
      (select coalesce(sum(fsyncs), 0) from pg_stat_io where object = 'wal') as flushes`,
  );
  const { rows: tables } = await pool.query<{ name: string } & Record<string, string>>(
    `select name, sum(pg_table_size(own.oid)) as table, sum(pg_indexes_size(own.oid)) as indexes,
      sum(coalesce(pg_stat_get_tuples_updated(own.oid), 0)) as updated, sum(coalesce(pg_stat_get_tuples_hot_updated(own.oid), 0)) as hot
      from (${ofTables}) as own group by name`,
  );
  const each = <Found>(read: (row: Record<string, string>) => Found): Map<string, Found> =>
    new Map(tables.map((row) => [row.name, read(row)]));
  const { wal, transactions, flushes } = totals[0] ?? {};
  return {
    wal: Number(wal),
    transactions: Number(transactions),
    flushes: Number(flushes),
    updates: each(({ updated, hot }) => ({ all: Number(updated), hot: Number(hot) })),
    sizes: each(({ table, indexes }) => ({ table: Number(table), indexes: Number(indexes) })),
  };
};

/** Until everything that follows from the payments is written, and the counters have seen it. */
const untilAtRest = async (pool: pg.Pool): Promise<void> => {
  const waiting = `select 1 from event where sequence is null
    union all select 1 from webhook_delivery where status = 'pending' union all select 1 from balance_delta limit 1`;
  while ((await pool.query(waiting)).rows.length > 0) await sleep(look_ms);
  // A backend reports what it has done once a second.
  await sleep(2_500);
};

const kilobytes = (bytes: number): string => `${(bytes / 1_000).toFixed(2)} KB`;

const byName = (sizes: readonly (readonly [string, number, number])[]): string =>
  sizes
    .filter(([, table, indexes]) => table + indexes >= 10)
    .toSorted(([, a, b], [, c, d]) => c + d - a - b)
    .map(([name, table, indexes]) => `${name} ${table.toFixed(0)} + ${indexes.toFixed(0)}`)
    .join(', ');

const bytesRow = (from: Counted, to: Counted, payments: number): Row => {
  const sizes = [...to.sizes].map(([name, { table, indexes }]) => {
    const before = from.sizes.get(name) ?? { table: 0, indexes: 0 };
    const each = [table - before.table, indexes - before.indexes].map((sum) => sum / payments);
    return [name, each[0] ?? 0, each[1] ?? 0] as const;
  });
  const sum = sizes.reduce((total, [, table, indexes]) => total + table + indexes, 0);
  const row = limitRow({
    what: 'whole payment: on the disk',
    measured: sum,
    most: bytes_max,
    unit: 'bytes',
  });
  return { ...row, figures: `${row.figures}, table + indexes: ${byName(sizes)}` };
};

const walRow = (what: string, most: number, [from, to]: readonly [Counted, Counted], n: number) => {
  const measured = (to.wal - from.wal) / n;
  const row = limitRow({ what: `whole payment: ${what}`, measured, most, unit: 'bytes' });
  return { ...row, figures: kilobytes(measured) };
};

const transactionRow = (from: Counted, to: Counted, payments: number): Row => {
  const measured = (to.transactions - from.transactions) / payments;
  const flushes = (to.flushes - from.flushes) / payments;
  const row = limitRow({
    what: `whole payment, ${connections} buyers: transaction ids`,
    measured,
    most: transactions_max,
    unit: 'a payment',
  });
  return { ...row, figures: `${row.figures}; ${flushes.toFixed(2)} flushes of the log` };
};

const hotRow = (from: Counted, to: Counted, payments: number): Row => {
  const changed = [...to.updates]
    .map(([name, { all, hot }]) => {
      const before = from.updates.get(name) ?? { all: 0, hot: 0 };
      return { name, all: all - before.all, hot: hot - before.hot };
    })
    .filter(({ all }) => all >= payments / 20)
    .toSorted((one, other) => other.all - one.all);
  const [all, hot] = [
    changed.reduce((sum, row) => sum + row.all, 0),
    changed.reduce((sum, row) => sum + row.hot, 0),
  ];
  const each = changed.map(
    (row) =>
      `${row.name} ${(row.all / payments).toFixed(1)} of which ${((100 * row.hot) / row.all).toFixed(0)} %`,
  );
  return {
    what: 'whole payment: updates that touch no index (HOT)',
    against: 'all updates',
    ratio: all === 0 ? null : hot / all,
    aim: null,
    rounds: 1,
    figures: each.join(', '),
  };
};

/** The rows. */
export const sizeRows = async ({ plan, progress }: Bench): Promise<readonly Row[]> => {
  await using stack = new AsyncDisposableStack();
  const dataDir = mkdtempSync(join(tmpdir(), 'payments-bench-'));
  stack.defer(() => rmSync(dataDir, { recursive: true, force: true }));
  const database = await startEmbeddedPostgres({ dataDir, progress: () => {} });
  stack.defer(() => database.stop());
  const pool = new pg.Pool({ connectionString: database.url, max: 2 });
  stack.defer(() => pool.end());
  const { url, merchant } = await startOn(database.url, stack);
  const shop = { merchantId: merchant.id, shopId: merchant.shopId };
  // The others have neither events nor deliveries: the walk over the books would write alerts.
  await pool.query("update books_walk set due_at = 'infinity'");
  await fillPayments(pool, shop, 'live', plan.sizeOthers, (text) => progress(`size: ${text}`));
  for (const table of ['payment', 'posting']) await pool.query(`alter table ${table} set logged`);
  const live = await openBuyers(url, merchant, stack, true);
  const payments = plan.sizePayments;
  const pay = async (): Promise<readonly [Counted, Counted]> => {
    await pool.query('vacuum');
    const from = await count(pool);
    await payAtOnce(live, { connections, duration_ms: Infinity, requests_max: payments });
    await untilAtRest(pool);
    const to = await count(pool);
    return [from, to];
  };
  const setting = async (value: 'on' | 'off'): Promise<void> => {
    await pool.query(`alter system set full_page_writes = ${value}`);
    await pool.query('select pg_reload_conf()');
    await sleep(look_ms);
  };
  progress('size: the first payments');
  await pay();
  progress('size: without full pages');
  await setting('off');
  const [from, to] = await pay();
  await pool.query('vacuum');
  const after = await count(pool);
  progress('size: with full pages, from a checkpoint on');
  await setting('on');
  await pool.query('checkpoint');
  const withPages = await pay();
  return [
    bytesRow(from, after, payments),
    walRow('log without full pages', wal_max_bytes, [from, to], payments),
    walRow(
      `log with full pages, ${payments} after a checkpoint`,
      walWithPages_max_bytes,
      withPages,
      payments,
    ),
    transactionRow(from, to, payments),
    hotRow(from, to, payments),
  ];
};
