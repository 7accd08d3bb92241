/** The dialogs that move a payment's money. Each opened dialog has one idempotency key. */
import { useState } from 'react';
import { useMutation } from 'urql';
import { CancelPayment, CapturePayment, RefundPayment } from '../../../schema/generated/console.ts';
import { amountText, money, readAmount } from '../format.ts';
import { ActForm, outcomeOf } from '../parts/act-form.tsx';
import { useWords } from '../words/words.ts';
import type { Whole } from './whole.ts';

interface DialogProps {
  readonly payment: Whole;
  readonly close: () => void;
}

/** One key for each opened dialog: pressing twice, or again after a lost answer, acts once. */
const useKey = (): string => useState(() => `console-${crypto.randomUUID()}`)[0];

const AmountField = ({
  text,
  setText,
  currency,
  limit,
}: {
  readonly text: string;
  readonly setText: (text: string) => void;
  readonly currency: string;
  readonly limit: number;
}) => {
  const { acts, locale } = useWords();
  const amount = readAmount(text, currency);
  const isWrong = amount === null || amount < 1 || amount > limit;
  const most = money(limit, currency, locale);
  return (
    <label className="field">
      {acts.amount(currency)}
      <input
        inputMode="decimal"
        value={text}
        onChange={(event) => setText(event.target.value)}
        aria-invalid={isWrong}
        aria-describedby="amount-hint"
      />
      <span id="amount-hint" className={isWrong ? 'bad' : 'quiet'}>
        {isWrong ? acts.amountWrong(most) : acts.amountMax(most)}
      </span>
    </label>
  );
};

/** Above it the graph asks a person for the reason of a refund, in minor units. */
const reasonAbove_minor = 1_000_000;

/** Gives money back. */
export const RefundDialog = ({ payment, close }: DialogProps) => {
  const words = useWords();
  const { acts, locale } = words;
  const { merchantId, id: paymentId, currency } = payment;
  const limit = payment.amountCaptured - payment.amountRefunded;
  const key = useKey();
  const [text, setText] = useState(() => amountText(limit, currency));
  const [reason, setReason] = useState('');
  const [, refund] = useMutation(RefundPayment);
  const amount = readAmount(text, currency) ?? 0;
  const to = payment.customerCardMask ?? payment.customerPhoneMask ?? acts.buyer;
  return (
    <ActForm
      title={acts.refund}
      consequence={acts.refundText(money(amount, currency, locale), to)}
      isReady={
        amount >= 1 && amount <= limit && (amount <= reasonAbove_minor || reason.trim() !== '')
      }
      close={close}
      act={async () => {
        const variables = { merchantId, paymentId, amount, reason: reason.trim() || null, key };
        return outcomeOf(await refund(variables), ({ refundCreate: result }) =>
          result.__typename === 'RefundCreated'
            ? { done: acts.done.refund(words.refund.statuses[result.refund.status]) }
            : { refused: result.message },
        );
      }}
    >
      <AmountField text={text} setText={setText} currency={currency} limit={limit} />
      <label className="field">
        {acts.reason}
        <input value={reason} maxLength={200} onChange={(event) => setReason(event.target.value)} />
        <span className="quiet">
          {amount > reasonAbove_minor ? acts.reasonNeeded : acts.reasonHint}
        </span>
      </label>
    </ActForm>
  );
};

/** Cancels a payment, or gives up its hold. */
export const CancelDialog = ({ payment, close }: DialogProps) => {
  const { acts, locale } = useWords();
  const { merchantId, id, status, amountCapturable, currency } = payment;
  const isHeld = status === 'authorized';
  const [, cancel] = useMutation(CancelPayment);
  return (
    <ActForm
      title={isHeld ? acts.release : acts.cancel}
      consequence={
        isHeld ? acts.releaseText(money(amountCapturable, currency, locale)) : acts.cancelText
      }
      close={close}
      act={async () =>
        outcomeOf(await cancel({ merchantId, id }), ({ paymentCancel: result }) =>
          result.__typename === 'PaymentCancelled'
            ? { done: acts.done.cancel }
            : { refused: result.message },
        )
      }
    />
  );
};

/** Takes the money that the bank holds. */
export const CaptureDialog = ({ payment, close }: DialogProps) => {
  const { acts, locale } = useWords();
  const { merchantId, id, currency, amountCapturable: limit } = payment;
  const key = useKey();
  const [text, setText] = useState(() => amountText(limit, currency));
  const [, capture] = useMutation(CapturePayment);
  const amount = readAmount(text, currency) ?? 0;
  return (
    <ActForm
      title={acts.capture}
      consequence={acts.captureText(money(amount, currency, locale))}
      isReady={amount >= 1 && amount <= limit}
      close={close}
      act={async () =>
        outcomeOf(await capture({ merchantId, id, amount, key }), ({ paymentCapture: result }) =>
          result.__typename === 'PaymentCaptured'
            ? { done: acts.done.capture }
            : { refused: result.message },
        )
      }
    >
      <AmountField text={text} setText={setText} currency={currency} limit={limit} />
    </ActForm>
  );
};
