/**
 * The postings of a payout. Amount and fee are reserved when it is created and released if it
 * fails. Merchants see `payout` and `payout_fee` once it succeeds
 * (docs/contract.md#balance-and-ledger).
 */
import { plus, type MinorUnits } from '../../rules/money.ts';
import type { Posting } from '../../rules/postings.ts';
import type { PayoutMethod } from './payout.ts';

interface Amounts {
  readonly amount: MinorUnits;
  readonly fee: MinorUnits;
}

/** A payout was created: the merchant still owns its money, but cannot spend it twice. */
export const payoutOpened = ({ amount, fee }: Amounts): readonly Posting[] => [
  { type: 'reserve', from: 'merchant', to: 'merchant_reserved', amount: plus(amount, fee) },
];

/** The bank paid: we owe the merchant that much less, and have earned the fee. */
export const payoutSucceeded = ({ amount, fee }: Amounts): readonly Posting[] => [
  { type: 'payout', from: 'merchant_reserved', to: 'payout_clearing', amount },
  ...(fee > 0n
    ? [{ type: 'payout_fee', from: 'merchant_reserved', to: 'platform_fees', amount: fee } as const]
    : []),
];

/** The bank refused: the reserve is released to the merchant. */
export const payoutFailed = ({ amount, fee }: Amounts): readonly Posting[] => [
  { type: 'release', from: 'merchant_reserved', to: 'merchant', amount: plus(amount, fee) },
];

interface Addressed {
  readonly method: PayoutMethod;
  readonly recipientPhone: string | null;
  readonly recipientAccount: string | null;
  /** The last 4 digits. */
  readonly recipientCardMask: string | null;
}

/**
 * The ledger's description of a payout: the method, and the last 4 digits of the recipient. Unlike
 * a payment, a payout has no public number.
 */
export const payoutDescription = ({
  method,
  recipientPhone,
  recipientAccount,
  recipientCardMask,
}: Addressed): string => {
  switch (method) {
    case 'payouts_sbp':
      return `SBP *${recipientPhone?.slice(-4) ?? ''}`;
    case 'payouts_card':
      return `Card *${recipientCardMask ?? ''}`;
    case 'payouts_account':
      return `Account *${recipientAccount?.slice(-4) ?? ''}`;
  }
};
