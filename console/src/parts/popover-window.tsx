/** What a popover button opens. */
import type { ReactNode, RefObject } from 'react';
import { Dialog, Popover } from 'react-aria-components';

/** The dialog beside its button. */
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
    placement="bottom"
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
