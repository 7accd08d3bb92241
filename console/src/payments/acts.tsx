/** The actions of a payment, each in a dialog that states the consequences. */
import { useState } from 'react';
import { later } from '../parts/later.tsx';
import { usePermission } from '../viewer.tsx';
import { ActButton } from '../parts/act-form.tsx';
import { useWords } from '../words/words.ts';
import { useClosingWords } from '../words/receipts.ts';
import { useRefundDraftWords } from '../words/refund-drafts.ts';
import { useTimelineWords } from '../words/timeline.ts';
import { CancelDialog, CaptureDialog, RefundDialog, useMustPropose } from './act-dialogs.tsx';
import {
  AskBankDialog,
  ResendReceiptOfPaymentDialog,
  ResendWebhookDialog,
} from './resend-dialogs.tsx';
import type { PaymentDetails } from './shown.tsx';

/** Loaded on first use: they are rarely needed. */
const LaterClosing = later(() =>
  import('./receipt-dialogs.tsx').then(({ ClosingDialog }) => ClosingDialog),
);
const LaterErase = later(() => import('../erasure/dialog.tsx').then(({ EraseAct }) => EraseAct));

const LaterRefundItems = later(() =>
  import('./receipt-dialogs.tsx').then(({ RefundItemsDialog }) => RefundItemsDialog),
);

const dialogs = {
  refund: RefundDialog,
  cancel: CancelDialog,
  capture: CaptureDialog,
  bank: AskBankDialog,
  webhook: ResendWebhookDialog,
  receipt: ResendReceiptOfPaymentDialog,
  closing: LaterClosing,
  items: LaterRefundItems,
} as const;
type Act = keyof typeof dialogs;

interface ActProps {
  readonly payment: PaymentDetails;
  readonly setOpen: (act: Act) => void;
}

/** Refunds the payment, or proposes it where the person may do no more. */
const RefundAct = ({ payment, setOpen }: ActProps) => {
  const { acts } = useWords();
  const { propose } = useRefundDraftWords();
  const permission = usePermission('refundCreate');
  const mustPropose = useMustPropose(payment);
  const hasReceipt = payment.receipts.some(({ type }) => type === 'payment');
  return (
    <ActButton
      permission={permission}
      isMain
      onPress={() => setOpen(hasReceipt ? 'items' : 'refund')}
    >
      {mustPropose(1) ? propose : acts.refund}
    </ActButton>
  );
};

/** Resends and status queries, where they apply. */
const AgainActs = ({ payment, setOpen }: ActProps) => {
  const words = useTimelineWords();
  const askBank = usePermission('bankAskAgain');
  const webhook = usePermission('webhookDeliveryResend');
  const receipt = usePermission('receiptResend');
  const { mode, status, webhookDeliveries, receipts } = payment;
  const wasAtBank = status !== 'pending' && status !== 'cancelled';
  return (
    <>
      {mode === 'live' && wasAtBank && (
        <ActButton permission={askBank} onPress={() => setOpen('bank')}>
          {words.askBank}
        </ActButton>
      )}
      {webhookDeliveries.length > 0 && (
        <ActButton permission={webhook} onPress={() => setOpen('webhook')}>
          {words.resendWebhook}
        </ActButton>
      )}
      {receipts.some((one) => one.status === 'failed') && (
        <ActButton permission={receipt} onPress={() => setOpen('receipt')}>
          {words.resendReceipt}
        </ActButton>
      )}
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

/** The buttons, and the dialog that is open. */
export const PaymentActs = ({
  payment,
  again,
}: {
  readonly payment: PaymentDetails;
  readonly again: () => void;
}) => {
  const { acts, payment: names } = useWords();
  const [open, setOpen] = useState<Act | null>(null);
  const cancel = usePermission('paymentCancel');
  const capture = usePermission('paymentCapture');
  const closing = usePermission('receiptClose');
  const words = useClosingWords();
  const { status, amountCapturable, merchantId, id } = payment;
  const isHeld = status === 'authorized' && amountCapturable > 0;
  const Dialog = open === null ? null : dialogs[open];
  const close = (): void => {
    setOpen(null);
    again();
  };
  return (
    <div className="acts">
      {isHeld && (
        <ActButton permission={capture} isMain onPress={() => setOpen('capture')}>
          {acts.capture}
        </ActButton>
      )}
      {status === 'succeeded' && <RefundAct payment={payment} setOpen={setOpen} />}
      {(status === 'pending' || isHeld) && (
        <ActButton permission={cancel} onPress={() => setOpen('cancel')}>
          {isHeld ? acts.release : acts.cancel}
        </ActButton>
      )}
      <a className="button" href={payment.paymentUrl} target="_blank" rel="noreferrer">
        {names.page}
      </a>
      {awaitsClosing(payment) && (
        <ActButton permission={closing} onPress={() => setOpen('closing')}>
          {words.title}
        </ActButton>
      )}
      <AgainActs payment={payment} setOpen={setOpen} />
      {final.has(status) && (
        <LaterErase merchantId={merchantId} subject="payment" id={id} again={again} />
      )}
      {Dialog && <Dialog payment={payment} close={close} again={again} />}
    </div>
  );
};
