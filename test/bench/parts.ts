/** The parts of a run: what each measures, at which size, and how long that takes. */
import { constantRows } from './rows/constant-rows.ts';
import { csvRows } from './rows/csv-row.ts';
import { createRows, readRows } from './rows/database-rows.ts';
import { webhooksOnPostgres, webhooksOnRedis } from './rows/event-rows.ts';
import { socketRows, streamRows } from './rows/fan-out-rows.ts';
import { homeRows } from './rows/home-rows.ts';
import { idleFleetRows, idleRows } from './rows/idle-rows.ts';
import { installRows } from './rows/install-row.ts';
import { memoryRows } from './rows/memory-row.ts';
import { payoutRows } from './rows/payout-rows.ts';
import { peerRows } from './rows/peer-rows.ts';
import type { Bench, BenchPlan } from './plan.ts';
import { processRows } from './rows/process-rows.ts';
import type { Row } from './report.ts';
import { dueAtOnceRows } from './rows/due-at-once-rows.ts';
import { reconciliationRows } from './rows/reconciliation-rows.ts';
import { recurringRows } from './rows/recurring-row.ts';
import { registryRows } from './rows/registry-rows.ts';
import { sizeRows } from './rows/size-rows.ts';
import { fleetSoakRows, soakRows } from './rows/soak-rows.ts';
import { spreadRows } from './rows/spread-rows.ts';
import { startRows } from './rows/start-rows.ts';
import { succeedRows } from './rows/succeed-rows.ts';
import { traceRows } from './rows/trace-rows.ts';
import { wholePaymentRows } from './rows/whole-payment-rows.ts';
import { openFixture, type Fixture } from './fixture.ts';

interface Part {
  /** What is measured, and at which size. */
  readonly says: (plan: BenchPlan) => string;
  /** How long it takes on two quiet cores, in minutes: quick, and whole. */
  readonly quick_min: number;
  readonly whole_min: (plan: BenchPlan) => number;
  /** On a PostgreSQL with the service and the baseline, which all such parts of a run share. */
  readonly overFixture?: (fixture: Fixture, bench: Bench) => Promise<readonly Row[]>;
  /** By itself; one after the other, each kept whatever becomes of the next. */
  readonly alone?: readonly ((bench: Bench) => Promise<readonly Row[]>)[];
}

const n = (count: number): string => count.toLocaleString('en');

const parts = {
  create: {
    says: () =>
      'payments created over REST, against bare fastify and pgbench with the same SQL, and without a database',
    quick_min: 0.5,
    whole_min: () => 4,
    overFixture: createRows,
    alone: [(bench) => constantRows('create', bench)],
  },
  whole: {
    says: () =>
      'whole payments, from their creation to their webhook, against payments that are created',
    quick_min: 0.4,
    whole_min: () => 2,
    alone: [wholePaymentRows],
  },
  size: {
    says: ({ sizePayments, sizeOthers }) =>
      `what ${n(sizePayments)} whole payments write among ${n(sizeOthers)} others: disk, log, transactions, HOT updates`,
    quick_min: 0.6,
    whole_min: ({ sizePayments, sizeOthers }) => 1 + sizePayments / 3_000 + sizeOthers / 300_000,
    alone: [sizeRows],
  },
  read: {
    says: () =>
      'payments read over REST, against bare fastify with the same SQL, and without a database',
    quick_min: 0.5,
    whole_min: () => 4,
    overFixture: readRows,
    alone: [(bench) => constantRows('read', bench)],
  },
  succeed: {
    says: ({ succeedRequests, many }) =>
      `payments that succeed, against pgbench with the same SQL: ${n(succeedRequests)} in each of ${many.rounds} rounds`,
    quick_min: 0.5,
    whole_min: () => 2,
    overFixture: succeedRows,
  },
  csv: {
    says: ({ csvRows: rows }) => `a ledger of ${n(rows)} rows as CSV, against COPY`,
    quick_min: 0.3,
    whole_min: () => 2,
    overFixture: csvRows,
  },
  memory: {
    says: ({ memoryRequests }) => `memory after ${n(memoryRequests)} requests`,
    quick_min: 0.3,
    whole_min: () => 0.5,
    overFixture: memoryRows,
  },
  start: {
    says: ({ starts }) =>
      `npm start to ready, cold and warm, ${starts} times, against PostgreSQL alone`,
    quick_min: 0.5,
    whole_min: () => 1,
    alone: [startRows],
  },
  idle: {
    says: ({ restSeconds }) =>
      `the service at rest for twice ${restSeconds} s: memory and CPU of one process, memory of each role of a fleet`,
    quick_min: 0.6,
    whole_min: ({ restSeconds }) => 0.5 + (5 * restSeconds) / 60,
    alone: [idleRows, idleFleetRows],
  },
  install: {
    says: () => 'what npm start installs',
    quick_min: 0.1,
    whole_min: () => 0.1,
    alone: [installRows],
  },
  registry: {
    says: ({ registryPayments }) =>
      `pages of registries and ledger among ${n(registryPayments)} payments, against 10,000`,
    quick_min: 1,
    whole_min: ({ registryPayments }) => 1 + registryPayments / 600_000,
    alone: [registryRows],
  },
  home: {
    says: ({ registryPayments }) =>
      `the first screen of the console's home among ${n(registryPayments)} payments`,
    quick_min: 0.7,
    whole_min: ({ registryPayments }) => 1 + registryPayments / 400_000,
    alone: [homeRows],
  },
  reconciliation: {
    says: ({ registryPayments }) =>
      `a settlement report of 10,000 lines matched among ${n(registryPayments)} payments, their refunds and payouts, against among 83,340`,
    quick_min: 0.7,
    whole_min: ({ registryPayments }) => 1 + registryPayments / 400_000,
    alone: [reconciliationRows],
  },
  payouts: {
    says: ({ merchants }) =>
      `payouts of one merchant and of ${merchants}, against pgbench with the same SQL; a batch of 1,000 against single calls`,
    quick_min: 0.7,
    whole_min: () => 3,
    overFixture: payoutRows,
  },
  spread: {
    says: ({ merchants }) =>
      `verbs without REST, against pgbench; all payments of one merchant, against ${merchants}`,
    quick_min: 0.4,
    whole_min: () => 2,
    overFixture: spreadRows,
  },
  processes: {
    says: ({ merchants }) =>
      `payments created by 2 and 4 processes, against 1: of ${merchants} merchants alike, and mostly of one`,
    quick_min: 0.6,
    whole_min: () => 3,
    overFixture: processRows,
  },
  trace: {
    says: () => 'payments created with every call traced, and one of a hundred, against none',
    quick_min: 0.4,
    whole_min: () => 2,
    overFixture: traceRows,
  },
  events: {
    says: ({ backlog, eventSeconds }) =>
      `webhooks on both queues: a backlog of ${n(backlog)}, against a bare loop; ${eventSeconds} s at a steady rate`,
    quick_min: 0.6,
    whole_min: ({ backlog }) => 1 + backlog / 25_000,
    alone: [webhooksOnPostgres, webhooksOnRedis],
  },
  sockets: {
    says: ({ sockets }) =>
      `${sockets.map(n).join(' and ')} sockets in one process: memory of each, and one event to all, against bare ws`,
    quick_min: 0.2,
    whole_min: ({ sockets }) => 0.5 + Math.max(...sockets) / 10_000,
    alone: [socketRows],
  },
  streams: {
    says: ({ sockets }) =>
      `${sockets.map(n).join(' and ')} event streams in one process, likewise, against bare http`,
    quick_min: 0.2,
    whole_min: ({ sockets }) => 0.5 + Math.max(...sockets) / 10_000,
    alone: [streamRows],
  },
  recurring: {
    says: ({ dueSubscriptions, subscriptions }) =>
      `${n(dueSubscriptions)} due subscriptions, against charges one by one; among ${n(dueSubscriptions * 2)} and ${n(subscriptions)}`,
    quick_min: 0.7,
    whole_min: ({ subscriptions }) => 1 + subscriptions / 500_000,
    overFixture: recurringRows,
  },
  due: {
    says: ({ dueAtOnce }) =>
      `${n(dueAtOnce)} subscriptions due at the same moment, and another merchant's webhooks meanwhile`,
    quick_min: 0.5,
    whole_min: ({ dueAtOnce }) => 1 + dueAtOnce / 20_000,
    overFixture: dueAtOnceRows,
  },
  peers: {
    says: () => 'other gateways over the same subgraphs: stock Apollo, Hive Gateway, Mercurius',
    quick_min: 2,
    whole_min: () => 12,
    alone: [peerRows],
  },
  soak: {
    says: ({ soakMinutes }) =>
      `the whole service in one process under everything at once for ${soakMinutes} min: memory, waiting and rate over time`,
    quick_min: 0.5,
    whole_min: ({ soakMinutes }) => soakMinutes + 1,
    alone: [soakRows],
  },
  fleet: {
    says: ({ soakMinutes }) =>
      `the same with a process for each role, on Redis, for ${soakMinutes} min`,
    quick_min: 0.8,
    whole_min: ({ soakMinutes }) => soakMinutes + 1.5,
    alone: [fleetSoakRows],
  },
} as const satisfies Readonly<Record<string, Part>>;

export type PartName = keyof typeof parts;

export const partNames = Object.keys(parts) as readonly PartName[];

/** The parts of `summary`: what a merchant waits for, and what an installation costs. */
export const summaryParts: readonly PartName[] = [
  'create',
  'read',
  'whole',
  'start',
  'idle',
  'install',
  'events',
];

const partOf = (name: PartName): Part => parts[name];
const minutesOf = (name: PartName, plan: BenchPlan): number =>
  plan.quick ? partOf(name).quick_min : partOf(name).whole_min(plan);
const totalOf = (names: readonly PartName[], plan: BenchPlan): number =>
  names.reduce((sum, name) => sum + minutesOf(name, plan), 0);

/**
 * When a run is stopped: it has then taken several times as long as on a quiet machine. Minutes.
 */
export const limitOf = (names: readonly PartName[], plan: BenchPlan): number =>
  Math.ceil(5 + 3 * totalOf(names, plan));

/** What will be measured and for how long, for a person. */
export const announce = (names: readonly PartName[], plan: BenchPlan): string => {
  const minutes = (count: number): string =>
    `${count < 1 ? count.toFixed(1) : count.toFixed(0)} min`;
  const width = Math.max(...names.map(({ length }) => length));
  const lines = names.map(
    (name) =>
      `  ${name.padEnd(width)}  ${minutes(minutesOf(name, plan)).padStart(7)}  ${partOf(name).says(plan)}`,
  );
  const total = minutes(totalOf(names, plan));
  return [
    `Measuring${plan.quick ? ', quickly: that everything works, not what it costs' : ''}:`,
    ...lines,
    `About ${total} on two quiet cores; stopped after ${limitOf(names, plan)} min.`,
    '',
  ].join('\n');
};

/**
 * Measures the parts one after the other; `kept` is called with all rows so far after each. One
 * that throws is named in `failed`, and the others go on.
 */
export const measureParts = async (
  names: readonly PartName[],
  bench: Bench,
  kept: (rows: readonly Row[]) => void,
): Promise<{ readonly rows: readonly Row[]; readonly failed: readonly string[] }> => {
  const rows: Row[] = [];
  const failed: string[] = [];
  const measure = async (name: PartName, work: () => Promise<readonly Row[]>): Promise<void> => {
    try {
      bench.progress(`== ${name}`);
      rows.push(...(await work()));
      kept(rows);
    } catch (error) {
      failed.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  const overFixture = names.filter((name) => partOf(name).overFixture);
  if (overFixture.length > 0) {
    await using fixture = await openFixture(bench.progress);
    for (const name of overFixture)
      await measure(name, async () => (await partOf(name).overFixture?.(fixture, bench)) ?? []);
  }
  for (const name of names)
    for (const rowsOf of partOf(name).alone ?? []) await measure(name, () => rowsOf(bench));
  return { rows, failed };
};
