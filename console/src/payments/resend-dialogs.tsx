/** What resends a webhook or a receipt; it moves no money. */
import * as graph from '../../../schema/generated/console.ts';
import type { ObjectId } from '../parts/texts.tsx';
import { send } from '../parts/outcome.tsx';
import { timelineWords as own } from '../words/timeline.ts';
import { words } from '../words/words.ts';
import type { PaymentDetails } from './shown.tsx';

/** The act that resends one of a payment's webhooks: by default the newest failed one. */
export const resendWebhook = ({ merchantId, webhookDeliveries }: PaymentDetails) => {
  const newest = webhookDeliveries.toReversed();
  const first = newest.find(({ status }) => status === 'failed') ?? newest[0];
  const nameOf = ({ event, status, url }: (typeof newest)[number]): string =>
    `${event.replace('_', '.')}: ${words.delivery.statuses[status].toLowerCase()} ${url}`;
  return {
    permission: 'webhookDeliveryResend',
    title: own.resendWebhook,
    consequence: own.resendWebhookText,
    fields: {
      id: {
        label: own.which,
        initial: first?.id ?? '',
        options: newest.map((delivery) => [delivery.id, nameOf(delivery)] as const),
      },
    },
    act: ({ id }: { readonly id: string }) =>
      send(graph.ResendDelivery, { merchantId, id }, words.delivery.resent),
  } as const;
};

/** The act that sends a receipt again, which the cash register refused. */
export const resendReceipt = ({ merchantId, id }: ObjectId) =>
  ({
    permission: 'receiptResend',
    title: own.resendReceipt,
    consequence: own.resendReceiptText,
    act: () => send(graph.ResendReceipt, { merchantId, id }, own.receiptSent),
  }) as const;
