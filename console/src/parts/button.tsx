/** Buttons, and the forms that they send. */
import type { ReactNode } from 'react';

/** A form. `send` receives what its fields hold. */
export const Form = ({
  send,
  ...form
}: {
  readonly send: (typed: FormData) => void;
  readonly className?: string;
  readonly role?: 'search';
  readonly children: ReactNode;
}) => (
  <form
    {...form}
    onSubmit={(event) => {
      event.preventDefault();
      send(new FormData(event.currentTarget));
    }}
  />
);

/** The button. Without a press it sends its form. */
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
