/** The list of keyboard shortcuts. */
import { Modal } from '../parts/modal.tsx';
import { keyOf, useSections } from './sections.tsx';
import { useWords } from '../words/words.ts';

/** The dialog. */
export const ShortcutsList = ({ close }: { readonly close: () => void }) => {
  const { shortcuts, sections: names } = useWords();
  const places = useSections().map((section) => [`g ${keyOf[section]}`, names[section]] as const);
  return (
    <Modal title={shortcuts.title} isOpen isDismissable onClose={close}>
      <dl className="shortcuts">
        {[...shortcuts.rows, ...places].map(([keys, what]) => (
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
