/** The actions of a payment, each in a dialog that states the consequences. */
import * as graph from '../../../schema/generated/console.ts';
import { EraseAct } from '../erasure/dialog.tsx';
import { money } from '../format.ts';
import { later } from '../parts/later.tsx';
import { send } from '../parts/outcome.tsx';
import { actButton } from '../parts/act-form.tsx';
import { words } from '../words/words.ts';
import { closingWords } from '../words/receipts.ts';
import { refundDraftWords } from '../words/drafts.ts';
import { timelineWords as own } from '../words/timeline.ts';
import { CaptureDialog, RefundDialog, useMustPropose, type OfPayment } from './act-dialogs.tsx';
import { resendWebhook, resendReceipt } from './resend-dialogs.tsx';
import type { PaymentDetails } from './shown.tsx';

/** Loaded on first use: they are rarely needed. */
const LaterClosing = later(async () => (await import('./receipt-dialogs.tsx')).ClosingDialog);

const LaterRefundItems = later(
  async () => (await import('./receipt-dialogs.tsx')).RefundItemsDialog,
);

const AgainActs = ({ payment }: OfPayment) => {
  const { merchantId, id, mode, status, webhookDeliveries, receipts } = payment;
  const wasAtBank = status !== 'pending' && status !== 'cancelled';
  const refused = receipts.find((one) => one.status === 'failed');
  return (
    <>
      {mode === 'live' &&
        wasAtBank &&
        actButton({
          permission: 'bankAskAgain',
          title: own.askBank,
          consequence: own.askBankText,
          act: () => send(graph.AskBankAgain, { merchantId, id }, own.asked),
        })}
      {webhookDeliveries.length > 0 && actButton(resendWebhook(payment))}
      {refused && actButton(resendReceipt({ merchantId, id: refused.id }))}
    </>
  );
};

/** The modes in which goods are paid before they are handed over. */
const prepaid: ReadonlySet<string> = new Set([
  'full_prepayment',
  'prepayment',
  'partial_prepayment',
]);

/** Whether the payment was a prepayment without its closing receipt. */
const awaitsClosing = ({ status, receipts }: PaymentDetails): boolean =>
  status === 'succeeded' &&
  !receipts.some(({ type }) => type === 'closing') &&
  receipts.some(
    ({ type, items }) =>
      type === 'payment' && items.some(({ paymentMode }) => prepaid.has(paymentMode ?? '')),
  );

/** States in which neither a bank nor a buyer adds anything to a payment. */
const final: ReadonlySet<PaymentDetails['status']> = new Set([
  'succeeded',
  'failed',
  'expired',
  'cancelled',
  'refunded',
]);

export const PaymentActs = ({ payment }: OfPayment) => {
  const mustPropose = useMustPropose(payment);
  const { status, amountCapturable, currency, merchantId, id, receipts } = payment;
  const { acts } = words;
  const isHeld = status === 'authorized' && amountCapturable > 0;
  const hasReceipt = receipts.some(({ type }) => type === 'payment');
  const LaterRefund = hasReceipt ? LaterRefundItems : RefundDialog;
  return (
    <div className="acts">
      {isHeld &&
        actButton({
          permission: 'paymentCapture',
          isMain: true,
          title: acts.capture,
          dialog: <CaptureDialog payment={payment} />,
        })}
      {status === 'succeeded' &&
        actButton({
          permission: 'refundCreate',
          isMain: true,
          title: mustPropose(1) ? refundDraftWords.propose : acts.refund,
          dialog: <LaterRefund payment={payment} />,
        })}
      {(status === 'pending' || isHeld) &&
        actButton({
          permission: 'paymentCancel',
          title: isHeld ? acts.release : acts.cancel,
          consequence: isHeld
            ? acts.releaseText(money(amountCapturable, currency))
            : acts.cancelText,
          act: () => send(graph.CancelPayment, { merchantId, id }, acts.done.cancel),
        })}
      <a className="button" href={payment.paymentUrl} target="_blank" rel="noreferrer">
        {words.payment.page}
      </a>
      {awaitsClosing(payment) &&
        actButton({
          permission: 'receiptClose',
          title: closingWords.title,
          dialog: <LaterClosing payment={payment} />,
        })}
      <AgainActs payment={payment} />
      {final.has(status) && <EraseAct merchantId={merchantId} subject="payment" id={id} />}
    </div>
  );
};
