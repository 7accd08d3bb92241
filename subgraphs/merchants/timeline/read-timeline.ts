/**
 * Reads the life of one payment in order of time: its origin, page, statuses, bank calls, refunds,
 * webhook attempts, movements and audit entries. Each part is read by an index and limited to its
 * last rows.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import type {
  PaymentMaker,
  PaymentStatus,
  RefundStatus,
} from '../../../schema/generated/merchants.ts';
import { BankCallEntity } from '../../acquirers/entities.ts';
import { refusal } from '../../platform/access/access.ts';
import { AuditEntryEntity } from '../../platform/database/entities.ts';
import type { OnDatabase } from '../../platform/database/orm.ts';
import { columns, run, type Runner } from '../../platform/database/statement.ts';
import type { EntityReference } from '../../platform/graph/entities.ts';
import { perCall, type SubgraphContext } from '../../platform/graph/subgraph.ts';
import { readTexts } from '../audit.ts';
import { WebhookDeliveryEntity } from '../entities.ts';
import { findMovements } from '../ledger/read-ledger.ts';
import { findAttempts } from '../list-cabinet.ts';

/** Rows shown of each part at most: the last ones. */
const shownOfPart_max = 100;

interface Life {
  readonly status: PaymentStatus;
  readonly createdAt: Temporal.Instant;
  readonly orderedAt: Temporal.Instant | null;
  readonly capturedAt: Temporal.Instant | null;
  readonly finalizedAt: Temporal.Instant | null;
  readonly holdKey: string | null;
  readonly tokenId: string | null;
  readonly subscriptionId: string | null;
  readonly madeByKey: string | null;
  readonly linkId: string | null;
  readonly keyPrefix: string | null;
  readonly openedAt: Temporal.Instant | null;
  readonly draftIds: readonly string[];
}

interface RefundLife {
  readonly id: string;
  readonly status: RefundStatus;
  readonly amount: bigint;
  readonly createdAt: Temporal.Instant;
  readonly completedAt: Temporal.Instant | null;
}

const last = `limit ${shownOfPart_max}`;
const statements = {
  payment: {
    name: 'timeline.payment',
    text: `select ${columns(['status', 'createdAt', 'orderedAt', 'capturedAt', 'finalizedAt', 'holdKey', 'tokenId', 'subscriptionId', 'madeByKey'])},
      (select link_id from link_payment where merchant_id = $1 and payment_id = $2) as "linkId",
      (select prefix from api_key where api_key.merchant_id = $1 and api_key.shop_id = payment.shop_id and api_key.id = payment.made_by_key) as "keyPrefix",
      (select created_at from page_opening where merchant_id = $1 and payment_id = $2 order by page_opening.created_at limit 1) as "openedAt",
      array(select id::text from refund_draft where merchant_id = $1 and payment_id = $2) as "draftIds"
      from payment where merchant_id = $1 and id = $2`,
  },
  refunds: {
    name: 'timeline.refunds',
    text: `select ${columns(['id', 'status', 'amount', 'createdAt', 'completedAt'])} from refund where merchant_id = $1 and payment_id = $2 order by created_at desc, id desc ${last}`,
  },
} as const;

/** Fresh from the database, whatever the call read before. */
const newest = { limit: shownOfPart_max, disableIdentityMap: true } as const;

/** The statuses whose moments the payment row stores. */
const statusesOf = ({ status, createdAt, orderedAt, capturedAt, finalizedAt }: Life) => {
  const at = (moment: Temporal.Instant | null, reached: PaymentStatus) =>
    moment ? [{ __typename: 'TimelineStatus' as const, at: moment, status: reached }] : [];
  const isPaid = status === 'succeeded' || status === 'refunded';
  return [
    ...at(createdAt, 'pending'),
    ...at(orderedAt, 'processing'),
    ...(isPaid ? at(capturedAt ?? finalizedAt, 'succeeded') : at(finalizedAt, status)),
  ];
};

const createdOf = ({
  createdAt: at,
  subscriptionId,
  tokenId,
  linkId,
  madeByKey,
  keyPrefix,
}: Life) => {
  const row = (by: PaymentMaker, makerId: string | null) => ({
    __typename: 'TimelineCreated' as const,
    at,
    by,
    makerId,
    keyPrefix,
  });
  if (subscriptionId !== null) return row('subscription', subscriptionId);
  if (tokenId !== null) return row('token', tokenId);
  return linkId === null ? row('key', madeByKey) : row('link', linkId);
};

const openedOf = ({ openedAt }: Life) =>
  openedAt === null ? [] : [{ __typename: 'TimelinePageOpened' as const, at: openedAt }];

const refundsOf = (merchantId: string, refunds: readonly RefundLife[]) =>
  refunds.flatMap(({ id, status, amount, createdAt, completedAt }) => {
    const row = (at: Temporal.Instant, reached: RefundStatus) => ({
      __typename: 'TimelineRefund' as const,
      at,
      status: reached,
      amount,
      refund: { merchantId, id },
    });
    return [row(createdAt, 'pending'), ...(completedAt ? [row(completedAt, status)] : [])];
  });

const attemptsOf = async (
  em: EntityManager,
  runner: Runner,
  about: { readonly merchantId: string; readonly subjectId: { readonly $in: string[] } },
) => {
  const options = { ...newest, orderBy: { createdAt: 'desc' } } as const;
  const deliveries = await em.find(WebhookDeliveryEntity, about, options);
  const attempts = await findAttempts(runner, deliveries);
  return deliveries
    .flatMap((delivery, place) =>
      (attempts[place] ?? []).map((attempt) => ({
        __typename: 'TimelineWebhookAttempt' as const,
        at: attempt.at,
        delivery,
        attempt,
      })),
    )
    .toSorted((one, other) => Temporal.Instant.compare(other.at, one.at))
    .slice(0, shownOfPart_max);
};

/** Everything about one payment, oldest first; empty when there is none. */
const readTimeline = async (
  em: EntityManager,
  runner: Runner,
  { merchantId, id }: EntityReference,
) => {
  const [life] = await run<Life>(runner, statements.payment, [merchantId, id]);
  if (!life) return [];
  const refunds = await run<RefundLife>(runner, statements.refunds, [merchantId, id]);
  const subjects = [id, ...refunds.map((refund) => refund.id)];
  const operations = life.holdKey === null ? subjects : [...subjects, life.holdKey];
  const calls = await em.find(
    BankCallEntity,
    { merchantId, subjectId: { $in: operations } },
    { ...newest, orderBy: { createdAt: 'desc', id: 'desc' } },
  );
  const attempts = await attemptsOf(em, runner, { merchantId, subjectId: { $in: subjects } });
  const kinds = ['payment', 'refund'] as const;
  const postings = await findMovements(runner, merchantId, kinds, subjects, shownOfPart_max);
  // Actions on the payment's webhooks belong to its timeline.
  const sent = attempts.map(({ delivery }) => delivery.id);
  const entries = await em.find(
    AuditEntryEntity,
    { merchantId, subjectId: { $in: [...new Set([...subjects, ...sent, ...life.draftIds])] } },
    { ...newest, orderBy: { at: 'desc', id: 'desc' } },
  );
  const audit = await readTexts(em, entries);
  const rows = [
    createdOf(life),
    ...statusesOf(life),
    ...openedOf(life),
    ...refundsOf(merchantId, refunds),
    ...calls.map((call) => ({
      ...call,
      __typename: 'TimelineBankCall' as const,
      at: call.createdAt,
      operationId: call.subjectId,
      durationMs: call.duration_ms,
    })),
    ...attempts,
    ...postings.map((entry) => ({
      __typename: 'TimelinePosting' as const,
      at: entry.createdAt,
      entry,
    })),
    ...audit.map((entry) => ({ __typename: 'TimelineAudit' as const, at: entry.at, entry })),
  ];
  return rows.toSorted((one, other) => Temporal.Instant.compare(one.at, other.at));
};

// The timeline of a payment in the graph.

/** Timelines of one call: each reads seven times. */
const timelines_max = 10;

/** The field of a payment. */
export const timelineOf = ({ database }: OnDatabase<'pool' | 'emOf'>) => {
  const loader = perCall(async (payments: readonly EntityReference[], context) => {
    if (payments.length > timelines_max)
      throw refusal('bad_request', `timeline: ask for at most ${timelines_max} payments at a time`);
    const found: Awaited<ReturnType<typeof readTimeline>>[] = [];
    const em = database.emOf(context);
    for (const payment of payments) found.push(await readTimeline(em, database.pool, payment));
    return found;
  });
  return (payment: EntityReference, _: object, context: SubgraphContext) =>
    loader(context).load(payment);
};
