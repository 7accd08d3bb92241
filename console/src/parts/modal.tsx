/** Dialogs, drawers and popovers. What draws them is loaded on first use, or ahead, behind the first screen. */
import { useRef, useState, type ReactNode } from 'react';
import { later } from './later.tsx';

export const Modal = later(async () => (await import('./windows.tsx')).ModalWindow);

export const LaterPopover = later(async () => (await import('./windows.tsx')).PopoverWindow);

/** The button; `children` make the dialog's content. */
export const PopoverButton = ({
  className,
  title,
  face,
  children,
}: {
  readonly className: string;
  /** The name of the dialog, and of a button that shows no text. */
  readonly title: string;
  readonly face: ReactNode;
  readonly children: (close: () => void) => ReactNode;
}) => {
  const button = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  const close = (): void => setOpen(false);
  return (
    <>
      <button
        ref={button}
        type="button"
        className={className}
        aria-label={className === 'icon-button' ? title : undefined}
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        onClick={() => setOpen(true)}
      >
        {face}
      </button>
      {isOpen && (
        <LaterPopover title={title} trigger={button} close={close}>
          {children(close)}
        </LaterPopover>
      )}
    </>
  );
};
