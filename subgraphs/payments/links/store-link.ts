/** Reading, writing and ending payment links. */
import { rfc3339, scalars } from '../../../schema/scalars.ts';
import type { PaymentLinkFieldsFragment } from '../../../schema/generated/operations.ts';
import { dueOn, workDue, type Timeline } from '../../platform/clock/due.ts';
import { writeEntry, type Acting } from '../../platform/database/audit.ts';
import type { Database } from '../../platform/database/orm.ts';
import { loadByKey, lockByKey, type RowKey } from '../../platform/database/batch-calls.ts';
import type { RowFilter } from '../../platform/database/list-statements.ts';
import { ShopEntity } from '../../platform/database/entities.ts';
import { openList } from '../../platform/database/lists.ts';
import { emOn } from '../../platform/database/orm-connections.ts';
import {
  columns,
  inTransaction,
  propertyNames,
  run,
  type Runner,
  type Statement,
} from '../../platform/database/statement.ts';
import type { OutboxEvent } from '../../platform/events/outbox.ts';
import { asSubject } from '../../rules/event.ts';
import { refuse, type Refusal } from '../../rules/refusal.ts';
import { LinkPaymentEntity, PaymentLinkEntity, type PaymentLink } from '../entities.ts';
import { publicAmount } from '../find-payments.ts';
import { publicTerms } from '../receipts/store-receipts.ts';
import { isOpen, linkStatuses } from './rules.ts';

const linkNames = propertyNames(PaymentLinkEntity);
const linkColumns = columns(linkNames);

/** Links by merchant and id. */
export const loadLinks = loadByKey<PaymentLink>('payment_link', linkColumns);

/** A merchant's links, filtered by status. */
export const pageOfLinks = openList<PaymentLink>({
  table: { name: 'payment_link', filters: { status: linkStatuses } },
  columns: linkColumns,
});

/** Links whose life is over. */
export const linkLives = dueOn<PaymentLink>({
  name: 'payment_link_lives',
  table: 'payment_link',
  at: 'expires_at',
  columns: linkColumns,
  where: `status = 'active'`,
  locked: true,
});

export type LinkOfShop = PaymentLink & { readonly shopName: string };

/** A link by the id in its page's address, with its shop's name; null when there is none. */
export const findLinkByAddress = async (runner: Runner, id: string): Promise<LinkOfShop | null> => {
  const em = emOn(runner);
  const link = await em.findOne(PaymentLinkEntity, { id });
  if (!link) return null;
  const { merchantId, shopId } = link;
  const shop = await em.findOneOrFail(ShopEntity, { merchantId, id: shopId }, { fields: ['name'] });
  return { ...link, shopName: shop.name };
};

/** A link, locked until the transaction ends. */
const lockLink = lockByKey<PaymentLink>('payment_link', linkColumns);

/** The link that a payment was made through, likewise; null when it was made through none. */
export const lockLinkOfPayment = async (
  runner: Runner,
  { merchantId, id: paymentId }: RowKey,
): Promise<PaymentLink | null> => {
  const through = await emOn(runner).findOne(LinkPaymentEntity, { merchantId, paymentId });
  return through && lockLink(runner, { merchantId, id: through.linkId });
};

/** Writes what may change of a locked link. */
export const moveLink = async (runner: Runner, link: PaymentLink): Promise<void> => {
  const { merchantId, id, status, usesLeft, paymentsCount, amountPaid, finalizedAt } = link;
  const changed = { status, usesLeft, paymentsCount, amountPaid, finalizedAt };
  await emOn(runner).nativeUpdate(PaymentLinkEntity, { merchantId, id }, changed);
};

// Ids of payments begin with the time: those made before `since` need not be looked at.
const unpaid: Statement = {
  name: 'link_payment.unpaid',
  text: `select payment.id from link_payment
      join payment on payment.merchant_id = link_payment.merchant_id and payment.id = link_payment.payment_id
    where link_payment.merchant_id = $1 and link_payment.link_id = $2 and link_payment.payment_id >= $3
      and payment.status = 'pending' and payment.amount = $4 and payment.expires_at > $5
    order by link_payment.payment_id limit $6`,
};

interface UnpaidOf {
  readonly amount: bigint;
  /** The id of a payment that is made when the first one was that is looked for. */
  readonly since: string;
  /** Their own life lasts longer than until then. */
  readonly until: Temporal.Instant;
  readonly limit: number;
}

/** Ids of a link's payments that no buyer has begun, the oldest first. */
export const findUnpaid = async (
  runner: Runner,
  { merchantId, id }: Pick<PaymentLink, 'merchantId' | 'id'>,
  { amount, since, until, limit }: UnpaidOf,
): Promise<readonly string[]> =>
  (await run<{ id: string }>(runner, unpaid, [merchantId, id, since, amount, until, limit])).map(
    (row) => row.id,
  );

// A payment link as the public JSON and the webhook `link.paid` have it.

/** A link's fields; the sum of its payments may be one that only raw JSON writes to the digit. */
type PublicLink = Omit<PaymentLinkFieldsFragment, 'amount_paid'> & {
  readonly amount_paid: number | object;
};

const publicLink = (link: PaymentLink): PublicLink => ({
  id: link.id,
  merchant_id: link.merchantId,
  shop_id: link.shopId,
  url: link.url,
  status: link.status,
  amount: publicAmount(link.amount),
  amount_min: publicAmount(link.amountMin),
  amount_max: publicAmount(link.amountMax),
  currency: link.currency,
  description: link.description,
  order_id: link.orderId,
  method: link.method,
  capture: link.capture ?? 'automatic',
  uses: link.uses,
  uses_left: link.usesLeft,
  expires_at: rfc3339(link.expiresAt),
  return_url: link.returnUrl,
  metadata: link.metadata,
  payments_count: link.paymentsCount,
  amount_paid: scalars.SignedMinorUnits.serialize(BigInt(link.amountPaid)),
  created_at: rfc3339(link.createdAt),
  finalized_at: link.finalizedAt && rfc3339(link.finalizedAt),
  receipt: link.receipt && publicTerms(link.receipt),
});

/** A payment succeeded through the link: to the shop's endpoints, with the link as it is then. */
export const linkPaid = (link: PaymentLink, at: Temporal.Instant): OutboxEvent => {
  const webhook = { event: 'link.paid', data: publicLink(link), url: null } as const;
  return { ...asSubject(link), stream: null, webhook, at };
};

// The payments of a link, as a condition of a list.

/** A payment was made through this link; null or undefined: whatever it was made through. */
export const madeThrough = (linkId: string | null | undefined): RowFilter => ({
  sql: (parameter, merchant) =>
    `exists (select 1 from link_payment as through where through.merchant_id = ${merchant() ?? 'payment.merchant_id'}
      and through.payment_id = payment.id and through.link_id::text = ${parameter})`,
  value: linkId?.toLowerCase(),
});

// How links end: by their merchant, or by time.

/**
 * Ends a link for its merchant, or for a person in the console, which is audited. An ended link
 * stays as it is. Refuses with `not_found` what `mayChange` rejects. `at` is the time of the link's
 * shop. Payments that were begun can still be paid.
 */
export const deactivateLink = (
  { pool }: Database,
  acting: Acting,
  key: { readonly merchantId: string; readonly id: string },
  mayChange: (link: PaymentLink) => boolean,
  at: Temporal.Instant,
): Promise<PaymentLink | Refusal> =>
  inTransaction(pool, async (client): Promise<PaymentLink | Refusal> => {
    const link = await lockLink(client, key);
    if (!link || !mayChange(link)) return refuse('not_found', 'there is no such link');
    if (!isOpen(link, at)) return link;
    const ended: PaymentLink = { ...link, status: 'deactivated', finalizedAt: at };
    await moveLink(client, ended);
    const { merchantId, id } = link;
    await writeEntry(
      client,
      acting,
      { action: 'link.deactivate', merchantId, id },
      { before: { status: link.status }, after: { status: ended.status } },
    );
    return ended;
  });

/** Expires the links that are due on a timeline. Gives how many there were. */
export const expireLinks = (
  { pool }: Database,
  clock: () => Temporal.Instant,
  timeline: Timeline = null,
): Promise<number> =>
  workDue(pool, linkLives, clock, timeline, (client, link, now) =>
    moveLink(client, { ...link, status: 'expired', finalizedAt: now }),
  );
