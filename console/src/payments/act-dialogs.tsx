/** The dialogs that move a payment's money, each with an idempotency key. */
import { money } from '../format.ts';
import { useState } from 'react';
import * as graph from '../../../schema/generated/console.ts';
import { reason_max_chars, refundReasonAbove_minor } from '../../../schema/limits.ts';
import { amountText, readAmount } from '../amounts.ts';
import { ActForm } from '../parts/act-form.tsx';
import { TextField } from '../parts/fields.tsx';
import {
  actOnce,
  isUnanswered,
  unansweredOf,
  isAbout,
  refusedBy,
  type KeyedAct,
  send,
} from '../parts/outcome.tsx';
import { useViewer } from '../viewer.tsx';
import { closingWords } from '../words/receipts.ts';
import { refundDraftWords as own } from '../words/drafts.ts';
import { words } from '../words/words.ts';
import { refundsUnderWay, type PaymentDetails } from './shown.tsx';

export interface OfPayment {
  readonly payment: PaymentDetails;
}

/** The amount field: initially the one whose answer was lost, or all that is left. */
const useAmount = (of: string, left: number, currency: string) => {
  const [text, setText] = useState(() => amountText(unansweredOf(of).at(-1) ?? left, currency));
  const amount = readAmount(text, currency) ?? 0;
  const keyed = { of, amount };
  const isPending = isUnanswered(keyed);
  // A sent refund may have been made, leaving less; the amount is still accepted.
  const limit = isPending ? Math.max(left, amount) : left;
  const fits = amount >= 1 && amount <= limit;
  return { amount, keyed, isPending, fits, field: { text, setText, currency, limit, fits } };
};

const AmountField = ({
  text,
  setText,
  currency,
  limit,
  fits,
}: ReturnType<typeof useAmount>['field']) => {
  const most = money(limit, currency);
  return (
    <TextField
      label={words.acts.amount(currency)}
      value={text}
      set={setText}
      hint={fits ? words.acts.amountMax(most) : words.acts.amountWrong(most)}
      isWrong={!fits}
      isNumber
    />
  );
};

export const ReasonField = ({
  reason,
  set,
  amount,
  isProposed,
}: {
  readonly reason: string;
  readonly set: (reason: string) => void;
  readonly amount: number;
  readonly isProposed: boolean;
}) => {
  const hint = amount > refundReasonAbove_minor ? words.acts.reasonNeeded : words.acts.reasonHint;
  return (
    <TextField
      label={words.columns.reason}
      value={reason}
      set={set}
      hint={isProposed ? own.proposeReason : hint}
      maxLength={reason_max_chars}
    />
  );
};

/** Whether the reason is enough for this amount; a proposal always has one. */
export const hasReason = (reason: string, amount: number, isProposed: boolean): boolean =>
  reason.trim() !== '' || (amount <= refundReasonAbove_minor && !isProposed);

// How this person gives money back: by itself, or by a proposal that another person approves.

/** What is refunded or being refunded of a payment. */
const givenBack = (payment: PaymentDetails): number =>
  refundsUnderWay(payment).reduce((sum, { amount }) => sum + amount, payment.amountRefunded);

/** Whether the person can only propose to refund so much of the payment. */
export const useMustPropose = (payment: PaymentDetails): ((amount: number) => boolean) => {
  const { role } = useViewer();
  const left = payment.merchant.supportRefundMax - givenBack(payment);
  return (amount) => role === 'support' && (left <= 0 || amount > left);
};

type Receipt = NonNullable<graph.RefundPaymentMutationVariables['receipt']>;

/** The refund of an amount, as this person makes it. */
export const useRefund = (payment: PaymentDetails, amount: number) => {
  const isProposed = useMustPropose(payment)(amount);
  const { merchantId, id: paymentId, currency } = payment;
  const { acts } = words;
  const to = payment.customerCardMask ?? payment.customerPhoneMask ?? acts.buyer;
  const sum = money(amount, currency);
  const keyed: KeyedAct = { of: `${isProposed ? 'propose' : 'refund'}/${paymentId}`, amount };
  return {
    isProposed,
    title: isProposed ? own.propose : acts.refund,
    consequence: isProposed ? own.proposeText(sum, to) : acts.refundText(sum, to),
    isPending: isUnanswered(keyed),
    giveBack: (reason: string, receipt: Receipt | null) =>
      actOnce(keyed, (key) => {
        const asked = { merchantId, paymentId, amount, receipt, key };
        if (isProposed) return send(graph.ProposeRefund, { ...asked, reason }, own.proposedNow);
        return send(graph.RefundPayment, { ...asked, reason: reason || null }, (result) =>
          acts.done.refund(words.refund.statuses[result.refund.status]),
        );
      }),
  };
};

export const RefundDialog = ({ payment }: OfPayment) => {
  const { id: paymentId, currency } = payment;
  const left = payment.amountCaptured - payment.amountRefunded;
  const { amount, fits, field } = useAmount(`refund/${paymentId}`, left, currency);
  const [reason, setReason] = useState('');
  const { title, consequence, isPending, isProposed, giveBack } = useRefund(payment, amount);
  return (
    <ActForm
      title={title}
      consequence={consequence}
      isReady={fits && hasReason(reason, amount, isProposed)}
      isPending={isPending}
      act={() => giveBack(reason.trim(), null)}
    >
      <AmountField {...field} />
      <ReasonField reason={reason} set={setReason} amount={amount} isProposed={isProposed} />
    </ActForm>
  );
};

export const CaptureDialog = ({ payment }: OfPayment) => {
  const { merchantId, id, currency, amountCapturable } = payment;
  const of = `capture/${id}`;
  const { amount, keyed, isPending, fits, field } = useAmount(of, amountCapturable, currency);
  return (
    <ActForm
      title={words.acts.capture}
      consequence={words.acts.captureText(money(amount, currency))}
      isReady={fits}
      isPending={isPending}
      act={() =>
        actOnce(keyed, (key) =>
          send(
            graph.CapturePayment,
            { merchantId, id, amount, key },
            words.acts.done.capture,
            (refusal) =>
              isAbout(refusal, 'receipt')
                ? { refused: closingWords.partCapture }
                : refusedBy(refusal),
          ),
        )
      }
    >
      <AmountField {...field} />
    </ActForm>
  );
};
