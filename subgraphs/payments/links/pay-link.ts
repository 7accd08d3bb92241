/** The page of a link: what it shows, and the payment that a buyer begins there. */
import { newRowId } from '../../platform/database/statement.ts';
import { isRefusal, refuse, type Refusal } from '../../rules/refusal.ts';
import { createPayment, type CreatingDeps, type PaymentRequest } from '../create-payment.ts';
import { LinkPaymentEntity, type Payment, type PaymentLink } from '../entities.ts';
import { paymentDefaults } from '../rules/create.ts';
import { findPayment } from '../store-payment.ts';
import type { PaymentsDeps } from '../parts.ts';
import { endedUnpaid } from '../rules/payment.ts';
import { idOfAddress, isOpen, linkIdKey } from './rules.ts';
import { findLinkByAddress, findUnpaid, type LinkOfShop } from './store-link.ts';

/**
 * The unpaid payments of a link and amount. Above this, a buyer is given the oldest one whose first
 * buyer has certainly left and that can still be paid in time.
 */
export const unpaid_max = 200;
const leftToPay_min = 10;

const full = refuse('not_pending', 'the link has too many unpaid payments');

/** The oldest unpaid payment of the link and the amount where there are too many; null: there are not. */
const oldestOfTooMany = async (
  { database: { pool } }: Pick<CreatingDeps, 'database'>,
  link: PaymentLink,
  amount: bigint,
  now: Temporal.Instant,
): Promise<Payment | null> => {
  const since = newRowId(Date.now() - paymentDefaults.ttlMinutes * 60_000);
  const until = now.add({ minutes: leftToPay_min });
  const unpaid = await findUnpaid(pool, link, { amount, since, until, limit: unpaid_max });
  const [id] = unpaid;
  if (id === undefined || unpaid.length < unpaid_max) return null;
  const { merchantId } = link;
  return (await findPayment(pool, { merchantId, paymentId: id }, now))?.payment ?? null;
};

/** The payments of one page that are looked through for one that has not ended unpaid. */
const pagePayments_max = 20;

export const findLinkPage = async (
  { database: { pool } }: Pick<CreatingDeps, 'database'>,
  address: string,
): Promise<LinkOfShop | null> => {
  const id = idOfAddress(address);
  return id === null ? null : findLinkByAddress(pool, id);
};

/** What time it is for the link's shop, which may have a test clock. */
export const timeOfLink = (
  { clocks }: Pick<PaymentsDeps, 'clocks'>,
  { merchantId, shopId, mode }: PaymentLink,
) => clocks.timeOf({ kind: 'shop', merchantId, shopId, mode });

/** The amount that a buyer pays: the link's own, or the typed one within its bounds. */
const amountFor = (
  { amount, amountMin, amountMax }: PaymentLink,
  typed: bigint | null,
): bigint | Refusal => {
  if (amount !== null) return amount;
  if (typed === null || typed < (amountMin ?? 1n) || typed > (amountMax ?? typed))
    return refuse(
      'bad_request',
      `amount: expected minor units from ${amountMin} to ${amountMax}, got ${typed}`,
    );
  return typed;
};

/**
 * Makes a payment through the link, of `typed` minor units where the amount is open; or finds the
 * one that the same idempotency key and amount made before and that has not ended unpaid, or, where
 * too many wait for their buyers, the oldest of these. Refuses
 * with `not_found`, with `not_pending` when the link has ended, `bad_request` for the amount, and
 * as a payment is refused.
 */
export const payLink = async (
  deps: CreatingDeps & Pick<PaymentsDeps, 'clocks'>,
  address: string,
  typed: bigint | null,
  idempotencyKey: string | null,
): Promise<Payment | Refusal> => {
  const link = await findLinkPage(deps, address);
  if (!link) return refuse('not_found', 'there is no such link');
  const now = await timeOfLink(deps, link);
  if (!isOpen(link, now)) return refuse('not_pending', 'the link has ended');
  const amount = amountFor(link, typed);
  if (typeof amount !== 'bigint') return amount;
  const { merchantId, shopId, mode, currency, method, capture } = link;
  const { orderId, description, returnUrl, metadata } = link;
  const oldest = await oldestOfTooMany(deps, link, amount, now);
  const id = newRowId();
  // First: a payment that can be paid is known to be the link's.
  const em = deps.database.fork();
  await em.insert(LinkPaymentEntity, { merchantId, paymentId: id, linkId: link.id });
  const terms = { amount, currency, method, capture, orderId, description, returnUrl, metadata };
  const input = { ...terms, reserved: { [linkIdKey]: link.id } };
  const create = (idempotency: PaymentRequest['idempotency']) =>
    createPayment(
      deps,
      { merchantId, shopId, mode },
      { id, input, receiptTermsId: link.receipt && link.id, idempotency, unmade: oldest && full },
      () => now,
    );
  const keyOf = (nth: number) =>
    idempotencyKey === null || nth > pagePayments_max
      ? null
      : { key: `link ${idempotencyKey} ${amount}${nth > 1 ? ` ${nth}` : ''}` };
  let nth = 0;
  let created;
  do {
    nth += 1;
    created = await create(keyOf(nth));
  } while (!isRefusal(created) && created.replayed && endedUnpaid(created.payment.status));
  const isMade = !isRefusal(created) && created.payment.id === id;
  if (!isMade) await em.nativeDelete(LinkPaymentEntity, { merchantId, paymentId: id });
  if (created === full && oldest) return oldest;
  return isRefusal(created) ? created : created.payment;
};
