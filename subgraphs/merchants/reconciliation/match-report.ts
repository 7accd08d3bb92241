/**
 * Matches a settlement report with our operations in steps. Each step is a short transaction that
 * stores its progress, so a crash repeats one step, and a step does not grow with the report or the
 * history. First the lines' merchants are found, then each merchant's operations are compared, then
 * missing operations are searched for.
 */
import { LockMode, raw } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import type pg from 'pg';
import { raiseAlert } from '../../platform/alerts/alerts.ts';
import {
  notDeadLetterOfPlatform,
  workBatch,
  type Subject,
} from '../../platform/alerts/dead-letters.ts';
import { reportedKinds, type ReportedKind } from '../../acquirers/bank.ts';
import { ShopEntity } from '../../platform/database/entities.ts';
import { noteListChange } from '../../platform/database/list-changes.ts';
import { clientOf } from '../../platform/database/orm-connections.ts';
import type { Database } from '../../platform/database/orm.ts';
import { run, type Statement } from '../../platform/database/statement.ts';
import { PostingEntity } from '../../ledger/entities.ts';
import { platformMerchantId } from '../../rules/ids.ts';
import { compareOwned, compareStrangers, type Step, addDifferences } from './compare-lines.ts';
import {
  ReconciliationDifferenceEntity,
  ReconciliationLineEntity,
  ReconciliationRunEntity,
  type ReconciliationRun,
  type MatchProgress,
} from './entities.ts';
import { each, findOwners, lowest, ownersFrom, probeOwners, type Matching } from './find-owners.ts';

/*
 * Finds operations that succeeded here but are in no settlement report. It reads the postings of
 * success, ordered by time in each shop, in spans that no earlier run has searched. A run therefore
 * reads the days since the last run, whatever the size of the history.
 */

/** Operations newer than this may appear in the bank's next report. */
const youngest_h = 24;
/**
 * How far before a report's span to search: covers late reports, and operations that were too
 * recent in the last run.
 */
const lookBack_d = 31;
/** Shops of which one look-up finds those that had anything, and operations of one batch. */
const shops_max = 500;
const operations_max = 2_000;

type Missing = MatchProgress & { readonly phase: 'missing' };

// The first report of a bank covers nothing before it.
const gapsOf: Statement = {
  name: 'reconciliation.gaps',
  text: `with report as (
      select greatest(min(since), $3::timestamptz) as since, $4::timestamptz as until from reconciliation_run where connector = $1 and mode = $2),
    looked as (
      select coalesce(range_agg(tstzrange(looked_since, looked_until)), '{}'::tstzmultirange) as spans from reconciliation_run
      where connector = $1 and mode = $2 and looked_until > $3 and looked_since < looked_until)
    select lower(gap) as since, upper(gap) as until
    from report cross join looked cross join lateral unnest(tstzmultirange(tstzrange(report.since, report.until)) - looked.spans) as gap
    where report.since < report.until order by 1`,
};

const earliest = (one: Temporal.Instant, other: Temporal.Instant): Temporal.Instant =>
  Temporal.Instant.compare(one, other) <= 0 ? one : other;

/** Where the search for missing operations begins. */
const missingFrom = async (
  client: pg.PoolClient,
  { connector, mode, since, until }: ReconciliationRun,
  now: Temporal.Instant,
): Promise<Missing> => {
  const oldEnough = earliest(until, now.subtract({ hours: youngest_h }));
  const from = since.subtract({ hours: lookBack_d * 24 });
  const gaps = await run<{ since: Temporal.Instant; until: Temporal.Instant }>(client, gapsOf, [
    connector,
    mode,
    from,
    oldEnough,
  ]);
  const spans = gaps.map((gap) => ({ since: gap.since.toString(), until: gap.until.toString() }));
  return {
    phase: 'missing',
    lookedSince: spans[0]?.since ?? oldEnough.toString(),
    lookedUntil: oldEnough.toString(),
    gaps: spans,
    shop: { merchantId: lowest, id: lowest },
    operations: null,
  };
};

interface Succeeded {
  readonly id: string;
  readonly postingId: string;
  readonly at: Temporal.Instant;
  readonly amount: bigint;
  readonly currency: string;
  readonly bankRef: string | null;
  /** Whether the operation is one of the report's bank. */
  readonly isOfBank: boolean;
}

/** SQL: a refund went to the bank of its payment. */
const paymentOfRefund = 'join payment on payment.merchant_id = $1 and payment.id = fact.payment_id';

const succeeded = each<Statement>((kind) => ({
  name: `reconciliation.succeeded_${kind}`,
  text: `select booked.source_id as id, booked.id as "postingId", booked.created_at as at, booked.amount, booked.currency, fact.bank_ref as "bankRef",
      coalesce(${kind === 'refund' ? 'payment' : 'fact'}.connector = $8, false) as "isOfBank"
    from (select id, source_id, created_at, amount, currency from posting
      where merchant_id = $1 and shop_id = $2 and mode = $3 and type = '${kind}' and (created_at, id) > ($4::timestamptz, $5::uuid) and created_at >= $4 and created_at < $6
      order by created_at, id limit $7) as booked
    join ${kind} as fact on fact.merchant_id = $1 and fact.id = booked.source_id
    ${kind === 'refund' ? paymentOfRefund : ''} order by booked.created_at, booked.id`,
}));

interface Look extends Matching {
  readonly gap: Missing['gaps'][number];
}
/** Stores the operations of a batch that are missing at the bank; returns their number. */
const reportMissing = async (
  look: Look,
  merchantId: string,
  kind: ReportedKind,
  batch: readonly Succeeded[],
): Promise<number> => {
  const { em } = look;
  const mine = batch.filter(({ isOfBank }) => isOfBank);
  const ids = mine.map(({ id }) => id);
  if (ids.length === 0) return 0;
  const reported = await em.find(
    ReconciliationLineEntity,
    { matchedId: { $in: ids } },
    { fields: ['matchedId'], disableIdentityMap: true },
  );
  const seen = new Set(reported.map(({ matchedId }) => matchedId));
  if (seen.size === ids.length) return 0;
  const known = await em.find(
    ReconciliationDifferenceEntity,
    { merchantId, operationId: { $in: ids }, kind: 'missing_at_bank' },
    { fields: ['operationId'], disableIdentityMap: true },
  );
  for (const { operationId } of known) seen.add(operationId);
  const found = mine
    .filter(({ id }) => !seen.has(id))
    .map(({ id, amount, currency, bankRef }) => ({
      kind: 'missing_at_bank' as const,
      operation: kind,
      operationId: id,
      reference: bankRef,
      atBank: null,
      here: { amount, currency, status: 'succeeded' },
      detail: `the ${kind} of ${amount} ${currency} that succeeded here is in no report of the bank`,
    }));
  return addDifferences(look, merchantId, found);
};

/** Operations of one step; the next step continues. */
const step_rows = 20_000;

type Operations = NonNullable<Missing['operations']>;
type Shop = Missing['shop'];

/** Searches about so many of a shop's operations; `operations` is null at the end of the shop. */
const lookThrough = async (look: Look, shop: Shop, from: Operations, most: number) => {
  const { client, ready, gap } = look;
  let [rows, differences] = [0, 0];
  let operations: Operations | null = from;
  while (operations && rows < most) {
    const { kind, at, id }: Operations = operations;
    const values = [shop.merchantId, shop.id, ready.mode, at, id, gap.until, operations_max];
    const batch: readonly Succeeded[] = await run<Succeeded>(client, succeeded[kind], [
      ...values,
      ready.connector,
    ]);
    differences += await reportMissing(look, shop.merchantId, kind, batch);
    rows += batch.length;
    const last = batch.at(-1);
    const nextKind: ReportedKind | undefined = reportedKinds[reportedKinds.indexOf(kind) + 1];
    if (last && batch.length === operations_max)
      operations = { kind, at: last.at.toString(), id: last.postingId };
    else operations = nextKind ? { kind: nextKind, at: gap.since, id: lowest } : null;
  }
  return { rows, differences, operations };
};

/** The next page of shops. */
const findShops = ({ em }: Look, { merchantId, id }: Shop): Promise<readonly Shop[]> =>
  em.find(
    ShopEntity,
    { [raw('(merchant_id, id) > (?::uuid, ?::uuid)', [merchantId, id])]: [] },
    {
      fields: ['merchantId', 'id'],
      orderBy: { merchantId: 'asc', id: 'asc' },
      limit: shops_max,
      disableIdentityMap: true,
    },
  );

/** Whether a shop had operations in the gap; reads no more for a large shop than for a small one. */
const wasActive = async (
  { em, ready: { mode }, gap }: Look,
  { merchantId, id: shopId }: Shop,
): Promise<boolean> => {
  const type = { $in: [...reportedKinds] };
  const [$gte, $lt] = [Temporal.Instant.from(gap.since), Temporal.Instant.from(gap.until)];
  const of = { merchantId, shopId, mode, type, createdAt: { $gte, $lt } };
  return (await em.findOne(PostingEntity, of, { disableIdentityMap: true })) !== null;
};

/** Continues the search for missing operations: at most a page of shops, or so many operations. */
const findMissing = async (matching: Matching, progress: Missing): Promise<Step> => {
  const [gap, ...further] = progress.gaps;
  if (!gap) return { matched: 0, differences: 0, next: 'done' };
  const look = { ...matching, gap };
  let [rows, differences] = [0, 0];
  const takeShop = async (shop: Shop, from: Operations): Promise<Operations | null> => {
    const looked = await lookThrough(look, shop, from, step_rows - rows);
    rows += looked.rows;
    differences += looked.differences;
    return looked.operations;
  };
  const stop = (shop: Shop, operations: Operations | null): Step => ({
    matched: 0,
    differences,
    next: { ...progress, shop, operations },
  });
  if (progress.operations) {
    const { shop } = progress;
    return stop(shop, await takeShop(shop, progress.operations));
  }
  const shops = await findShops(look, progress.shop);
  const [first] = reportedKinds;
  for (const { merchantId, id } of shops) {
    const shop = { merchantId, id };
    const left = (await wasActive(look, shop))
      ? await takeShop(shop, { kind: first, at: gap.since, id: lowest })
      : null;
    if (left || rows >= step_rows) return stop(shop, left);
  }
  const last = shops.at(-1);
  if (last && shops.length === shops_max)
    return stop({ merchantId: last.merchantId, id: last.id }, null);
  const next = { ...progress, gaps: further, shop: { merchantId: lowest, id: lowest } };
  return { matched: 0, differences, next };
};

/** The task for runs that cannot be matched and are set aside. A run belongs to the platform. */
const task = 'match-registries';
const notDead = (table: string): string => notDeadLetterOfPlatform(task, `${table}.id::text`);
/** SQL: whether a run is ready to be matched. */
export const isMatchDue = `exists (select 1 from reconciliation_run where status = 'ready' and ${notDead('reconciliation_run')})`;

/** The oldest run that is ready; a lock skips those that another process matches. */
const oldestReady = (em: EntityManager, lockMode = LockMode.NONE) =>
  em.findOne(
    ReconciliationRunEntity,
    { status: 'ready', [raw(notDead)]: [] },
    { orderBy: { createdAt: 'asc' }, lockMode },
  );

const alertOf = (
  client: pg.PoolClient,
  { id, connector, mode, reference, differences }: ReconciliationRun,
  at: Temporal.Instant,
) =>
  raiseAlert(client, {
    kind: 'reconciliation_difference',
    merchantId: null,
    shopId: null,
    mode,
    subjectId: id,
    detail: `the report ${reference} of ${connector} has ${differences} differences`,
    fields: { bank: connector, registry: reference, count: String(differences) },
    at,
  });

const nothing = { matched: 0, differences: 0 };

/** Performs the next step of a run. */
const stepOf = async (matching: Matching): Promise<Step> => {
  const { client, ready, now } = matching;
  const progress = ready.progress ?? ownersFrom(ready, reportedKinds[0]);
  switch (progress.phase) {
    case 'owners':
      return { ...nothing, next: await findOwners(matching, progress) };
    case 'probe':
      return { ...nothing, next: await probeOwners(matching, progress.after) };
    case 'compare':
      return compareOwned(matching, progress);
    case 'strangers': {
      const { next, ...counts } = await compareStrangers(matching, progress.after);
      return {
        ...counts,
        next: next ? { phase: 'strangers', after: next } : await missingFrom(client, ready, now),
      };
    }
    case 'missing':
      return findMissing(matching, progress);
  }
};

/** Performs one step of the oldest ready run; null when none is ready. */
export const matchStep = (
  database: Pick<Database, 'fork'>,
  now: Temporal.Instant,
): Promise<ReconciliationRun | null> =>
  database.fork().transactional(async (em) => {
    const ready = await oldestReady(em, LockMode.PESSIMISTIC_PARTIAL_WRITE);
    if (!ready) return null;
    const client = await clientOf(em);
    // New rows have no statistics: the planner would expect a few report lines and choose a full
    // scan of our operations.
    await client.query(`select set_config('enable_seqscan', 'off', true)`);
    const { matched, differences, next } = await stepOf({ em, client, ready, now });
    ready.matched += matched;
    ready.differences += differences;
    if (next === 'done') {
      const looked = ready.progress?.phase === 'missing' ? ready.progress : null;
      Object.assign(ready, {
        status: 'matched',
        matchedAt: now,
        lookedSince: looked && Temporal.Instant.from(looked.lookedSince),
        lookedUntil: looked && Temporal.Instant.from(looked.lookedUntil),
      });
      if (ready.differences > 0) await alertOf(client, ready, now);
    }
    ready.progress = next === 'done' ? null : next;
    noteListChange(client, { list: 'reconciliation_differences', merchantId: null });
    return ready;
  });

/**
 * Matches the oldest ready run step by step, and alerts when it has differences; null when none is
 * ready or `stopping` is aborted. A crash repeats one step. A run that cannot be matched is set
 * aside, and the next one is matched.
 */
export const matchNext = async (
  database: Pick<Database, 'pool' | 'fork'>,
  now: Temporal.Instant,
  stopping?: AbortSignal,
): Promise<ReconciliationRun | null> => {
  const { pool } = database;
  const first = async (): Promise<Subject | null> => {
    const ready = await oldestReady(database.fork());
    return ready && { merchantId: platformMerchantId, subjectId: ready.id };
  };
  for (;;) {
    if (stopping?.aborted) return null;
    const { result } = await workBatch(pool, {
      task,
      limit: 1,
      work: () => matchStep(database, now),
      first,
    });
    if (!result || result.status === 'matched') return result;
  }
};
