/** How links end: by their merchant, or by time. Additions. */
import { writeEntry, type Acting } from '../../platform/database/audit.ts';
import { workDue, type Timeline } from '../../platform/clock/due.ts';
import type { Database } from '../../platform/database/orm.ts';
import { inTransaction } from '../../platform/database/statement.ts';
import { isRefusal, refuse, type Refusal } from '../../rules/refusal.ts';
import type { PaymentLink } from '../entities.ts';
import { isOpen } from './rules.ts';
import { linkLives, lockLink, moveLink } from './store-link.ts';

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
  inTransaction(
    pool,
    async (client): Promise<PaymentLink | Refusal> => {
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
    },
    (answer) => !isRefusal(answer),
  );

/** Expires the links that are due on a timeline. Gives how many there were. */
export const expireLinks = (
  { pool }: Database,
  clock: () => Temporal.Instant,
  timeline: Timeline = null,
): Promise<number> =>
  workDue(pool, linkLives, clock, timeline, (client, link, now) =>
    moveLink(client, { ...link, status: 'expired', finalizedAt: now }),
  );
