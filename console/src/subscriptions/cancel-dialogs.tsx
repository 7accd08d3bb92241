/** The dialogs that end a subscription or a saved method; both ask why. */
import { useState } from 'react';
import { CancelSubscription, CancelToken } from '../../../schema/generated/console.ts';
import { ActForm } from '../parts/act-form.tsx';
import { type Outcome, useSend } from '../parts/outcome.tsx';
import { TextField } from '../parts/fields.tsx';
import { useSubscriptionWords } from '../words/subscriptions.ts';

interface Ending {
  readonly merchantId: string;
  readonly id: string;
}

const ReasonForm = ({
  title,
  consequence,
  act,
  close,
}: {
  readonly title: string;
  readonly consequence: string;
  readonly act: (reason: string) => Promise<Outcome>;
  readonly close: () => void;
}) => {
  const own = useSubscriptionWords();
  const [reason, setReason] = useState('');
  return (
    <ActForm
      title={title}
      consequence={consequence}
      isReady={reason.trim() !== ''}
      close={close}
      act={() => act(reason.trim())}
    >
      <TextField label={own.reason} value={reason} set={setReason} hint={own.reasonHint} />
    </ActForm>
  );
};

/** Ends a subscription for good. */
export const CancelDialog = ({
  merchantId,
  id,
  close,
}: Ending & { readonly close: () => void }) => {
  const own = useSubscriptionWords();
  const cancel = useSend(CancelSubscription);
  return (
    <ReasonForm
      title={own.cancel}
      consequence={own.cancelText}
      close={close}
      act={(reason) => cancel({ merchantId, id, reason }, own.cancelled)}
    />
  );
};

/** Ends a saved method for good. */
export const EndTokenDialog = ({
  merchantId,
  id,
  close,
}: Ending & { readonly close: () => void }) => {
  const own = useSubscriptionWords();
  const cancel = useSend(CancelToken);
  return (
    <ReasonForm
      title={own.endTokenTitle}
      consequence={own.endTokenText}
      close={close}
      act={(reason) => cancel({ merchantId, id, reason }, own.tokenEnded)}
    />
  );
};
