/** What people wrote about a payment, and the field to write more. */
import { note_max_chars } from '../../../schema/limits.ts';
import { useMemo, useState } from 'react';
import { useMutation } from 'urql';
import { AddNote } from '../../../schema/generated/console.ts';
import { wholeNumber } from '../format.ts';
import { ended, outcomeOf, type Outcome } from '../parts/outcome.ts';
import { OutcomeText } from '../parts/act-form.tsx';
import { Moment } from '../parts/texts.tsx';
import { usePermission } from '../viewer.tsx';
import { useCustomerWords } from '../words/customers.ts';
import { useWords } from '../words/words.ts';
import type { PaymentDetails } from './payment-details.ts';

/** The text that an erasure of personal data leaves in place of a note. */
const erased = 'erased';

/** Writes a text once, however often it is sent. */
const useWriting = ({ merchantId, id }: PaymentDetails, again: () => void) => {
  const [text, setText] = useState('');
  const [isRunning, setRunning] = useState(false);
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const [, add] = useMutation(AddNote);
  const trimmed = text.trim();
  const key = useMemo(() => `note-${trimmed && crypto.randomUUID()}`, [trimmed]);
  const write = async (): Promise<void> => {
    setRunning(true);
    const answer = await add({ merchantId, id, text: trimmed, key });
    const came = outcomeOf(answer, ({ paymentNoteAdd }) => ended(paymentNoteAdd, ''));
    setRunning(false);
    setOutcome('done' in came ? null : came);
    if ('done' in came) setText('');
    again();
  };
  const fits = trimmed !== '' && Array.from(trimmed).length <= note_max_chars;
  return { text, setText, outcome, isReady: fits && !isRunning, write: () => void write() };
};

const NewNote = ({
  payment,
  again,
}: {
  readonly payment: PaymentDetails;
  readonly again: () => void;
}) => {
  const words = useCustomerWords();
  const { locale } = useWords();
  const permission = usePermission('paymentNoteAdd');
  const { text, setText, outcome, isReady, write } = useWriting(payment, again);
  if (!permission.granted) return null;
  return (
    <div className="new-note">
      <label className="field">
        {words.note}
        <textarea
          rows={2}
          value={text}
          aria-describedby="note-hint"
          onChange={({ target }) => setText(target.value)}
        />
        <span id="note-hint" className="quiet">
          {words.noteHint(wholeNumber(note_max_chars, locale))}
        </span>
      </label>
      <button type="button" className="button" disabled={!isReady} onClick={write}>
        {words.add}
      </button>
      <div aria-live="polite">
        {outcome && <OutcomeText outcome={outcome} isRepeated={false} />}
      </div>
    </div>
  );
};

/** The block. */
export const Notes = ({
  payment,
  again,
}: {
  readonly payment: PaymentDetails;
  readonly again: () => void;
}) => {
  const words = useCustomerWords();
  return (
    <section className="notes" aria-label={words.notes}>
      <h2>{words.notes}</h2>
      {payment.notes.length > 0 && (
        <ul>
          {payment.notes.map(({ id, author, createdAt, text }) => (
            <li key={id}>
              <p className="quiet line">
                <span>{author}</span> <Moment at={createdAt} />
              </p>
              <p className={text === erased ? 'quiet' : 'break'}>
                {text === erased ? words.erased : text}
              </p>
            </li>
          ))}
        </ul>
      )}
      <NewNote payment={payment} again={again} />
    </section>
  );
};
