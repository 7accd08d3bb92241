/** What a person may do with a subscription. */
import { reason_max_chars } from '../../../schema/limits.ts';
import { useState } from 'react';
import { useMutation } from 'urql';
import { PauseSubscription, ResumeSubscription } from '../../../schema/generated/console.ts';
import { ActButton } from '../parts/act-button.tsx';
import { ActForm } from '../parts/act-form.tsx';
import { outcomeOf, refusedBy } from '../parts/outcome.ts';
import { usePermission } from '../viewer.tsx';
import { useSubscriptionWords } from '../words/subscriptions.ts';
import { CancelDialog } from './cancel-dialogs.tsx';
import type { SubscriptionDetails } from './subscription-details.ts';

interface ActProps {
  readonly subscription: Pick<SubscriptionDetails, 'merchantId' | 'id' | 'status'>;
}

const PauseDialog = ({
  subscription: { merchantId, id },
  close,
}: ActProps & { readonly close: () => void }) => {
  const own = useSubscriptionWords();
  const [reason, setReason] = useState('');
  const [, pause] = useMutation(PauseSubscription);
  return (
    <ActForm
      title={own.pause}
      consequence={own.pauseText}
      close={close}
      act={async () =>
        outcomeOf(
          await pause({ merchantId, id, reason: reason.trim() || null }),
          ({ subscriptionPause: result }) =>
            result.__typename === 'Refused' ? refusedBy(result) : { done: own.pausedNow },
        )
      }
    >
      <label className="field">
        {own.reason}
        <input
          value={reason}
          maxLength={reason_max_chars}
          onChange={(event) => setReason(event.target.value)}
        />
        <span className="quiet">{own.reasonHint}</span>
      </label>
    </ActForm>
  );
};

const ResumeDialog = ({
  subscription: { merchantId, id },
  close,
}: ActProps & { readonly close: () => void }) => {
  const own = useSubscriptionWords();
  const [, resume] = useMutation(ResumeSubscription);
  return (
    <ActForm
      title={own.resume}
      consequence={own.resumeText}
      close={close}
      act={async () =>
        outcomeOf(await resume({ merchantId, id }), ({ subscriptionResume: result }) =>
          result.__typename === 'Refused' ? refusedBy(result) : { done: own.resumed },
        )
      }
    />
  );
};

/** The buttons, and the dialog that is open. */
export const SubscriptionActs = ({
  subscription,
  again,
}: ActProps & { readonly again: () => void }) => {
  const own = useSubscriptionWords();
  const [open, setOpen] = useState<'pause' | 'resume' | 'cancel' | null>(null);
  const pause = usePermission('subscriptionPause');
  const resume = usePermission('subscriptionResume');
  const cancel = usePermission('subscriptionCancel');
  const close = (): void => {
    setOpen(null);
    again();
  };
  const { status } = subscription;
  if (status === 'cancelled') return null;
  return (
    <div className="acts">
      {(status === 'active' || status === 'past_due') && (
        <ActButton permission={pause} onPress={() => setOpen('pause')}>
          {own.pause}
        </ActButton>
      )}
      {status === 'paused' && (
        <ActButton permission={resume} isMain onPress={() => setOpen('resume')}>
          {own.resume}
        </ActButton>
      )}
      <ActButton permission={cancel} onPress={() => setOpen('cancel')}>
        {own.cancel}
      </ActButton>
      {open === 'cancel' && (
        <CancelDialog merchantId={subscription.merchantId} id={subscription.id} close={close} />
      )}
      {open === 'pause' && <PauseDialog subscription={subscription} close={close} />}
      {open === 'resume' && <ResumeDialog subscription={subscription} close={close} />}
    </div>
  );
};
