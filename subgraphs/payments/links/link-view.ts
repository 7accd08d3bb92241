/** A payment link as the public JSON and the webhook `link.paid` have it. */
import { rfc3339 } from '../../../schema/rfc3339.ts';
import { scalars } from '../../../schema/scalars.ts';
import { linkJson, type LinkFields } from '../../../schema/wire.ts';
import type { OutboxEvent } from '../../platform/events/outbox.ts';
import { nobody, type ShownTerms } from '../../rules/receipt.ts';
import type { PaymentLink } from './entities.ts';

const number = (amount: bigint | null): number | null => (amount === null ? null : Number(amount));

/** A link's receipt; without its customer's data once they were erased. */
export const shownOf = ({ customer, ...terms }: ShownTerms) => ({
  ...terms,
  customer: customer ?? nobody,
});

const publicLink = (link: PaymentLink): ReturnType<typeof linkJson> => {
  const view: LinkFields = {
    ...link,
    capture: link.capture ?? 'automatic',
    amount: number(link.amount),
    amountMin: number(link.amountMin),
    amountMax: number(link.amountMax),
    amountPaid: scalars.SignedMinorUnits.serialize(BigInt(link.amountPaid)),
    receipt: link.receipt && { ...shownOf(link.receipt), items: [...link.receipt.items] },
    expiresAt: rfc3339(link.expiresAt),
    createdAt: rfc3339(link.createdAt),
    finalizedAt: link.finalizedAt && rfc3339(link.finalizedAt),
  };
  return linkJson(view);
};

/** A payment succeeded through the link: to the shop's endpoints, with the link as it is then. */
export const linkPaid = (link: PaymentLink, at: Temporal.Instant): OutboxEvent => {
  const { merchantId, shopId, mode, id } = link;
  const webhook = { event: 'link.paid', data: publicLink(link), url: null } as const;
  return { merchantId, shopId, mode, subjectId: id, stream: null, webhook, at };
};
