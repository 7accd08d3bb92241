/**
 * The simulated bank's cash register. A receipt is registered two seconds after it was made, with
 * made-up numbers, unless the payment's hint plans otherwise. A failed one is registered when it is
 * sent again. The register has no record: everything is in the order.
 */
import { createHash } from 'node:crypto';
import { receiptDelay_ms } from '../../rules/receipt.ts';
import type { ReceiptAnswer, ReceiptBank, ReceiptOrder } from '../receipt-bank.ts';

/** So many digits that follow from the order; the first is 9, so that none is a card's number. */
const digits = ({ receiptId, attempt }: ReceiptOrder, what: string, length: number): string => {
  const hash = createHash('sha256').update(`${what} ${receiptId} ${attempt}`).digest('hex');
  return `9${(BigInt(`0x${hash}`) % 10n ** BigInt(length - 1)).toString().padStart(length - 1, '0')}`;
};

const register = (order: ReceiptOrder): ReceiptAnswer => {
  const { attempt, planned, createdAt, now } = order;
  const isAgain = attempt > 0;
  if (planned === 'pending') return { kind: 'pending', askAt: null };
  const registeredAt = isAgain ? now : createdAt.add({ milliseconds: receiptDelay_ms });
  if (Temporal.Instant.compare(registeredAt, now) > 0)
    return { kind: 'pending', askAt: registeredAt };
  if (planned === 'failed' && !isAgain)
    return { kind: 'failed', reason: 'The simulated cash register refused the receipt' };
  return {
    kind: 'registered',
    fiscalStorageNumber: digits(order, 'storage', 16),
    fiscalDocumentNumber: digits(order, 'document', 6),
    fiscalAttribute: digits(order, 'attribute', 10),
    registeredAt,
  };
};

export const simulatorReceipts: Required<ReceiptBank> = {
  receipt: (order) => Promise.resolve(register(order)),
};
