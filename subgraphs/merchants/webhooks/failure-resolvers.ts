/** Where webhooks fail, in the graph. */
import type {
  QueryResolvers,
  QuerywebhookFailuresArgs,
  WebhookFailure,
  WebhookFailures,
} from '../../../schema/generated/merchants.ts';
import type { OnDatabase } from '../../platform/database/orm.ts';
import { anyMerchantOf, orThrow } from '../../platform/access/access.ts';
import type { Mode } from '../../rules/mode.ts';
import { isUuid } from '../../rules/ids.ts';
import { refuse, type Refusal } from '../../rules/refusal.ts';
import { run, type Runner, type Statement } from '../../platform/database/statement.ts';

/*
 * Finds failed deliveries by shop and address. It skips through the index from one address to the
 * next, so an address with many failures neither hides nor slows the others.
 */

/*
 * One query finds the merchants; each step reads the next address of one merchant.
 */

/** What is looked for, and how far. */
interface FailuresWalk {
  /** The beginning of the month of `since`, by which partitions are cut. */
  readonly from: Temporal.Instant;
  readonly since: Temporal.Instant;
  readonly mode: Mode;
  /** Null: of all merchants. */
  readonly merchantId: string | null;
  readonly shopId: string | null;
}

/** An address with failures since the moment that was asked for. */
type FailingAddress = Omit<WebhookFailure, 'count'> & { readonly lane: string };

/** Failed deliveries that are counted at each address. */
const counted_max = 1_000;
/** Merchants that are looked at when none is named, and addresses of each. */
const merchants_max = 500;
const addressesOfEach_max = 5;
/** Addresses of a merchant that is named. */
const addressesOfNamed_max = 200;
/** Addresses that are listed: those with the oldest failures. */
const listed_max = 100;
/** Merchants searched concurrently. */
const walkers = 4;
const beforeAll = { shopId: '00000000-0000-0000-0000-000000000000', lane: '' };

const owners: Statement = {
  name: 'webhook.failing_owners',
  text: `select merchant.id from merchant where exists (
      select 1 from webhook_delivery as delivery
      where delivery.merchant_id = merchant.id and delivery.status = 'failed' and delivery.mode = $3 and delivery.created_at >= $1)
    order by merchant.id limit $2`,
};

const step: Statement = {
  name: 'webhook.failing_step',
  text: `select lane.shop_id as "shopId", lane.lane, oldest.endpoint_id as "endpointId", oldest.url, oldest.created_at as "oldestAt"
    from (select next.shop_id, next.lane from webhook_delivery as next
        where next.merchant_id = $1 and next.status = 'failed' and next.mode = $7 and next.created_at >= $2
          and ($4::uuid is null or next.shop_id = $4) and (next.shop_id, next.lane) > ($5::uuid, $6::text)
        order by next.shop_id, next.lane limit 1) as lane
      left join lateral (select endpoint_id, url, created_at from webhook_delivery as delivery
        where delivery.merchant_id = $1 and delivery.status = 'failed' and delivery.mode = $7 and delivery.shop_id = lane.shop_id
          and delivery.lane = lane.lane and delivery.created_at >= $3 order by created_at limit 1) as oldest on true`,
};
const count: Statement = {
  name: 'webhook.failing_count',
  text: `select count(*)::int as counted from (select 1 from webhook_delivery
    where merchant_id = $1 and status = 'failed' and mode = $2 and shop_id = $3 and lane = $4 and created_at >= $5
    limit ${counted_max + 1}) as entry`,
};

interface Step extends Omit<FailingAddress, 'merchantId' | 'oldestAt'> {
  /** Null: its failures are older. */
  readonly oldestAt: Temporal.Instant | null;
}

const walkMerchant = async (
  runner: Runner,
  merchantId: string,
  { from, since, mode, shopId, merchantId: named }: FailuresWalk,
) => {
  const addresses_max = named === null ? addressesOfEach_max : addressesOfNamed_max;
  const found: FailingAddress[] = [];
  let last: Pick<Step, 'shopId' | 'lane'> = beforeAll;
  for (let steps = 0; steps <= addresses_max; steps += 1) {
    const values = [merchantId, from, since, shopId, last.shopId, last.lane, mode];
    const [next] = await run<Step>(runner, step, values);
    if (!next) return { found, isCut: false };
    last = next;
    const { oldestAt, ...address } = next;
    if (oldestAt && steps < addresses_max) found.push({ merchantId, ...address, oldestAt });
  }
  return { found, isCut: true };
};

const byOldest = (one: FailingAddress, other: FailingAddress): number =>
  Temporal.Instant.compare(one.oldestAt, other.oldestAt) ||
  (one.merchantId < other.merchantId ? -1 : 1);

/**
 * Searches the merchants' addresses, several merchants at a time; the oldest failure comes first.
 * `hasMore`: there are other addresses.
 */
const walkFailures = async (runner: Runner, walk: FailuresWalk) => {
  const { from, mode, merchantId } = walk;
  const ids =
    merchantId === null
      ? (await run<{ id: string }>(runner, owners, [from, merchants_max + 1, mode])).map(
          ({ id }) => id,
        )
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

/** How far back it may be asked for, and how far when nothing is asked. */
const since_max_days = 31;
const since_days = 7;

type FailuresQuery = Required<QuerywebhookFailuresArgs> & { readonly merchantId: string | null };

const startOfMonth = (at: Temporal.Instant): Temporal.Instant =>
  at.toZonedDateTimeISO('UTC').with({ day: 1 }).startOfDay().toInstant();

/**
 * Failed deliveries by shop and address, the oldest failure first. `bad_request` for a wrong id and
 * for a moment too long ago.
 */
const findFailures = async (
  runner: Runner,
  now: Temporal.Instant,
  { merchantId, mode, shopId = null, since: asked }: FailuresQuery,
): Promise<WebhookFailures | Refusal> => {
  if (shopId !== null && !isUuid(shopId)) return refuse('bad_request', 'shopId: expected a UUID');
  const day_h = 24;
  const since = asked ?? now.subtract({ hours: since_days * day_h });
  if (Temporal.Instant.compare(since, now.subtract({ hours: since_max_days * day_h })) < 0)
    return refuse('bad_request', `since: at most ${since_max_days} days ago`);
  const { listed, hasMore } = await walkFailures(runner, {
    from: startOfMonth(since),
    since,
    mode,
    merchantId,
    shopId,
  });
  const nodes: WebhookFailure[] = [];
  for (const { lane, ...address } of listed) {
    const values = [address.merchantId, mode, address.shopId, lane, since];
    const [row] = await run<{ counted: number }>(runner, count, values);
    const counted = row?.counted ?? 0;
    nodes.push({
      ...address,
      count: { count: Math.min(counted, counted_max), isExact: counted <= counted_max },
    });
  }
  return { nodes, hasMore };
};

export const failureQueries = ({ database: { pool } }: OnDatabase<'pool'>) =>
  ({
    webhookFailures: async (_, query, { principal, now }) => {
      const merchantId = anyMerchantOf(principal, query.merchantId);
      return orThrow(await findFailures(pool, now(), { ...query, merchantId }));
    },
  }) satisfies QueryResolvers;
