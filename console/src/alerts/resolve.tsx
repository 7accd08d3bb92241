/** Resolves an alert with a note. */
import { policyReason_max_chars } from '../../../schema/limits.ts';
import { useState } from 'react';
import { useMutation } from 'urql';
import { ResolveAlert, type AlertsQuery } from '../../../schema/generated/console.ts';
import { ActForm } from '../parts/act-form.tsx';
import { outcomeOf, refusedBy } from '../parts/outcome.ts';
import { useAlertWords } from '../words/alerts.ts';
import { useWords } from '../words/words.ts';

type Alert = AlertsQuery['alerts']['nodes'][number];

/** The dialog. */
export const ResolveDialog = ({
  alert,
  close,
}: {
  readonly alert: Pick<Alert, 'id' | 'merchantId' | 'kind'>;
  readonly close: () => void;
}) => {
  const words = useWords();
  const { sentences } = useAlertWords();
  const [note, setNote] = useState('');
  const [, resolve] = useMutation(ResolveAlert);
  const { merchantId, id } = alert;
  return (
    <ActForm
      title={words.alert.resolve}
      consequence={sentences[alert.kind]}
      isReady={note.trim() !== ''}
      close={close}
      act={async () =>
        outcomeOf(
          await resolve({ merchantId, id, note: note.trim() }),
          ({ alertResolve: result }) =>
            result.__typename === 'Alert' ? { done: words.alert.done } : refusedBy(result),
        )
      }
    >
      <label className="field">
        {words.alert.note}
        <textarea
          rows={3}
          maxLength={policyReason_max_chars}
          value={note}
          onChange={(event) => setNote(event.target.value)}
        />
      </label>
    </ActForm>
  );
};
