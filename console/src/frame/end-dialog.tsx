/** Explains why the page cannot continue, and offers the next step. */
import { Modal } from '../parts/modal.tsx';
import { goToLogin } from '../session.ts';
import { useWords } from '../words/words.ts';

/** Why a page cannot continue. */
export type End = 'loggedOut' | 'outdated';

/** The dialog. */
export const EndDialog = ({ end, close }: { readonly end: End; readonly close: () => void }) => {
  const words = useWords();
  const isOut = end === 'loggedOut';
  return (
    <Modal title={isOut ? words.login.ended : words.failure.outdated} isOpen onClose={close}>
      {isOut && <p>{words.login.text}</p>}
      <footer className="dialog-foot">
        <button
          type="button"
          className="button main"
          onClick={() => (isOut ? goToLogin() : location.reload())}
        >
          {isOut ? words.login.go : words.failure.reload}
        </button>
      </footer>
    </Modal>
  );
};
