/** Shows the whole phone or account of a recipient to who may see it; the audit log has each look. */
import { useState } from 'react';
import { useMutation } from 'urql';
import { RevealRecipient } from '../../../schema/generated/console.ts';
import { ActButton } from '../parts/act-button.tsx';
import { outcomeOf, refusedBy, type Outcome } from '../parts/outcome.ts';
import { OutcomeText } from '../parts/act-form.tsx';
import { usePermission } from '../viewer.tsx';
import { useDraftWords } from '../words/drafts.ts';

/** The button, and what it has shown. `id`: of a payout or of a draft. */
export const RevealAct = ({
  merchantId,
  id,
}: {
  readonly merchantId: string;
  readonly id: string;
}) => {
  const own = useDraftWords();
  const permission = usePermission('payoutRecipientReveal');
  const [, reveal] = useMutation(RevealRecipient);
  const [isRunning, setRunning] = useState(false);
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const show = async (): Promise<void> => {
    setRunning(true);
    setOutcome(
      outcomeOf(await reveal({ merchantId, id }), ({ payoutRecipientReveal: result }) => {
        if (result.__typename === 'Refused') return refusedBy(result);
        const { phone, accountNumber, inn } = result.recipient;
        const parts = [phone ?? accountNumber, inn && `${own.inn} ${inn}`];
        return { done: parts.filter(Boolean).join(' · ') };
      }),
    );
    setRunning(false);
  };
  if (outcome && 'done' in outcome)
    return (
      <p className="mono" role="status">
        {outcome.done}
      </p>
    );
  return (
    <>
      <ActButton
        permission={permission}
        onPress={() => {
          if (!isRunning) void show();
        }}
      >
        {own.reveal}
      </ActButton>
      {permission.granted && <span className="quiet">{own.revealHint}</span>}
      {outcome && <OutcomeText outcome={outcome} isRepeated />}
    </>
  );
};
