/**
 * Finds the merchants behind settlement report lines. Lookups over all merchants use an index and
 * return only merchants: first operations created around the report's span, newest first, until all
 * lines are matched; then each merchant's keys for the ids still unknown.
 */
import { raw } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import type pg from 'pg';
import { reportedKinds, type ReportedKind } from '../../acquirers/bank.ts';
import { run, type Statement } from '../../platform/database/statement.ts';
import type { RowKey } from '../../platform/database/batch-calls.ts';
import { MerchantEntity } from '../../platform/database/entities.ts';
import {
  ReconciliationLineEntity,
  type LinePlace,
  type MatchProgress,
  type ReconciliationRun,
} from './entities.ts';

/** How long before the report an operation may be created to be found by the bank's reference. */
const made_before_d = 31;
/** Operations of a step, and of the steps that follow: each is over in some ten milliseconds. */
const operations_rows = 5_000;
/** Ids that are looked for at once, and merchants of whom they could be. */
const probed_lines = 200;
const probed_merchants = 500;

const highest = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
/** No id comes before it. */
export const lowest = '00000000-0000-0000-0000-000000000000';
/** Before the first line of any run. */
export const firstLine: LinePlace = { kind: '', part: 0, line: 0 };

/** A match in its transaction, of the ORM and of the statements written by hand. */
export interface Matching {
  readonly em: EntityManager;
  readonly client: pg.PoolClient;
  readonly ready: ReconciliationRun;
  readonly now: Temporal.Instant;
}

const fresh = { disableIdentityMap: true } as const;

interface Made extends RowKey {
  readonly bankRef: string | null;
  readonly createdAt: Temporal.Instant;
  readonly amount: bigint;
  /** What a bank calls a refund's payment by; empty for other operations and a failed refund. */
  readonly paymentRefs: readonly string[];
}
interface OpenLine extends LinePlace {
  readonly operationId: string | null;
  readonly reference: string;
  readonly amount: bigint;
}

export const each = <Given>(
  of: (kind: ReportedKind) => Given,
): Readonly<Record<ReportedKind, Given>> => ({
  payment: of('payment'),
  refund: of('refund'),
  payout: of('payout'),
});

// A join would let the planner read all payments for a page of refunds.
const refundRefs = `case when made.status = 'failed' then '{}' else array(
      select reference from payment cross join unnest(array[bank_ref, id::text]) as reference
      where merchant_id = made.merchant_id and id = made.payment_id and reference is not null) end`;

const madeOf = each<Statement>((kind) => ({
  name: `reconciliation.made_${kind}`,
  text: `select made.merchant_id as "merchantId", made.id, made.bank_ref as "bankRef", made.created_at as "createdAt", made.amount,
      ${kind === 'refund' ? refundRefs : `'{}'::text[]`} as "paymentRefs"
    from ${kind} as made
    where made.mode = $1 and made.created_at >= $2 and (made.created_at, made.id) < ($3::timestamptz, $4::uuid)
    order by made.created_at desc, made.id desc limit $5`,
}));

const own: Statement = {
  name: 'reconciliation.own_lines',
  text: `update reconciliation_line as stored set owner_id = found.merchant_id, matched_id = found.id
    from unnest($2::int[], $3::int[], $4::uuid[], $5::uuid[]) as found (part, line, merchant_id, id)
    where stored.run_id = $1 and stored.part = found.part and stored.line = found.line`,
};

const probeOf = each<Statement>((kind) => ({
  name: `reconciliation.probe_${kind}`,
  text: `select fact.merchant_id as "merchantId", fact.id from unnest($1::uuid[]) as owner (id)
    cross join lateral (select merchant_id, id from ${kind} where merchant_id = owner.id and id = any ($2::uuid[])) as fact`,
}));

/**
 * T-Bank gives a refund no id: its line names the payment, and is the next refund of that payment
 * and amount.
 */
const refundsByPayment = (made: readonly Made[]) => {
  const refunds = Map.groupBy(
    made.flatMap((one) => one.paymentRefs.map((reference) => ({ reference, one }))),
    ({ reference, one }) => `${reference} ${one.amount}`,
  );
  const taken = new Set<Made>();
  return ({ reference, amount }: OpenLine): Made | undefined => {
    const next = refunds.get(`${reference} ${amount}`)?.find(({ one }) => !taken.has(one))?.one;
    if (next) taken.add(next);
    return next;
  };
};

/** A line's merchant and our operation; null while it is unknown. */
interface LineOwner extends Pick<LinePlace, 'part' | 'line'> {
  readonly merchantId: string | null;
  readonly matchedId: string | null;
}

/** Stores whose the lines of a run are. */
export const storeOwners = async (
  client: pg.PoolClient,
  runId: string,
  lines: readonly LineOwner[],
): Promise<void> => {
  if (lines.length > 0)
    await run(client, own, [
      runId,
      lines.map(({ part }) => part),
      lines.map(({ line }) => line),
      lines.map(({ merchantId }) => merchantId),
      lines.map(({ matchedId }) => matchedId),
    ]);
};

/** The line as that of an operation's merchant; nothing when there is none. */
const ownedBy = ({ part, line }: OpenLine, operation: RowKey | undefined): LineOwner[] =>
  operation ? [{ part, line, merchantId: operation.merchantId, matchedId: operation.id }] : [];

const byIdOf = <One extends RowKey>(operations: readonly One[]): ReadonlyMap<string, One> =>
  new Map(operations.map((operation) => [operation.id, operation]));

type OwnersProgress = MatchProgress & { readonly phase: 'owners' };

/** Where the search of a kind's operations begins. */
export const ownersFrom = ({ until }: ReconciliationRun, kind: ReportedKind): OwnersProgress => ({
  phase: 'owners',
  kind,
  at: until.add({ hours: 24 }).toString(),
  id: highest,
});

const afterKind = (ready: ReconciliationRun, kind: ReportedKind): MatchProgress => {
  const next = reportedKinds[reportedKinds.indexOf(kind) + 1];
  return next ? ownersFrom(ready, next) : { phase: 'probe', after: firstLine };
};

/** Reads the next operations of a kind, newest first; returns where matching continues. */
export const findOwners = async (
  { em, client, ready }: Matching,
  { kind, at, id }: OwnersProgress,
): Promise<MatchProgress> => {
  const unowned = { runId: ready.id, kind, ownerId: null };
  if (!(await em.findOne(ReconciliationLineEntity, unowned, fresh))) return afterKind(ready, kind);
  const oldest = ready.since.subtract({ hours: made_before_d * 24 });
  const made = await run<Made>(client, madeOf[kind], [ready.mode, oldest, at, id, operations_rows]);
  const ids = made.map((operation) => operation.id);
  const references = made.flatMap(({ bankRef, paymentRefs }) =>
    [bankRef ?? [], paymentRefs].flat(),
  );
  const named = [
    { operationId: { $in: ids } },
    { operationId: null, reference: { $in: references } },
  ];
  const lines = await em.find(ReconciliationLineEntity, { ...unowned, $or: named }, fresh);
  const byId = byIdOf(made);
  const byReference = new Map(made.map((one) => [one.bankRef, one]));
  const refundOf = refundsByPayment(made);
  const operationOf = (line: OpenLine): Made | undefined =>
    line.operationId === null
      ? (byReference.get(line.reference) ?? refundOf(line))
      : byId.get(line.operationId);
  const owned = lines.flatMap((line) => ownedBy(line, operationOf(line)));
  await storeOwners(client, ready.id, owned);
  const last = made.at(-1);
  return last && made.length === operations_rows
    ? { phase: 'owners', kind, at: last.createdAt.toString(), id: last.id }
    : afterKind(ready, kind);
};

const probeKind = async (
  { em, client, ready }: Matching,
  kind: ReportedKind,
  lines: readonly OpenLine[],
): Promise<void> => {
  const mine = lines.filter((line) => line.kind === kind);
  const ids = mine.flatMap(({ operationId }) => operationId ?? []);
  const found: RowKey[] = [];
  for (let after = lowest; ids.length > 0;) {
    const merchants = await em.find(
      MerchantEntity,
      { id: { $gt: after } },
      { ...fresh, fields: ['id'], orderBy: { id: 'asc' }, limit: probed_merchants },
    );
    const some = merchants.map(({ id }) => id);
    found.push(...(await run<RowKey>(client, probeOf[kind], [some, ids])));
    const last = merchants.at(-1);
    if (!last || merchants.length < probed_merchants) break;
    after = last.id;
  }
  const byId = byIdOf(found);
  const owned = mine.flatMap((line) => ownedBy(line, byId.get(line.operationId ?? '')));
  await storeOwners(client, ready.id, owned);
};

/** Looks up the next unknown ids at every merchant; returns where matching continues. */
export const probeOwners = async (
  matching: Matching,
  { kind, part, line }: LinePlace,
): Promise<MatchProgress> => {
  const lines = await matching.em.find(
    ReconciliationLineEntity,
    {
      runId: matching.ready.id,
      ownerId: null,
      operationId: { $ne: null },
      [raw('(kind, part, line) > (?, ?, ?)', [kind, part, line])]: [],
    },
    { ...fresh, orderBy: { kind: 'asc', part: 'asc', line: 'asc' }, limit: probed_lines },
  );
  for (const of of reportedKinds) await probeKind(matching, of, lines);
  const last = lines.at(-1);
  return last && lines.length === probed_lines
    ? { phase: 'probe', after: { kind: last.kind, part: last.part, line: last.line } }
    : { phase: 'compare', merchantId: lowest, part: 0, line: 0 };
};
