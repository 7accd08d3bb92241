/** Escape closes the uppermost dialog when nothing has the focus: what had it may be gone. */
import { useEffect, useRef, type RefObject } from 'react';

/** What is under another dialog is hidden, and is not meant. */
const COVERED = '[inert], [aria-hidden="true"]';

/** Gives the ref of the dialog that closes. */
export const useEscape = (onClose: () => void): RefObject<HTMLElement | null> => {
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
