/**
 * Whole payments on the service in one process: created over REST, paid on the page, confirmed at
 * the simulated bank, booked, and notified to the merchant's receiver. Against payments that are
 * only created, in the same rounds; the events of these are relayed before the next round begins.
 * And the statements that a payment takes of PostgreSQL.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../../subgraphs/kernel/database/embedded-postgres.ts';
import type { Merchant } from '../../support/merchant.ts';
import { startService } from '../../support/service.ts';
import { openStatementProxy, type StatementProxy } from '../../support/statement-proxy.ts';
import { cpuOfPostgres, cpuOfProcess } from '../cpu.ts';
import { busyMerchant } from '../fixture.ts';
import { createRequest } from '../payment-requests.ts';
import { connections, measureBoth, type Bench } from '../plan.ts';
import { comparisonRows, type Row } from '../report.ts';
import { median, medianOf, type Sample, type Subject } from '../rounds.ts';
import { serverSubject } from '../subject.ts';
import { timeStream } from '../time-stream.ts';
import { openBuyers, payAtOnce, wholePayments } from '../whole-payments.ts';

/** The aims: over payments that are only created, at least; how soon half are delivered. */
const ratio_min = 0.4;
const half_ms = { one: 8, many: 40, stream: 8 } as const;
/** What a payment may take of PostgreSQL, with its commits. */
const statements_max = 12;
/**
 * What is there before PostgreSQL looks at its tables, as it does a minute after a service has
 * begun: until then its plans are made for tables that are nearly empty.
 */
const fill = { duration_ms: 3_000, requests_max: 1_000 };
/** How often it is looked whether all events are relayed. */
const look_ms = 50;

interface Started {
  readonly url: string;
  readonly pid: number;
  readonly merchant: Merchant;
}

/** The service in one process on the database at `databaseUrl`; `stack` ends it. */
export const startOn = async (
  databaseUrl: string,
  stack: AsyncDisposableStack,
): Promise<Started> => {
  const service = await startService('one', {
    DATABASE_URL: databaseUrl,
    SECRET_KEY: randomBytes(32).toString('base64'),
    WEBHOOK_PRIVATE_TARGETS: 'allow',
    NODE_ENV: 'production',
  });
  stack.defer(() => service.stop());
  const url = service.rest;
  const pid = service.processes[0]?.child.pid ?? 0;
  return { url, pid, merchant: await busyMerchant({ url }) };
};

/** The subject, each round of which ends when all of its events have been relayed. */
const drained = (subject: Subject, database: pg.Pool): Subject => ({
  name: subject.name,
  measure: async (load) => {
    const sample = await subject.measure(load);
    const waiting = 'select from event where sequence is null limit 1';
    while ((await database.query(waiting)).rows.length > 0) await sleep(look_ms);
    return sample;
  },
});

const half = (samples: readonly Sample[] | undefined, aim_ms: number, buyers: number): Row => {
  const p50_us = medianOf(samples ?? [], (sample) => sample.p50_us);
  const perSecond = medianOf(samples ?? [], (sample) => sample.perSecond);
  return {
    what: `whole payment, ${buyers} ${buyers === 1 ? 'buyer' : 'buyers'}: how soon half are delivered`,
    against: `${aim_ms} ms`,
    ratio: p50_us === null ? null : (aim_ms * 1_000) / p50_us,
    aim: { least: 1 },
    rounds: samples?.length ?? 0,
    figures:
      p50_us === null || perSecond === null
        ? 'unknown'
        : `half within ${(p50_us / 1_000).toFixed(1)} ms, ${perSecond.toFixed(0)} payments/s`,
  };
};

/** How soon half of the payments that are created are in the merchant's event stream. */
const streamRow = (taken_ms: readonly number[]): Row => ({
  what: 'payment created: how soon half are in the event stream',
  against: `${half_ms.stream} ms`,
  ratio: half_ms.stream / median(taken_ms),
  aim: { least: 1 },
  rounds: 1,
  figures: `half within ${median(taken_ms).toFixed(1)} ms of the answer`,
});

/** Counts what payments have PostgreSQL execute, by name, the most frequent first. */
const statementRow = async (
  { counts }: Pick<StatementProxy, 'counts'>,
  live: () => Promise<void>,
  buyers: number,
  payments: number,
): Promise<Row> => {
  const load = { connections: buyers, duration_ms: Infinity, requests_max: payments };
  await payAtOnce(live, load);
  const earlier = new Map(counts);
  await payAtOnce(live, load);
  const each = [...counts]
    .map(([name, count]) => [name, (count - (earlier.get(name) ?? 0)) / payments] as const)
    .toSorted(([, a], [, b]) => b - a);
  const sum = each.reduce((total, [, count]) => total + count, 0);
  const named = each.filter(([, count]) => count >= 0.05);
  return {
    what: `whole payment, ${buyers} ${buyers === 1 ? 'buyer' : 'buyers'}: statements of PostgreSQL`,
    against: `${statements_max}`,
    ratio: statements_max / sum,
    aim: { least: 1 },
    rounds: 1,
    figures: `${sum.toFixed(1)}: ${named.map(([name, count]) => `${count.toFixed(1)} ${name.slice(0, 30)}`).join(', ')}`,
  };
};

/** The rows of statements, counted on a service of their own behind a proxy. */
const statementRows = async (
  databaseUrl: string,
  { plan, progress }: Bench,
): Promise<readonly Row[]> => {
  await using stack = new AsyncDisposableStack();
  const proxy = await openStatementProxy(databaseUrl);
  stack.defer(() => proxy.close());
  progress('whole payment: counting statements');
  const { url, merchant } = await startOn(proxy.url, stack);
  const live = await openBuyers(url, merchant, stack);
  const payments = plan.quick ? 100 : 800;
  return [
    await statementRow(proxy, live, connections, payments),
    await statementRow(proxy, live, 1, payments / 4),
  ];
};

/** The rows. */
export const wholePaymentRows = async (bench: Bench): Promise<readonly Row[]> => {
  await using stack = new AsyncDisposableStack();
  const dataDir = mkdtempSync(join(tmpdir(), 'payments-bench-'));
  stack.defer(() => rmSync(dataDir, { recursive: true, force: true }));
  const database = await startEmbeddedPostgres({ dataDir, progress: () => {} });
  stack.defer(() => database.stop());
  const postgres = cpuOfPostgres(dataDir);
  const rows: Row[] = [];
  {
    await using running = new AsyncDisposableStack();
    const pool = new pg.Pool({ connectionString: database.url, max: 1 });
    running.defer(() => pool.end());
    const { url, pid, merchant } = await startOn(database.url, running);
    const live = await openBuyers(url, merchant, running);
    bench.progress('whole payment: filling the tables');
    await payAtOnce(live, { connections, ...fill });
    await pool.query('vacuum (analyze)');
    const whole = wholePayments(live, [cpuOfProcess(pid), postgres]);
    const requests = [createRequest(merchant.key)];
    const created = { name: 'payments created', url, pid, requests, postgres };
    const creates = drained(serverSubject(created, bench.load), pool);
    const { many, one } = await measureBoth([whole, creates], bench, 'whole payment');
    const comparison = { subject: whole, baseline: creates, aim: { least: ratio_min } };
    rows.push(
      ...comparisonRows({ what: 'whole payment', ...comparison }, many, one, connections),
      half(one.get(whole), half_ms.one, 1),
      half(many.get(whole), half_ms.many, connections),
      streamRow(await timeStream(url, merchant)),
    );
  }
  return [...rows, ...(await statementRows(database.url, bench))];
};
