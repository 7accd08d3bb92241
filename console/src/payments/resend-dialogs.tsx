/** What resends a webhook or a receipt; it moves no money. */
import { useState } from 'react';
import * as graph from '../../../schema/generated/console.ts';
import { ActForm } from '../parts/act-form.tsx';
import type { ObjectId } from '../parts/texts.tsx';
import { send } from '../parts/outcome.tsx';
import { timelineWords as own } from '../words/timeline.ts';
import { words } from '../words/words.ts';
import type { OfPayment } from './act-dialogs.tsx';

/** Resends one of the payment's webhooks: by default the newest failed one. */
export const ResendWebhookDialog = ({ payment }: OfPayment) => {
  const { merchantId, webhookDeliveries: all } = payment;
  const newest = all.toReversed();
  const first = newest.find(({ status }) => status === 'failed') ?? newest[0];
  const [id, setId] = useState(first?.id ?? '');
  return (
    <ActForm
      title={own.resendWebhook}
      consequence={own.resendWebhookText}
      isReady={id !== ''}
      act={() => send(graph.ResendDelivery, { merchantId, id }, words.delivery.resent)}
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

/** The act that sends a receipt again, which the cash register refused. */
export const resendReceipt = ({ merchantId, id }: ObjectId) =>
  ({
    permission: 'receiptResend',
    title: own.resendReceipt,
    consequence: own.resendReceiptText,
    act: () => send(graph.ResendReceipt, { merchantId, id }, own.receiptSent),
  }) as const;
