/**
 * Claiming deliveries: which of those that are due become this process's, and until when.
 *
 * A claimed row is leased: whoever claimed it may die, and when the lease is over it is due again
 * under the same event id. The lease's end is also the proof of ownership when the result is
 * stored. Leases run on the database's clock, retries on the delivery's own.
 */
import pg from 'pg';
import type { Timeline } from '../../kernel/clock/due.ts';
import type { Owner } from '../../kernel/clock/due-owners.ts';
import { isSpread } from '../../kernel/database/spread.ts';
import { setAside, workBatch, type Subject } from '../../kernel/alerts/set-aside.ts';
import { inTransaction, run, type Runner } from '../../kernel/database/statement.ts';
import {
  claimDue,
  claimDueOfMerchant,
  claimDueOfShop,
  dueLanes,
  dueOwners,
  firstDue,
  firstDueOfShop,
  inFlightOf,
  lockLane,
  task,
} from './claim-statements.ts';
import { withMessage, type Message, type MessageRow } from './message.ts';
import { webhooksInFlightPerLane_max } from './rules.ts';

/** The limits of delivery; those of `webhooks/rules.ts`, save in tests that cannot wait so long. */
export interface DeliveryLimits {
  readonly deadline_ms: number;
  readonly leaseMargin_ms: number;
}

export interface ClaimParts {
  readonly pool: pg.Pool;
  /** The clock that retries follow. */
  readonly now: () => Temporal.Instant;
  readonly limits: DeliveryLimits;
}

/** A delivery that is this process's until `leaseUntil`. */
export interface ClaimedDelivery {
  readonly merchantId: string;
  readonly id: string;
  readonly lane: string;
  readonly eventId: string;
  /** The payment, payout or refund that it is about. */
  readonly subjectId: string;
  readonly url: string;
  /** Attempts made before this one. */
  readonly attempts: number;
  /** Those of them that were made before the last resend. */
  readonly attemptsBefore: number;
  /** The moment of its event, by which both are found. */
  readonly createdAt: Temporal.Instant;
  readonly leaseUntil: Temporal.Instant;
  /** What is sent; null when the event or the endpoint is gone. */
  readonly message: Message | null;
}

/** A lane that asks, and how many deliveries it has room for. */
export interface Asking {
  readonly lane: string;
  readonly limit: number;
}

/**
 * Claims due deliveries of lanes, each named once, oldest first: at most `limit` of each, and at
 * most so many that a lane never has more than its share in flight, whoever claimed them.
 */
export const claimDeliveries = async (
  parts: ClaimParts,
  asking: readonly Asking[],
  runner: Runner = parts.pool,
): Promise<readonly ClaimedDelivery[]> => {
  if (await isSpread(parts.pool)) return claimApart(parts, asking, runner);
  const rows = await run<ClaimedRow>(runner, claimDue, [
    asking.map(({ lane }) => lane),
    parts.now(),
    asking.map(({ limit }) => limit),
    webhooksInFlightPerLane_max,
    leaseOf(parts),
  ]);
  return rows.map(withMessage);
};

/** Claims due deliveries of one lane. One that makes the claim fail is set aside. */
export const claimLane = async (
  parts: ClaimParts,
  { lane, limit }: Asking,
): Promise<readonly ClaimedDelivery[]> => {
  const first = async () =>
    (await run<Subject>(parts.pool, firstDue, [lane, parts.now()]))[0] ?? null;
  const { result } = await workBatch(parts.pool, {
    task,
    limit,
    work: (some) =>
      inTransaction(parts.pool, (client) =>
        claimDeliveries(parts, [{ lane, limit: some }], client),
      ),
    first,
  });
  return result;
};

/**
 * Claims deliveries that are due by the test clock of a shop, oldest first: at most as many as a
 * lane may have in flight. One that makes it fail is set aside.
 */
export const claimDeliveriesOf = async (
  parts: Omit<ClaimParts, 'now'>,
  now: Temporal.Instant,
  shop: NonNullable<Timeline>,
): Promise<readonly ClaimedDelivery[]> => {
  const { merchantId, shopId } = shop;
  const claimSome = (limit: number): Promise<ClaimedRow[]> =>
    inTransaction(parts.pool, (client) =>
      run<ClaimedRow>(client, claimDueOfShop, [
        shopId,
        now,
        limit,
        webhooksInFlightPerLane_max,
        leaseOf(parts),
        merchantId,
      ]),
    );
  const first = async () =>
    (await run<Subject>(parts.pool, firstDueOfShop, [shopId, now, merchantId]))[0] ?? null;
  const { result } = await workBatch(parts.pool, {
    task,
    limit: webhooksInFlightPerLane_max,
    work: claimSome,
    first,
  });
  return result.map(withMessage);
};

/**
 * Has a delivery left alone for a while: what its attempt came to could not be stored, and it would
 * be sent again at the end of its lease.
 */
export const setDeliveryAside = (
  pool: pg.Pool,
  { merchantId, id }: Pick<ClaimedDelivery, 'merchantId' | 'id'>,
  error: unknown,
): Promise<void> => setAside(pool, task, { merchantId, subjectId: id }, error);

const leaseOf = ({ limits: { deadline_ms, leaseMargin_ms } }: Pick<ClaimParts, 'limits'>): number =>
  deadline_ms + leaseMargin_ms;

/** Lanes that have a delivery which is due by the real time and nobody's. */
export const findDueLanes = async ({
  pool,
  now,
}: Pick<ClaimParts, 'pool' | 'now'>): Promise<readonly string[]> => {
  const rows = await run<{ lane: string }>(pool, dueLanes, [now()]);
  return rows.map(({ lane }) => lane);
};

/** A claimed delivery as columns. */
export type ClaimedRow = Omit<ClaimedDelivery, 'message'> & MessageRow;

/**
 * The same where the tables are spread: the lane's lock, how much of it is in flight, whose the
 * oldest are, and then each merchant's.
 */
const claimLaneApart = async (
  parts: ClaimParts,
  { lane, limit }: Asking,
  client: pg.PoolClient,
): Promise<ClaimedRow[]> => {
  await run(client, lockLane, [lane]);
  const [row] = await run<{ inFlight: number }>(client, inFlightOf, [lane]);
  const room = Math.min(limit, webhooksInFlightPerLane_max - (row?.inFlight ?? 0));
  if (room <= 0) return [];
  const now = parts.now();
  const claimed: ClaimedRow[] = [];
  const owners = await run<Owner>(client, dueOwners, [lane, now, room]);
  for (const { merchantId, count } of owners)
    claimed.push(
      ...(await run<ClaimedRow>(client, claimDueOfMerchant, [
        lane,
        now,
        count,
        room,
        leaseOf(parts),
        merchantId,
      ])),
    );
  return claimed;
};

const claimApart = async (
  parts: ClaimParts,
  asking: readonly Asking[],
  runner: Runner,
): Promise<readonly ClaimedDelivery[]> => {
  const claimed: ClaimedRow[] = [];
  for (const one of asking)
    claimed.push(
      ...(runner instanceof pg.Pool
        ? await inTransaction(runner, (client) => claimLaneApart(parts, one, client))
        : await claimLaneApart(parts, one, runner)),
    );
  return claimed.map(withMessage);
};
