/** Retries a refund that a bank refused: the automatic refund of a late success. */
import { useState } from 'react';
import { useMutation } from 'urql';
import { RetryRefund, type AlertsQuery } from '../../../schema/generated/console.ts';
import { ActButton } from '../parts/act-button.tsx';
import { ActForm } from '../parts/act-form.tsx';
import { outcomeOf, refusedBy } from '../parts/outcome.ts';
import { usePermission } from '../viewer.tsx';
import { useAlertWords } from '../words/alerts.ts';
import { useWords } from '../words/words.ts';

type Alert = AlertsQuery['alerts']['nodes'][number];

/** Whether an alert is about a refund that the bank refused: it names the refund, not the payment. */
export const isRefusedReturn = ({ kind, payment, subjectId }: Alert): boolean =>
  kind === 'late_success' && payment !== null && payment.id !== subjectId;

/** The button, and its dialog. */
export const RetryRefundAct = ({
  alert,
  again,
}: {
  readonly alert: Alert;
  readonly again: () => void;
}) => {
  const { refund } = useWords();
  const words = useAlertWords();
  const permission = usePermission('refundRetry');
  const [isOpen, setOpen] = useState(false);
  const [, retry] = useMutation(RetryRefund);
  const { payment, subjectId: id } = alert;
  if (!payment) return null;
  const { merchantId } = payment;
  return (
    <>
      <ActButton permission={permission} onPress={() => setOpen(true)}>
        {words.retryRefund}
      </ActButton>
      {isOpen && (
        <ActForm
          title={words.retryRefund}
          consequence={words.retryRefundText}
          close={() => {
            setOpen(false);
            again();
          }}
          act={async () =>
            outcomeOf(await retry({ merchantId, id }), ({ refundRetry: result }) =>
              result.__typename === 'RefundRetried'
                ? { done: words.refundRetried(refund.statuses[result.refund.status]) }
                : refusedBy(result),
            )
          }
        />
      )}
    </>
  );
};
