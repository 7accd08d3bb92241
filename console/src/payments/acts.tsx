/** The actions of a payment, each in a dialog that states the consequences. */
import * as graph from '../../../schema/generated/console.ts';
import { later } from '../parts/later.tsx';
import { send } from '../parts/outcome.tsx';
import { ActButton, useActs, useOpened, type Again } from '../parts/act-form.tsx';
import { words } from '../words/words.ts';
import { closingWords } from '../words/receipts.ts';
import { refundDraftWords } from '../words/drafts.ts';
import { timelineWords as own } from '../words/timeline.ts';
import { CancelDialog, CaptureDialog, RefundDialog, useMustPropose } from './act-dialogs.tsx';
import { ResendWebhookDialog, resendReceipt } from './resend-dialogs.tsx';
import type { PaymentDetails } from './shown.tsx';

/** Loaded on first use: they are rarely needed. */
const LaterClosing = later(async () => (await import('./receipt-dialogs.tsx')).ClosingDialog);
const LaterErase = later(async () => (await import('../erasure/dialog.tsx')).EraseAct);

const LaterRefundItems = later(
  async () => (await import('./receipt-dialogs.tsx')).RefundItemsDialog,
);

const dialogs = {
  refund: RefundDialog,
  cancel: CancelDialog,
  capture: CaptureDialog,
  closing: LaterClosing,
  items: LaterRefundItems,
} as const;
type Act = keyof typeof dialogs;

export type OfPayment = Again & { readonly payment: PaymentDetails };

/** Refunds the payment, or proposes it where the person may do no more. */
const RefundAct = ({
  payment,
  setOpen,
}: {
  readonly payment: PaymentDetails;
  readonly setOpen: (act: Act) => void;
}) => {
  const mustPropose = useMustPropose(payment);
  const hasReceipt = payment.receipts.some(({ type }) => type === 'payment');
  return (
    <ActButton
      permission="refundCreate"
      isMain
      onPress={() => setOpen(hasReceipt ? 'items' : 'refund')}
    >
      {mustPropose(1) ? refundDraftWords.propose : words.acts.refund}
    </ActButton>
  );
};

const AgainActs = ({ payment, again }: OfPayment) => {
  const { button, dialog } = useActs(again);
  const { merchantId, id, mode, status, webhookDeliveries, receipts } = payment;
  const wasAtBank = status !== 'pending' && status !== 'cancelled';
  const refused = receipts.find((one) => one.status === 'failed');
  return (
    <>
      {mode === 'live' &&
        wasAtBank &&
        button({
          permission: 'bankAskAgain',
          title: own.askBank,
          consequence: own.askBankText,
          act: () => send(graph.AskBankAgain, { merchantId, id }, own.asked),
        })}
      {webhookDeliveries.length > 0 &&
        button({
          permission: 'webhookDeliveryResend',
          title: own.resendWebhook,
          dialog: (close) => <ResendWebhookDialog payment={payment} close={close} />,
        })}
      {refused && button(resendReceipt({ merchantId, id: refused.id }))}
      {dialog}
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

export const PaymentActs = ({ payment, again }: OfPayment) => {
  const { opened, open, close } = useOpened<Act>(again);
  const { status, amountCapturable, merchantId, id } = payment;
  const isHeld = status === 'authorized' && amountCapturable > 0;
  const Dialog = opened === null ? null : dialogs[opened];
  return (
    <div className="acts">
      {isHeld && (
        <ActButton permission="paymentCapture" isMain onPress={() => open('capture')}>
          {words.acts.capture}
        </ActButton>
      )}
      {status === 'succeeded' && <RefundAct payment={payment} setOpen={open} />}
      {(status === 'pending' || isHeld) && (
        <ActButton permission="paymentCancel" onPress={() => open('cancel')}>
          {isHeld ? words.acts.release : words.acts.cancel}
        </ActButton>
      )}
      <a className="button" href={payment.paymentUrl} target="_blank" rel="noreferrer">
        {words.payment.page}
      </a>
      {awaitsClosing(payment) && (
        <ActButton permission="receiptClose" onPress={() => open('closing')}>
          {closingWords.title}
        </ActButton>
      )}
      <AgainActs payment={payment} again={again} />
      {final.has(status) && (
        <LaterErase merchantId={merchantId} subject="payment" id={id} again={again} />
      )}
      {Dialog && <Dialog payment={payment} close={close} again={again} />}
    </div>
  );
};
