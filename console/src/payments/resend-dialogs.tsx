/** The dialogs that resend or query; they move no money. */
import { useState } from 'react';
import * as graph from '../../../schema/generated/console.ts';
import { ActForm, type Closable } from '../parts/act-form.tsx';
import { useSend } from '../parts/outcome.tsx';
import type { ObjectId } from '../parts/table.tsx';
import { timelineWords as own } from '../words/timeline.ts';
import { words } from '../words/words.ts';
import type { PaymentDetails } from './shown.tsx';

type DialogProps = Closable & { readonly payment: PaymentDetails };

export const AskBankDialog = ({ payment: { merchantId, id }, close }: DialogProps) => {
  const ask = useSend(graph.AskBankAgain);
  return (
    <ActForm
      title={own.askBank}
      consequence={own.askBankText}
      close={close}
      act={() => ask({ merchantId, id }, own.asked)}
    />
  );
};

/** Resends one of the payment's webhooks: by default the newest failed one. */
export const ResendWebhookDialog = ({ payment, close }: DialogProps) => {
  const { merchantId, webhookDeliveries: all } = payment;
  const newest = all.toReversed();
  const first = newest.find(({ status }) => status === 'failed') ?? newest[0];
  const [id, setId] = useState(first?.id ?? '');
  const resend = useSend(graph.ResendDelivery);
  return (
    <ActForm
      title={own.resendWebhook}
      consequence={own.resendWebhookText}
      isReady={id !== ''}
      close={close}
      act={() => resend({ merchantId, id }, words.delivery.resent)}
    >
      <fieldset className="options">
        <legend>{own.which}</legend>
        {newest.map((delivery) => (
          <label key={delivery.id}>
            <input
              type="radio"
              name="delivery"
              checked={delivery.id === id}
              onChange={() => setId(delivery.id)}
            />
            <span className="break">
              {delivery.event.replace('_', '.')}:{' '}
              {words.delivery.statuses[delivery.status].toLowerCase()}
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
  const resend = useSend(graph.ResendReceipt);
  return (
    <ActForm
      title={own.resendReceipt}
      consequence={own.resendReceiptText}
      close={close}
      act={() => resend({ merchantId, id }, own.receiptSent)}
    />
  );
};

/** Sends the first receipt of a payment again that the cash register refused. */
export const ResendReceiptOfPaymentDialog = ({ payment, close }: DialogProps) => {
  const { merchantId, receipts } = payment;
  const failed = receipts.find(({ status }) => status === 'failed');
  return <ResendReceiptDialog receipt={{ merchantId, id: failed?.id ?? '' }} close={close} />;
};
