/** Resolves differences one after another with one reason; resolved ones stay resolved. */
import { useState } from 'react';
import { useMutation } from 'urql';
import { ResolveDifference } from '../../../schema/generated/console.ts';
import { ActForm } from '../parts/act-form.tsx';
import type { Outcome } from '../parts/outcome.ts';
import { useRefusalText } from '../parts/refusal.tsx';
import { TextField } from '../parts/fields.tsx';
import { useReconciliationWords } from '../words/reconciliation.ts';

interface Difference {
  readonly id: string;
  readonly merchantId: string | null;
}

/** The dialog. */
export const ResolveDialog = ({
  rows,
  close,
}: {
  readonly rows: readonly Difference[];
  readonly close: () => void;
}) => {
  const own = useReconciliationWords();
  const [note, setNote] = useState('');
  const [done, setDone] = useState(0);
  const refusalText = useRefusalText();
  const [, resolve] = useMutation(ResolveDifference);
  const act = async (): Promise<Outcome> => {
    for (const [index, { id, merchantId }] of rows.entries()) {
      const { data, error } = await resolve({ merchantId, id, note: note.trim() });
      const result = data?.reconciliationDifferenceResolve;
      if (result?.__typename !== 'ReconciliationDifference')
        return {
          refused: own.partly(index, rows.length, refusalText(result, error)),
        };
      setDone(index + 1);
    }
    return { done: own.resolved(rows.length) };
  };
  return (
    <ActForm
      title={own.resolve(rows.length)}
      consequence={own.resolveText(rows.length)}
      isReady={note.trim() !== '' && note.trim().length <= 500}
      close={close}
      act={act}
    >
      <TextField label={own.note} value={note} set={setNote} />
      <progress max={rows.length} value={done} aria-label={own.resolve(rows.length)} />
    </ActForm>
  );
};
