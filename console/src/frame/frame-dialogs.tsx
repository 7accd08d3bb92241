/** The dialogs of the frame: why the page cannot continue, and the keyboard shortcuts. */
import { Button } from '../parts/button.tsx';
import { Modal } from '../parts/modal.tsx';
import { goToLogin } from '../viewer.tsx';
import { words } from '../words/words.ts';
import { keyOf, useSections } from './sections.tsx';

export type End = 'loggedOut' | 'outdated';

export const EndDialog = ({ end, close }: { readonly end: End; readonly close: () => void }) => {
  const isOut = end === 'loggedOut';
  return (
    <Modal title={isOut ? words.login.ended : words.failure.outdated} onClose={close}>
      {isOut && <p>{words.login.text}</p>}
      <footer className="dialog-foot">
        <Button isMain press={() => (isOut ? goToLogin() : location.reload())}>
          {isOut ? words.login.go : words.failure.reload}
        </Button>
      </footer>
    </Modal>
  );
};

export const ShortcutsList = ({ close }: { readonly close: () => void }) => {
  const places = useSections().map(
    (section) => [`g ${keyOf[section]}`, words.sections[section]] as const,
  );
  return (
    <Modal title={words.shortcuts.title} isDismissable onClose={close}>
      <dl className="shortcuts">
        {[...words.shortcuts.rows, ...places].map(([keys, what]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Modal>
  );
};
