/** Who receives a payout, in one line. */
import type { PayoutRowFragment } from '../../../schema/generated/console.ts';

/** The phone, account or card's end, and the name. */
export const recipientOf = ({
  recipient,
  recipientCardMask,
}: Pick<PayoutRowFragment, 'recipient' | 'recipientCardMask'>): string =>
  [recipient.phone ?? recipient.accountNumber ?? recipientCardMask, recipient.fullName]
    .filter(Boolean)
    .join(' · ');
