/** How this person gives money back: by itself, or by a proposal that another person approves. */
import { useMutation } from 'urql';
import {
  ProposeRefund,
  RefundPayment,
  type RefundPaymentMutationVariables,
} from '../../../schema/generated/console.ts';
import { money } from '../amounts.ts';
import { actOnce, isUnanswered, type KeyedAct } from '../parts/act-once.ts';
import { outcomeOf, refusedBy, type Outcome } from '../parts/outcome.ts';
import { useViewer } from '../viewer.tsx';
import { useRefundDraftWords } from '../words/refund-drafts.ts';
import { useWords } from '../words/words.ts';
import type { PaymentDetails } from './payment-details.ts';

/** What is refunded or being refunded of a payment. */
const givenBack = ({ amountRefunded, timeline }: PaymentDetails): number =>
  timeline.reduce(
    (sum, one) =>
      one.__typename === 'TimelineRefund' &&
      one.refundStatus === 'pending' &&
      one.refund.completedAt === null
        ? sum + one.amount
        : sum,
    amountRefunded,
  );

/** Whether the person can only propose to refund so much of the payment. */
export const useMustPropose = (payment: PaymentDetails): ((amount: number) => boolean) => {
  const { role } = useViewer();
  const left = payment.merchant.supportRefundMax - givenBack(payment);
  return (amount) => role === 'support' && amount > left;
};

type Receipt = NonNullable<RefundPaymentMutationVariables['receipt']>;

interface Refunding {
  readonly isProposed: boolean;
  readonly title: string;
  readonly consequence: string;
  readonly isPending: boolean;
  readonly send: (reason: string, receipt: Receipt | null) => Promise<Outcome>;
}

/** The refund of an amount, as this person makes it. */
export const useRefund = (payment: PaymentDetails, amount: number): Refunding => {
  const words = useWords();
  const own = useRefundDraftWords();
  const isProposed = useMustPropose(payment)(amount);
  const [, refund] = useMutation(RefundPayment);
  const [, propose] = useMutation(ProposeRefund);
  const { merchantId, id: paymentId, currency } = payment;
  const { acts, locale } = words;
  const to = payment.customerCardMask ?? payment.customerPhoneMask ?? acts.buyer;
  const sum = money(amount, currency, locale);
  const keyed: KeyedAct = { of: `${isProposed ? 'propose' : 'refund'}/${paymentId}`, amount };
  return {
    isProposed,
    title: isProposed ? own.propose : acts.refund,
    consequence: isProposed ? own.proposeText(sum, to) : acts.refundText(sum, to),
    isPending: isUnanswered(keyed),
    send: (reason, receipt) =>
      actOnce(keyed, async (key) => {
        const asked = { merchantId, paymentId, amount, receipt, key };
        if (isProposed)
          return outcomeOf(await propose({ ...asked, reason }), ({ refundDraftCreate: result }) =>
            result.__typename === 'RefundDraftCreated'
              ? { done: own.proposedNow }
              : refusedBy(result),
          );
        return outcomeOf(
          await refund({ ...asked, reason: reason || null }),
          ({ refundCreate: result }) =>
            result.__typename === 'RefundCreated'
              ? { done: acts.done.refund(words.refund.statuses[result.refund.status]) }
              : refusedBy(result),
        );
      }),
  };
};
