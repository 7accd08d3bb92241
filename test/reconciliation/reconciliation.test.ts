import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { ReportLine, SettlementBank } from '../../subgraphs/acquirers/bank.ts';
import { simulatorReport } from '../../subgraphs/acquirers/simulator/operations.ts';
import { openBanks } from '../../subgraphs/acquirers/route.ts';
import { openSimulator } from '../../subgraphs/acquirers/simulator/simulator.ts';
import { isRefusal } from '../../subgraphs/rules/refusal.ts';
import type { KeyPrincipal } from '../../subgraphs/platform/access/principal.ts';
import type { Acting } from '../../subgraphs/platform/database/audit.ts';
import { fetchRegistry } from '../../subgraphs/merchants/reconciliation/jobs.ts';
import {
  listDifferences,
  resolveDifference,
} from '../../subgraphs/merchants/reconciliation/resolvers.ts';
import { matchNext } from '../../subgraphs/merchants/reconciliation/match-report.ts';
import {
  readRegistry,
  registryHeader,
  addRegistryPart,
  matchReconciliation,
  openReconciliation,
} from '../../subgraphs/merchants/reconciliation/upload-report.ts';
import { capturePayment } from '../../subgraphs/payments/holds/capture-payment.ts';
import { cancelOrRelease } from '../../subgraphs/payments/cancel-payment.ts';
import { openHistory, start } from '../books/history.ts';
import { granted } from '../support/granted.ts';
import { holdPayment } from '../support/held-payment.ts';
import { startMigratedDatabase, type MigratedDatabase } from '../support/migrated.ts';

let migrated: MigratedDatabase;
let key: KeyPrincipal;
const payments: string[] = [];
let refund: string;
let payout: string;

before(async () => {
  migrated = await startMigratedDatabase();
  const history = openHistory(migrated);
  key = await migrated.merchant();
  for (const amount of [1_000n, 2_000n, 3_000n, 4_000n, 5_000n, 6_000n])
    payments.push((await history.pay(key, amount)).id);
  refund = await history.refund(key, payments[0] ?? '', 400n);
  payout = await history.payOut(key, 900n, 'succeeded');
});
after(() => migrated.close());

const day = {
  since: Temporal.Instant.from('2026-11-21T00:00:00Z'),
  until: Temporal.Instant.from('2026-11-22T00:00:00Z'),
};
const afterwards = start.add({ hours: 48 });
const acting: Acting = {
  principal: {
    kind: 'operator',
    subject: 'finance@example.com',
    role: 'finance',
    merchantId: null,
  },
  requestId: 'r',
  now: () => afterwards,
};

/**
 * A mistake as an acquirer's report has it: an operation's line with another amount or status, none, or two; or a line
 * of a nonexistent operation.
 */
type PlantedMistake =
  | {
      readonly mistake: 'amount' | 'status' | 'currency' | 'missing' | 'duplicate';
      readonly operationId: string;
    }
  | { readonly mistake: 'extra'; readonly line: ReportLine };

const written = (line: ReportLine, mistakes: readonly PlantedMistake[]): readonly ReportLine[] => {
  const mine = mistakes.filter(
    (planted) => planted.mistake !== 'extra' && planted.operationId === line.operationId,
  );
  return mine.reduce<readonly ReportLine[]>(
    (lines, { mistake }) => {
      switch (mistake) {
        case 'amount':
          return lines.map((one) => ({ ...one, amount: one.amount + 100n }));
        case 'status':
          return lines.map((one) => ({
            ...one,
            status: one.status === 'failed' ? 'succeeded' : 'failed',
          }));
        case 'currency':
          return lines.map((one) => ({ ...one, currency: 'USD' }));
        case 'missing':
          return [];
        case 'duplicate':
          return [...lines, ...lines];
        case 'extra':
          return lines;
      }
    },
    [line],
  );
};

/** The simulator's report with mistakes. */
const mistaken = (report: SettlementBank, mistakes: readonly PlantedMistake[]): SettlementBank => ({
  ...report,
  async *settlementReport(period) {
    for await (const lines of report.settlementReport(period))
      yield lines.flatMap((line) => written(line, mistakes));
    yield mistakes.flatMap((planted) => (planted.mistake === 'extra' ? [planted.line] : []));
  },
});

/**
 * Fetches the simulator's registry of the day under a name of its own, with mistakes, and matches
 * it.
 */
const fetched = async (
  mistakes: readonly PlantedMistake[] = [],
  now = afterwards,
  reference: string = randomUUID(),
) => {
  const { pool } = migrated.database;
  const bank = mistaken(simulatorReport(pool), mistakes);
  const taken = await fetchRegistry(
    migrated.database,
    bank,
    { connector: bank.connector, mode: bank.mode, reference, ...day },
    now,
  );
  const matched = await matchNext(migrated.database, now);
  return { taken, matched, differences: matched ? await differencesOf(matched.id) : [] };
};

const differencesOf = async (runId: string) => {
  const page = granted(await listDifferences(migrated.database.fork(), { runId, first: 200 }));
  return page.nodes
    .map(({ kind, operation, operationId }) => `${kind} ${operation} ${operationId}`)
    .toSorted((one, other) => (one < other ? -1 : 1));
};

type Side = { amount: string; currency: string; status: string } | null;

/** What either side has of an operation that differs. */
const sidesOf = async (runId: string, operationId: string | null) => {
  const { rows } = await migrated.database.pool.query<{ at_bank: Side; here: Side }>(
    'select at_bank, here from reconciliation_difference where run_id = $1 and operation_id = $2',
    [runId, operationId],
  );
  return rows[0] ?? { at_bank: null, here: null };
};

const alerted = async (runId: string): Promise<number> =>
  (
    await migrated.database.pool.query(
      `select 1 from alert where kind = 'reconciliation_difference' and subject_id = $1`,
      [runId],
    )
  ).rowCount ?? 0;

test('a registry that agrees matches every line, and raises no alert', async () => {
  const { matched, differences } = await fetched();
  assert.deepEqual(
    [matched?.status, matched?.lines, matched?.matched, matched?.differences],
    ['matched', 8, 8, 0],
  );
  assert.deepEqual(differences, []);
  assert.equal(await alerted(matched?.id ?? ''), 0);
});

test('every mistake in a registry is found, once, with one alert for the run', async () => {
  const [one = '', two = '', three = '', four = ''] = payments;
  const extra: ReportLine = {
    reference: 'x',
    operationId: randomUUID(),
    kind: 'payment',
    amount: 5n,
    currency: 'RUB',
    status: 'succeeded',
    at: start,
    fee: 1n,
  };
  const mistakes: readonly PlantedMistake[] = [
    { mistake: 'amount', operationId: one },
    { mistake: 'currency', operationId: two },
    { mistake: 'status', operationId: refund },
    { mistake: 'duplicate', operationId: three },
    { mistake: 'amount', operationId: payout },
    { mistake: 'extra', line: extra },
  ];
  const { matched, differences } = await fetched(mistakes, afterwards, 'with mistakes');
  assert.deepEqual(
    new Set(differences),
    new Set([
      `amount_differs payment ${one}`,
      `currency_differs payment ${two}`,
      `status_differs refund ${refund}`,
      `duplicate payment ${three}`,
      `amount_differs payout ${payout}`,
      `missing_here payment ${extra.operationId}`,
    ]),
  );
  assert.deepEqual([matched?.lines, matched?.matched, matched?.differences], [10, 4, 6]);
  assert.deepEqual(await sidesOf(matched?.id ?? '', extra.operationId), {
    at_bank: { amount: '5', currency: 'RUB', status: 'succeeded' },
    here: null,
  });
  const { at_bank: atBank, here } = await sidesOf(matched?.id ?? '', one);
  assert.notEqual(atBank?.amount, here?.amount);
  assert.deepEqual({ ...atBank, amount: here?.amount }, here);
  assert.equal(await alerted(matched?.id ?? ''), 1);
  const again = await fetched(mistakes, afterwards, 'with mistakes');
  assert.deepEqual(
    [again.taken, again.matched],
    [false, null],
    'the same registry is the same run',
  );
  assert.ok(four);
});

test('what the bank does not list is missing when it is a day old, and cleared when a later registry has it', async () => {
  await migrated.database.pool.query(
    'truncate reconciliation_run, reconciliation_part, reconciliation_line, reconciliation_difference',
  );
  const [, , , , lost = ''] = payments;
  const missing: readonly PlantedMistake[] = [{ mistake: 'missing', operationId: lost }];
  assert.deepEqual(
    (await fetched(missing, start.add({ hours: 20 }))).differences,
    [],
    'too young to be missing',
  );
  const { matched, differences } = await fetched(missing);
  assert.deepEqual(differences, [`missing_at_bank payment ${lost}`]);
  const sides = await sidesOf(matched?.id ?? '', lost);
  assert.deepEqual([sides.at_bank, sides.here?.status], [null, 'succeeded']);
  assert.deepEqual((await fetched(missing)).differences, [], 'it is told once');
  await fetched();
  const { rows } = await migrated.database.pool.query(
    `select resolved_by, note from reconciliation_difference where kind = 'missing_at_bank'`,
  );
  assert.deepEqual(rows, [{ resolved_by: 'reconciliation', note: 'Found in a later registry' }]);
});

const upload = async (reference: string) =>
  granted(
    await openReconciliation(migrated.database, acting, {
      connector: 'simulator',
      mode: 'test',
      reference,
      ...day,
    }),
  );
const csvOf = (...lines: readonly string[]): string => [registryHeader, ...lines].join('\r\n');

test('an upload comes in parts that may be repeated, tells its mistakes by line, and keeps nothing of a part with one', async () => {
  const { database } = migrated;
  const run = await upload('file-1');
  assert.equal((await upload('file-1')).id, run.id);
  const [one = '', two = ''] = payments;
  const bad = csvOf(
    `r,${one},payment,1000,RUB,succeeded,2026-11-21T10:00:00Z,`,
    'r,no-id,payment,1,RUB,succeeded,2026-11-21T10:00:00Z,',
    'r,,gift,1.5,RUB,paid,noon',
  );
  const refusedPart = await addRegistryPart(database, acting, { runId: run.id, part: 1, csv: bad });
  assert.ok(isRefusal(refusedPart));
  assert.match(
    refusedPart.message,
    /lines with mistakes: 2; line 3: operation_id: expected a UUID or nothing; line 4: expected 8 fields, got 7/,
  );
  const first = csvOf(`r,${one},payment,1000,RUB,succeeded,2026-11-21T10:00:00Z,12`);
  // Without our id it is found by the bank's reference.
  const second = csvOf(`sim_${two},,payment,2001,RUB,succeeded,2026-11-21T10:00:00Z,`, '');
  for (const [part, csv] of [first, second, first].entries())
    granted(await addRegistryPart(database, acting, { runId: run.id, part: (part % 2) + 1, csv }));
  const other = await addRegistryPart(database, acting, { runId: run.id, part: 1, csv: second });
  assert.ok(isRefusal(other) && other.code === 'idempotent_conflict');
  assert.equal(granted(await matchReconciliation(database, acting, { runId: run.id })).lines, 2);
  const { rows: entries } = await database.pool.query(
    `select action, before ->> 'status' as status, (before ->> 'lines')::int as from_lines, (after ->> 'lines')::int as lines,
       after ->> 'status' as becomes, coalesce(after ->> 'runId', subject_id) = $1 as same
     from audit_entry where action like 'reconciliation.%' order by id`,
    [run.id],
  );
  const adding = ['reconciliation.add', 'open'];
  assert.deepEqual(entries.map(Object.values), [
    ['reconciliation.open', null, null, 0, 'open', true],
    ['reconciliation.open', null, null, 0, 'open', true],
    [...adding, 0, 1, 'open', true],
    [...adding, 1, 2, 'open', true],
    [...adding, 2, 2, 'open', true],
    ['reconciliation.match', 'open', 2, 2, 'ready', true],
  ]);
  const late = await addRegistryPart(database, acting, { runId: run.id, part: 3, csv: first });
  assert.ok(isRefusal(late) && late.code === 'bad_request');
  const matched = await matchNext(database, afterwards);
  assert.deepEqual([matched?.id, matched?.matched], [run.id, 1]);
  assert.deepEqual(await differencesOf(run.id), [`amount_differs payment ${two}`]);
});

test('a registry is CSV: quoted fields, either end of line, a mark of byte order; mistakes by line', () => {
  const id = randomUUID();
  const rest = `${id},payment,1000,RUB,succeeded,2026-11-21T10:00:00Z,12`;
  const of = (...texts: readonly string[]) => {
    const { lines, mistakes } = readRegistry([registryHeader, ...texts].join('\r\n'));
    return {
      references: lines.map(({ reference }) => reference),
      mistakes: mistakes.map(({ line, message }) => `${line}: ${message}`),
    };
  };
  const quotes = 'expected fields without quotes';
  const header = `expected the header ${registryHeader}`;
  assert.deepEqual(of(`"a, b",${rest}`, '', `c,"${id}"${rest.slice(id.length)}`), {
    references: ['a, b', 'c'],
    mistakes: [],
  });
  const wrong = [`a"b,${rest}`, `"c",${rest}`, `"d"e,${rest}`, `f,${rest},`, 'g', `"h,${rest}`];
  assert.deepEqual(of(...wrong, `i,${rest}`), {
    references: ['c'],
    mistakes: [
      `2: ${quotes}`,
      `4: ${quotes}`,
      '5: expected 8 fields, got 9',
      '6: expected 8 fields, got 1',
      `7: ${quotes}`,
    ],
  });
  assert.equal(readRegistry(`\u{feff}${registryHeader}\na,${rest}\r\nb,${rest}`).lines.length, 2);
  const headers = ['', '\n', `x${registryHeader}`, `\n${registryHeader}`, `"${registryHeader}`];
  for (const csv of headers)
    assert.deepEqual(readRegistry(csv), { lines: [], mistakes: [{ line: 1, message: header }] });
});

test('a difference is resolved once, with a note, and leaves its audit entry', async () => {
  const { database } = migrated;
  const page = granted(
    await listDifferences(database.fork(), {
      first: 1,
      resolved: false,
      kind: 'amount_differs',
      merchantId: key.merchantId,
    }),
  );
  const [open] = page.nodes;
  assert.ok(open);
  const input = { merchantId: key.merchantId, id: open.id, note: 'The bank will correct it' };
  const resolved = granted(await resolveDifference(database, acting, input));
  assert.deepEqual(
    [resolved.resolvedBy, resolved.note],
    ['finance@example.com', 'The bank will correct it'],
  );
  const again = await resolveDifference(database, acting, input);
  assert.ok(isRefusal(again) && again.code === 'bad_request');
  const { rowCount } = await database.pool.query(
    `select 1 from audit_entry where action = 'reconciliation_difference.resolve' and subject_id = $1`,
    [open.id],
  );
  assert.equal(rowCount, 1);
});

test('a registry has what was captured of a payment that was held, and nothing of a hold that was given up', async () => {
  const before = await fetched();
  const banks = openBanks(openSimulator(migrated.database), migrated.database.pool);
  const [part, none] = [
    await holdPayment(migrated, key, 10_000n, start),
    await holdPayment(migrated, key, 10_000n, start),
  ];
  const now = start.add({ seconds: 3 });
  const request = { paymentId: part.id, amount: 4_000n };
  granted(await capturePayment(migrated.database, banks, key, request, now));
  const given = { paymentId: none.id, requestId: 'r' };
  granted(await cancelOrRelease(migrated.database, banks, key, given, now));
  const after = await fetched();
  assert.equal(Number(after.matched?.lines), Number(before.matched?.lines) + 1);
  assert.equal(Number(after.matched?.matched), Number(before.matched?.matched) + 1);
  assert.deepEqual(after.differences, before.differences);
});
