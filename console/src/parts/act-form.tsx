/**
 * The dialog of something that moves money or cannot be undone: the consequence in words, one
 * button, disabled while it runs, and the result in place. Enter in a field confirms nothing.
 */
import { useState, type ReactNode } from 'react';
import { useWords } from '../words/words.ts';
import { Modal } from './modal.tsx';

/** What came of it: done, in words, or refused, in words. */
export type Outcome = { readonly done: string } | { readonly refused: string };

interface ActFormProps {
  readonly title: string;
  readonly consequence: string;
  /** Whether what was typed can be sent. */
  readonly isReady?: boolean;
  readonly act: () => Promise<Outcome>;
  readonly close: () => void;
  readonly children?: ReactNode;
  /** What is shown when it is done. */
  readonly result?: ReactNode;
}

/** The outcome of a graph's answer: data, or an error in words. */
export const outcomeOf = <Data,>(
  { data, error }: { readonly data?: Data | undefined; readonly error?: Error | undefined },
  read: (data: Data) => Outcome,
): Outcome => (data ? read(data) : { refused: error?.message ?? '' });

/** The outcome of a mutation that may be refused. */
export const ended = (
  result: { readonly __typename: string; readonly message?: string },
  done: string,
): Outcome => (result.__typename === 'Refused' ? { refused: result.message ?? '' } : { done });

/** The dialog. */
export const ActForm = ({
  title,
  consequence,
  isReady = true,
  act,
  close,
  children,
  result,
}: ActFormProps) => {
  const words = useWords();
  const [isRunning, setRunning] = useState(false);
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const run = async (): Promise<void> => {
    setRunning(true);
    setOutcome(await act());
    setRunning(false);
  };
  const isDone = outcome !== null && 'done' in outcome;
  return (
    <Modal title={title} isOpen onClose={close}>
      {!isDone && (
        <>
          <p>{consequence}</p>
          {children}
        </>
      )}
      <div aria-live="polite">
        {outcome && 'done' in outcome && <p className="done">{outcome.done}</p>}
        {isDone && result}
        {outcome && 'refused' in outcome && (
          <p className="bad">
            {words.acts.refused}: {outcome.refused}
          </p>
        )}
      </div>
      <footer className="dialog-foot">
        {/* The button that was pressed is gone then: the focus must not be lost with it. */}
        <button
          key={String(isDone)}
          type="button"
          className="button"
          autoFocus={isDone}
          onClick={close}
        >
          {isDone ? words.close : words.cancel}
        </button>
        {!isDone && (
          <button
            type="button"
            className="button main"
            disabled={!isReady || isRunning}
            onClick={() => void run()}
          >
            {isRunning ? words.acts.running : title}
          </button>
        )}
      </footer>
    </Modal>
  );
};
