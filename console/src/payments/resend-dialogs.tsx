/** The dialogs that resend or query; they move no money. */
import { useState } from 'react';
import * as graph from '../../../schema/generated/console.ts';
import { ActForm, type Closable } from '../parts/act-form.tsx';
import { useSend } from '../parts/outcome.tsx';
import type { ObjectId } from '../parts/table.tsx';
import { useTimelineWords } from '../words/timeline.ts';
import { useWords } from '../words/words.ts';
import type { PaymentDetails } from './shown.tsx';

type DialogProps = Closable & { readonly payment: PaymentDetails };

export const AskBankDialog = ({ payment: { merchantId, id }, close }: DialogProps) => {
  const words = useTimelineWords();
  const ask = useSend(graph.AskBankAgain);
  return (
    <ActForm
      title={words.askBank}
      consequence={words.askBankText}
      close={close}
      act={() => ask({ merchantId, id }, words.asked)}
    />
  );
};

/** Resends one of the payment's webhooks: by default the newest failed one. */
export const ResendWebhookDialog = ({ payment, close }: DialogProps) => {
  const words = useTimelineWords();
  const { delivery: names } = useWords();
  const { merchantId, webhookDeliveries: all } = payment;
  const newest = all.toReversed();
  const first = newest.find(({ status }) => status === 'failed') ?? newest[0];
  const [id, setId] = useState(first?.id ?? '');
  const resend = useSend(graph.ResendDelivery);
  return (
    <ActForm
      title={words.resendWebhook}
      consequence={words.resendWebhookText}
      isReady={id !== ''}
      close={close}
      act={() => resend({ merchantId, id }, names.resent)}
    >
      <fieldset className="options">
        <legend>{words.which}</legend>
        {newest.map((delivery) => (
          <label key={delivery.id}>
            <input
              type="radio"
              name="delivery"
              checked={delivery.id === id}
              onChange={() => setId(delivery.id)}
            />
            <span className="break">
              {delivery.event.replace('_', '.')}: {names.statuses[delivery.status].toLowerCase()}
              <span className="quiet"> {delivery.url}</span>
            </span>
          </label>
        ))}
      </fieldset>
    </ActForm>
  );
};

export const ResendReceiptDialog = ({
  receipt: { merchantId, id },
  close,
}: Closable & { readonly receipt: ObjectId }) => {
  const words = useTimelineWords();
  const resend = useSend(graph.ResendReceipt);
  return (
    <ActForm
      title={words.resendReceipt}
      consequence={words.resendReceiptText}
      close={close}
      act={() => resend({ merchantId, id }, words.receiptSent)}
    />
  );
};

/** Sends the first receipt of a payment again that the cash register refused. */
export const ResendReceiptOfPaymentDialog = ({ payment, close }: DialogProps) => {
  const { merchantId, receipts } = payment;
  const failed = receipts.find(({ status }) => status === 'failed');
  return <ResendReceiptDialog receipt={{ merchantId, id: failed?.id ?? '' }} close={close} />;
};
