/**
 * A receipt as GraphQL, the public JSON and its webhooks see it: the customer is masked, so that
 * frozen bodies hold no personal data.
 */
import { receiptJson } from '../../../schema/receipt-json.ts';
import { rfc3339 } from '../../../schema/rfc3339.ts';
import type { OutboxEvent } from '../../platform/events/outbox.ts';
import { type ReceiptCustomer, nobody } from '../../rules/receipt.ts';
import type { Receipt } from './entities.ts';

/** The customer as it is shown; without anything once it was erased. */
export const customerOf = ({ customerShown }: Pick<Receipt, 'customerShown'>): ReceiptCustomer =>
  customerShown ?? nobody;

const publicReceipt = (receipt: Receipt): ReturnType<typeof receiptJson> =>
  receiptJson({
    ...receipt,
    amount: Number(receipt.amount),
    customer: customerOf(receipt),
    items: [...receipt.items],
    registeredAt: receipt.registeredAt && rfc3339(receipt.registeredAt),
    createdAt: rfc3339(receipt.createdAt),
  });

/**
 * The receipt has come to its end: to the shop's endpoints, and to `url`, the payment's own
 * address.
 */
export const receiptEnded = (
  receipt: Receipt,
  url: string | null,
  at: Temporal.Instant,
): OutboxEvent => {
  const { merchantId, shopId, mode, id } = receipt;
  const event = receipt.status === 'failed' ? 'receipt.failed' : 'receipt.registered';
  const webhook = { event, data: publicReceipt(receipt), url } as const;
  return { merchantId, shopId, mode, subjectId: id, stream: null, webhook, at };
};
