/** A button of a form, a dialog or a list. Without a press it sends its form. */
import type { ReactNode } from 'react';

export const Button = ({
  press,
  isMain = false,
  isOff = false,
  autoFocus = false,
  label,
  children,
}: {
  readonly press?: () => void;
  readonly isMain?: boolean;
  readonly isOff?: boolean;
  readonly autoFocus?: boolean;
  /** Its name, where its content says too little. */
  readonly label?: string;
  readonly children: ReactNode;
}) => (
  <button
    type={press ? 'button' : 'submit'}
    className={isMain ? 'button main' : 'button'}
    disabled={isOff}
    autoFocus={autoFocus}
    aria-label={label}
    onClick={press}
  >
    {children}
  </button>
);
