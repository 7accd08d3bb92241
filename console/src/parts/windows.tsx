/** What draws dialogs, drawers and popovers: focus stays in them, and returns where it was before. */
import { type ReactNode, useEffect, useRef, type RefObject } from 'react';
import { Dialog, Heading, Modal as AriaModal, ModalOverlay, Popover } from 'react-aria-components';
import { words } from '../words/words.ts';
import { Icon } from './icon.tsx';

/* Escape closes the topmost dialog when nothing has the focus: the focused element may be gone. */

/** Dialogs under another one are hidden and are ignored. */
const COVERED = '[inert], [aria-hidden="true"]';

/** Returns the ref of the dialog to close. */
const useEscape = (onClose: () => void): RefObject<HTMLElement | null> => {
  const ref = useRef<HTMLElement | null>(null);
  useEffect(() => {
    const end = ({ key }: KeyboardEvent): void => {
      const isLost = document.activeElement === document.body;
      if (key === 'Escape' && isLost && ref.current?.closest(COVERED) === null) onClose();
    };
    document.addEventListener('keydown', end);
    return () => document.removeEventListener('keydown', end);
  }, [onClose]);
  return ref;
};

interface ModalProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly side?: boolean;
  /** Whether a click outside closes it: only where nothing is lost. */
  readonly isDismissable?: boolean;
  /** Whether only its own buttons close it: its content is shown once. */
  readonly isHeld?: boolean;
  readonly head?: ReactNode;
  readonly children: ReactNode;
}

const stay = (): void => {};

/** What is mounted with the dialog, and so knows its element. */
const OpenDialog = ({
  onClose,
  children,
}: {
  readonly onClose: () => void;
  readonly children: ReactNode;
}) => (
  <Dialog className="dialog" ref={useEscape(onClose)}>
    {children}
  </Dialog>
);

export const ModalWindow = ({
  title,
  onClose,
  side = false,
  isDismissable = side,
  isHeld = false,
  head,
  children,
}: ModalProps) => (
  <ModalOverlay
    className={side ? 'overlay overlay-side' : 'overlay'}
    isOpen
    onOpenChange={(open) => {
      if (!open) onClose();
    }}
    isDismissable={isDismissable}
    isKeyboardDismissDisabled={isHeld}
  >
    <AriaModal className={side ? 'drawer' : 'modal'}>
      <OpenDialog onClose={isHeld ? stay : onClose}>
        <header className="dialog-head">
          <Heading slot="title" className="dialog-title">
            {title}
          </Heading>
          {head}
          {!isHeld && (
            <button
              type="button"
              className="icon-button"
              aria-label={words.close}
              onClick={onClose}
            >
              <Icon name="close" />
            </button>
          )}
        </header>
        <div className="dialog-body">{children}</div>
      </OpenDialog>
    </AriaModal>
  </ModalOverlay>
);

export const PopoverWindow = ({
  title,
  trigger,
  close,
  children,
}: {
  readonly title: string;
  readonly trigger: RefObject<HTMLElement | null>;
  readonly close: () => void;
  readonly children: ReactNode;
}) => (
  <Popover
    className="popover"
    placement="bottom start"
    triggerRef={trigger}
    isOpen
    onOpenChange={(isOpen) => {
      if (!isOpen) close();
    }}
  >
    <Dialog className="dialog" aria-label={title}>
      {children}
    </Dialog>
  </Popover>
);
