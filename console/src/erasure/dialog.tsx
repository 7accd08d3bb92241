/**
 * Erases the personal data of a payment, a payout or a customer. A customer with many payments
 * takes several calls; the dialog shows the count so far.
 */
import { policyReason_max_chars } from '../../../schema/limits.ts';
import { useState } from 'react';
import * as graph from '../../../schema/generated/console.ts';
import { wholeNumber } from '../format.ts';
import { ActForm, actButton } from '../parts/act-form.tsx';
import { send, type Outcome } from '../parts/outcome.tsx';
import { TextField } from '../parts/fields.tsx';
import { erasureWords as own } from '../words/customers.ts';
import { keysOf } from '../words/table.ts';

interface DialogProps {
  readonly merchantId: string;
  readonly subject: graph.PersonalDataSubject;
  /** Null: it is typed. */
  readonly id: string | null;
}

/** Calls until nothing is left; `seen` receives the count so far. */
const eraseAll = async (
  variables: graph.EraseDataMutationVariables,
  seen: (payments: number) => void,
): Promise<Outcome> => {
  const counts = { payments: 0, payouts: 0, tokens: 0, subscriptions: 0 };
  for (let hasMore = true; ;) {
    const outcome = await send(graph.EraseData, variables, (result) => {
      for (const kind of keysOf(counts)) counts[kind] += result[kind];
      seen(counts.payments);
      ({ hasMore } = result);
      const [payments = '', payouts = '', tokens = '', subscriptions = ''] =
        Object.values(counts).map(wholeNumber);
      const done = own.done(payments, payouts, tokens, subscriptions);
      return result.left > 0 ? `${done} ${own.left(wholeNumber(result.left))}` : done;
    });
    if (!('done' in outcome) || !hasMore) return outcome;
  }
};

const EraseDialog = ({ merchantId, subject, id }: DialogProps) => {
  const [typed, setTyped] = useState('');
  const [reason, setReason] = useState('');
  const [payments, setPayments] = useState(0);
  const whose = id ?? typed.trim();
  return (
    <ActForm
      isAudited
      title={subject === 'customer' ? own.customerTitle : own.title}
      consequence={`${own.of[subject]} ${own.noWay}`}
      isReady={
        whose !== '' && reason.trim() !== '' && reason.trim().length <= policyReason_max_chars
      }
      act={() => eraseAll({ merchantId, subject, id: whose, reason: reason.trim() }, setPayments)}
    >
      {subject === 'customer' && id === null && (
        <TextField label={own.customer} value={typed} set={setTyped} hint={own.customerHint} />
      )}
      <TextField label={own.reason} value={reason} set={setReason} hint={own.reasonHint} />
      {payments > 0 && <p role="status">{own.running(wholeNumber(payments))}</p>}
    </ActForm>
  );
};

export const EraseAct = (of: DialogProps) =>
  actButton({
    permission: 'personalDataErase',
    title: of.subject === 'customer' ? own.customerTitle : own.title,
    dialog: <EraseDialog {...of} />,
  });
