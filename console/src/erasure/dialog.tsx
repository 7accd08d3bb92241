/**
 * Erases the personal data of a payment, a payout or a customer. A customer with many payments
 * takes several calls; the dialog shows the count so far.
 */
import { policyReason_max_chars } from '../../../schema/limits.ts';
import { useState } from 'react';
import { useMutation } from 'urql';
import * as graph from '../../../schema/generated/console.ts';
import { wholeNumber } from '../format.ts';
import { DialogAct, PolicyForm } from '../parts/act-form.tsx';
import { refusalOf, refusedBy, type Outcome } from '../parts/outcome.tsx';
import { TextField } from '../parts/fields.tsx';
import { erasureWords as own } from '../words/customers.ts';

interface DialogProps {
  readonly merchantId: string;
  readonly subject: graph.PersonalDataSubject;
  /** Null: it is typed. */
  readonly id: string | null;
  readonly close: () => void;
}

/** Calls until nothing is left; `seen` receives the count so far. */
const useErasing = (seen: (payments: number) => void) => {
  const [, erase] = useMutation(graph.EraseData);
  return async (variables: graph.EraseDataMutationVariables): Promise<Outcome> => {
    let [payments, payouts, tokens, subscriptions] = [0, 0, 0, 0];
    for (;;) {
      const { data, error } = await erase(variables);
      const result = data?.personalDataErase;
      if (!result) return refusedBy(refusalOf(error));
      if (result.__typename === 'Refused') return refusedBy(result);
      payments += result.payments;
      payouts += result.payouts;
      tokens += result.tokens;
      subscriptions += result.subscriptions;
      seen(payments);
      if (result.hasMore) continue;
      const text = (count: number): string => wholeNumber(count);
      const done = own.done(text(payments), text(payouts), text(tokens), text(subscriptions));
      return { done: result.left > 0 ? `${done} ${own.left(text(result.left))}` : done };
    }
  };
};

const EraseDialog = ({ merchantId, subject, id, close }: DialogProps) => {
  const [typed, setTyped] = useState('');
  const [reason, setReason] = useState('');
  const [payments, setPayments] = useState(0);
  const erase = useErasing(setPayments);
  const whose = id ?? typed.trim();
  return (
    <PolicyForm
      title={subject === 'customer' ? own.customerTitle : own.title}
      consequence={`${own.of[subject]} ${own.noWay}`}
      isReady={
        whose !== '' && reason.trim() !== '' && reason.trim().length <= policyReason_max_chars
      }
      close={close}
      act={() => erase({ merchantId, subject, id: whose, reason: reason.trim() })}
    >
      {subject === 'customer' && id === null && (
        <TextField label={own.customer} value={typed} set={setTyped} hint={own.customerHint} />
      )}
      <TextField label={own.reason} value={reason} set={setReason} hint={own.reasonHint} />
      {payments > 0 && <p role="status">{own.running(wholeNumber(payments))}</p>}
    </PolicyForm>
  );
};

export const EraseAct = ({
  again = () => {},
  ...of
}: Omit<DialogProps, 'close'> & { readonly again?: () => void }) => (
  <DialogAct
    permission="personalDataErase"
    title={of.subject === 'customer' ? own.customerTitle : own.title}
    again={again}
    dialog={(close) => <EraseDialog {...of} close={close} />}
  />
);
