/** What may be done with a payment: each in a dialog that says what follows. */
import { useState } from 'react';
import { usePermission } from '../viewer.tsx';
import { ActButton } from '../parts/act-button.tsx';
import { useWords } from '../words/words.ts';
import { useTimelineWords } from '../words/timeline.ts';
import { CancelDialog, CaptureDialog, RefundDialog } from './act-dialogs.tsx';
import {
  AskBankDialog,
  ResendReceiptOfPaymentDialog,
  ResendWebhookDialog,
} from './resend-dialogs.tsx';
import type { Whole } from './whole.ts';

const dialogs = {
  refund: RefundDialog,
  cancel: CancelDialog,
  capture: CaptureDialog,
  bank: AskBankDialog,
  webhook: ResendWebhookDialog,
  receipt: ResendReceiptOfPaymentDialog,
} as const;
type Act = keyof typeof dialogs;

/** What sends or asks once more, where there is something to. */
const AgainActs = ({
  payment,
  setOpen,
}: {
  readonly payment: Whole;
  readonly setOpen: (act: Act) => void;
}) => {
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

/** The buttons, and the dialog that is open. */
export const PaymentActs = ({
  payment,
  again,
}: {
  readonly payment: Whole;
  readonly again: () => void;
}) => {
  const { acts, payment: names } = useWords();
  const [open, setOpen] = useState<Act | null>(null);
  const refund = usePermission('refundCreate');
  const cancel = usePermission('paymentCancel');
  const capture = usePermission('paymentCapture');
  const { status, amountCapturable } = payment;
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
      {status === 'succeeded' && (
        <ActButton permission={refund} isMain onPress={() => setOpen('refund')}>
          {acts.refund}
        </ActButton>
      )}
      {(status === 'pending' || isHeld) && (
        <ActButton permission={cancel} onPress={() => setOpen('cancel')}>
          {isHeld ? acts.release : acts.cancel}
        </ActButton>
      )}
      <a className="button" href={payment.paymentUrl} target="_blank" rel="noreferrer">
        {names.page}
      </a>
      <AgainActs payment={payment} setOpen={setOpen} />
      {Dialog && <Dialog payment={payment} close={close} />}
    </div>
  );
};
