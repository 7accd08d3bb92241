/**
 * A settlement report of one day matched with our operations: among many days of them, against
 * among few. The report is the same size in both, so that what the total costs shows.
 */
import { matchNext } from '../../../subgraphs/merchants/reconciliation/match-report.ts';
import { plantOperations, plantReport } from '../../reconciliation/planted-operations.ts';
import { startMigratedDatabase, type MigratedDatabase } from '../../support/migrated.ts';
import type { Bench } from '../plan.ts';
import { limitRow, type Row } from '../report.ts';
import { median } from '../rounds.ts';

/** Of ten payments one has a refund and one a payout beside it: 10,000 operations in a day. */
const dailyPayments = 8_334;
const operationsOf = (payments: number): number => Math.round(payments * 1.2);
const smallDays = 10;
/** What a match among ten million operations may take. */
const seconds_max = 5;
/** As much as it may take longer among the many. */
const slower_max = 1.3;
const reports = 5;
/** Days that are planted by one statement. */
const planted_d = 50;

const day_h = 24;
const lastDay = Temporal.Instant.from('2026-11-01T00:00:00Z');
const before = (days: number): Temporal.Instant => lastDay.subtract({ hours: day_h * days });

/** A database with so many days of operations of four merchants. */
const openDays = async (
  days: number,
  progress: (text: string) => void,
): Promise<MigratedDatabase> => {
  const migrated = await startMigratedDatabase();
  const { pool } = migrated.database;
  const keys = [];
  for (let made = 0; made < 4; made += 1) keys.push(await migrated.merchant());
  for (let left = days; left > 0; left -= planted_d) {
    progress(`${(days - left).toLocaleString('en')} of ${days.toLocaleString('en')} days`);
    const some = Math.min(planted_d, left);
    const [since, until] = [before(left), before(left - some)];
    await plantOperations(pool, { keys, payments: some * dailyPayments, since, until });
  }
  await pool.query('checkpoint');
  return migrated;
};

/** Seconds that the match of the report of a day takes; all of its lines must match. */
const timeOf = async ({ database: { pool } }: MigratedDatabase, day: number): Promise<number> => {
  const since = before(day);
  const id = await plantReport(pool, since, since.add({ hours: day_h }));
  const began_ms = performance.now();
  const matched = await matchNext(pool, since.add({ hours: 2 * day_h }));
  const took_s = (performance.now() - began_ms) / 1_000;
  if (matched?.id !== id || matched.differences > 0)
    throw new Error(`reconciliation: ${matched?.differences} differences in a report of none`);
  return took_s;
};

/** The rows: the time of a match among so many, and the same among few. */
export const reconciliationRows = async ({ plan, progress }: Bench): Promise<readonly Row[]> => {
  await using stack = new AsyncDisposableStack();
  const open = async (what: string, days: number): Promise<MigratedDatabase> => {
    const opened = await openDays(days, (text) => progress(`reconciliation: ${what}: ${text}`));
    stack.defer(() => opened.close());
    return opened;
  };
  const days = Math.max(smallDays, Math.ceil(plan.registryPayments / dailyPayments));
  const small = await open('small', smallDays);
  const large = await open('large', days);
  const smalls: number[] = [];
  const larges: number[] = [];
  for (let report = 1; report <= reports; report += 1) {
    progress(`reconciliation: report ${report} of ${reports}`);
    smalls.push(await timeOf(small, report + 1));
    larges.push(await timeOf(large, report + 1));
  }
  const [small_s, large_s] = [median(smalls), median(larges)];
  const count = (of: number): string => operationsOf(of * dailyPayments).toLocaleString('en');
  return [
    limitRow({
      what: `a settlement report of 10,000 lines matched, of ${count(days)} operations`,
      measured: large_s,
      most: seconds_max,
      unit: 's',
    }),
    {
      what: 'the same',
      against: `of ${count(smallDays)} operations`,
      ratio: small_s / large_s,
      aim: { least: Math.round(100 / slower_max) / 100 },
      rounds: reports,
      figures: `half within ${large_s.toFixed(2)} s to ${small_s.toFixed(2)} s`,
    },
  ];
};
