/**
 * The search of `find-failures` for sharded tables. A statement cannot step over shards, so the
 * program does. One query finds the merchants; each step reads one merchant.
 */
import { run, type Runner, type Statement } from '../../kernel/database/statement.ts';

/** What is looked for, and how far. */
export interface FailuresWalk {
  /** The beginning of the month of `since`, by which partitions are cut. */
  readonly from: Temporal.Instant;
  readonly since: Temporal.Instant;
  /** Null: of all merchants. */
  readonly merchantId: string | null;
  readonly shopId: string | null;
  readonly merchants_max: number;
  /** Addresses that are listed: those with the oldest failures. */
  readonly listed_max: number;
  /** Addresses of each merchant. */
  readonly addresses_max: number;
}

/** An address with failures since the moment that was asked for. */
export interface FailingAddress {
  readonly merchantId: string;
  readonly shopId: string;
  readonly endpointId: string | null;
  readonly url: string;
  readonly oldestAt: Temporal.Instant;
  /** Up to one more than are counted. */
  readonly counted: number;
}

export interface FoundFailures {
  /** The oldest failure first. */
  readonly listed: readonly FailingAddress[];
  /** Whether there are other addresses. */
  readonly hasMore: boolean;
}

/** Failed deliveries that are counted at each address. */
export const counted_max = 1_000;
/** Merchants searched concurrently. */
const walkers = 4;
const beforeAll = { shopId: '00000000-0000-0000-0000-000000000000', lane: '' };

const owners: Statement = {
  name: 'webhook.failing_owners',
  text: `select merchant.id from merchant where exists (
      select 1 from webhook_delivery as delivery
      where delivery.merchant_id = merchant.id and delivery.status = 'failed' and delivery.created_at >= $1)
    order by merchant.id limit $2`,
};

const ofLane = `webhook_delivery as delivery where delivery.merchant_id = $1 and delivery.status = 'failed'
        and delivery.shop_id = lane.shop_id and delivery.lane = lane.lane and delivery.created_at >= $3`;
const step: Statement = {
  name: 'webhook.failing_step',
  text: `select lane.shop_id as "shopId", lane.lane, oldest.endpoint_id as "endpointId", oldest.url, oldest.created_at as "oldestAt", entries.counted
    from (select next.shop_id, next.lane from webhook_delivery as next
        where next.merchant_id = $1 and next.status = 'failed' and next.created_at >= $2
          and ($4::uuid is null or next.shop_id = $4) and (next.shop_id, next.lane) > ($5::uuid, $6::text)
        order by next.shop_id, next.lane limit 1) as lane
      left join lateral (select endpoint_id, url, created_at from ${ofLane} order by created_at limit 1) as oldest on true
      cross join lateral (select count(*)::int as counted from (select 1 from ${ofLane} limit ${counted_max + 1}) as entry) as entries`,
};

interface Step extends Omit<FailingAddress, 'merchantId' | 'oldestAt'> {
  readonly lane: string;
  /** Null: its failures are older. */
  readonly oldestAt: Temporal.Instant | null;
}

const walkMerchant = async (
  runner: Runner,
  merchantId: string,
  { from, since, shopId, addresses_max }: FailuresWalk,
) => {
  const found: FailingAddress[] = [];
  let last: Pick<Step, 'shopId' | 'lane'> = beforeAll;
  for (let steps = 0; steps <= addresses_max; steps += 1) {
    const values = [merchantId, from, since, shopId, last.shopId, last.lane];
    const [next] = await run<Step>(runner, step, values);
    if (!next) return { found, isCut: false };
    last = next;
    const { lane: _, oldestAt, ...address } = next;
    if (oldestAt && steps < addresses_max) found.push({ merchantId, ...address, oldestAt });
  }
  return { found, isCut: true };
};

const byOldest = (one: FailingAddress, other: FailingAddress): number =>
  Temporal.Instant.compare(one.oldestAt, other.oldestAt) ||
  (one.merchantId < other.merchantId ? -1 : 1);

/** Searches the merchants' addresses, several merchants at a time. */
export const walkFailures = async (runner: Runner, walk: FailuresWalk): Promise<FoundFailures> => {
  const { from, merchantId, merchants_max, listed_max } = walk;
  const ids =
    merchantId === null
      ? (await run<{ id: string }>(runner, owners, [from, merchants_max + 1])).map(({ id }) => id)
      : [merchantId];
  const left = ids.slice(0, merchants_max).values();
  const found: FailingAddress[] = [];
  let hasMore = ids.length > merchants_max;
  const walkOn = async (): Promise<void> => {
    for (const id of left) {
      const own = await walkMerchant(runner, id, walk);
      found.push(...own.found);
      hasMore ||= own.isCut;
    }
  };
  await Promise.all(Array.from({ length: walkers }, walkOn));
  const listed = found.toSorted(byOldest).slice(0, listed_max);
  return { listed, hasMore: hasMore || found.length > listed.length };
};
