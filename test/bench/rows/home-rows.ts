/**
 * The first screen of the console's home among many payments: every question that it sends, all at
 * once, until the last is answered. A merchant's home, and the platform's over all merchants.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../../subgraphs/kernel/database/embedded-postgres.ts';
import {
  Counts,
  Needed,
  Payments,
  PaymentsCount,
  Today,
  Viewer,
  Weeks,
  type Mode,
} from '../../../schema/generated/console.ts';
import { askGraph } from '../../support/merchant.ts';
import { fillPayments, lastDay } from '../many-payments.ts';
import type { Bench } from '../plan.ts';
import { limitRow, type Row } from '../report.ts';
import { median } from '../rounds.ts';
import { startOn } from './whole-payment-rows.ts';

/** What a person waits for at most. */
const screen_max_ms = 300;
const turns = 40;
const warmUp_turns = 10;
const look_ms = 5_000;
const hour_ms = 3_600_000;
const nobody = '00000000-0000-0000-0000-000000000000';

const mode: Mode = 'live';
/** An evening of the days that have payments. */
const now_ms = Date.parse(`${lastDay}T18:00:00Z`);
const before = (hours: number): string => new Date(now_ms - hours * hour_ms).toISOString();
const day_h = 24;

/** What home sends of one merchant, or of all: documents, which are texts, and variables. */
const questionsOf = (
  merchantId: string | null,
): readonly (readonly [unknown, Record<string, unknown>])[] => {
  const weeks = [1, 2, 3, 4].flatMap((week) => [
    [`from${week}`, before(7 * day_h * week + 18)],
    [`to${week}`, before(7 * day_h * week)],
  ]);
  const latest = { merchantId, status: null, filter: { mode: [mode] }, first: 10 };
  const today = {
    since: before(13 * day_h + 18),
    recent: before(day_h),
    earlier: before(2 * day_h),
  };
  const failedSince = new Date(Date.now() - 7 * day_h * hour_ms).toISOString();
  const person = { me: 'operator', platform: true, decides: true };
  return [
    [Viewer, {}],
    [Counts, { merchantId, platform: true }],
    [Today, { merchantId, mode, timeZone: 'Europe/Moscow', to: before(0), ...today }],
    [Weeks, { merchantId, mode, timeZone: 'Europe/Moscow', ...Object.fromEntries(weeks) }],
    [Needed, { merchantId, mode, failedSince, ...person }],
    [PaymentsCount, { merchantId, status: ['authorized'], filter: { mode: [mode] } }],
    [Payments, latest],
  ];
};

/** Milliseconds until all of them are answered. */
const timeOf = async (url: string, merchantId: string | null): Promise<number> => {
  const began_ms = performance.now();
  await Promise.all(
    questionsOf(merchantId).map(([document, variables]) =>
      askGraph({ graph: url }, String(document), variables),
    ),
  );
  return performance.now() - began_ms;
};

/** The rows. */
export const homeRows = async ({ plan, progress }: Bench): Promise<readonly Row[]> => {
  await using stack = new AsyncDisposableStack();
  const dataDir = mkdtempSync(join(tmpdir(), 'payments-home-'));
  stack.defer(() => rmSync(dataDir, { recursive: true, force: true }));
  progress('home: starting');
  const database = await startEmbeddedPostgres({ dataDir, progress: () => {} });
  stack.defer(() => database.stop());
  const pool = new pg.Pool({ connectionString: database.url, max: 2 });
  stack.defer(() => pool.end());
  const { url, merchant } = await startOn(database.url, stack);
  await pool.query("update books_walk set due_at = 'infinity'");
  const count = plan.registryPayments;
  await fillPayments(
    pool,
    { merchantId: merchant.id, shopId: merchant.shopId },
    mode,
    count,
    (text) => progress(`home: ${text}`),
  );
  // As those that were made before there were totals.
  await pool.query('insert into totals_walk (name, at_merchant_id, at_id) values ($1, $2, $2)', [
    'payment',
    nobody,
  ]);
  for (;;) {
    const { rows } = await pool.query<{ counted: number }>(
      `select (select coalesce(sum(count_succeeded + count_failed + count_cancelled), 0) from hourly_total)::int as counted
        from totals_walk`,
    );
    const [walk] = rows;
    if (!walk) break;
    progress(`home: ${walk.counted.toLocaleString('en')} payments are in the totals`);
    await sleep(look_ms);
  }
  await pool.query('vacuum (analyze)');
  const rows: Row[] = [];
  for (const [what, merchantId] of [
    ['a merchant', merchant.id],
    ['all merchants', null],
  ] as const) {
    progress(`home: of ${what}`);
    const times_ms: number[] = [];
    for (let turn = -warmUp_turns; turn < turns; turn += 1) {
      const time_ms = await timeOf(url, merchantId);
      if (turn >= 0) times_ms.push(time_ms);
    }
    const row = limitRow({
      what: `home of ${what}, of ${count.toLocaleString('en')} payments`,
      measured: median(times_ms),
      most: screen_max_ms,
      unit: 'ms',
    });
    rows.push({
      ...row,
      rounds: turns,
      figures: `${row.figures}, the slowest ${Math.max(...times_ms).toFixed(0)} ms`,
    });
  }
  return rows;
};
