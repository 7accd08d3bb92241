/** Fields of a dialog's form. */
import { useId } from 'react';

/** A text field with its label and constraints. */
export const TextField = ({
  label,
  value,
  set,
  hint = '',
  isSecret = false,
  isNumber = false,
  maxLength,
}: {
  readonly label: string;
  readonly value: string;
  readonly set: (value: string) => void;
  readonly hint?: string;
  readonly isSecret?: boolean;
  readonly isNumber?: boolean;
  /** In characters; the service refuses a longer text in any case. */
  readonly maxLength?: number;
}) => {
  const id = useId();
  return (
    <label className="field">
      {label}
      <input
        type={isSecret ? 'password' : 'text'}
        inputMode={isNumber ? 'decimal' : 'text'}
        autoComplete="off"
        spellCheck={false}
        maxLength={maxLength}
        value={value}
        aria-describedby={hint === '' ? undefined : id}
        onChange={(event) => set(event.target.value)}
      />
      {hint !== '' && (
        <span id={id} className="quiet">
          {hint}
        </span>
      )}
    </label>
  );
};

/** A choice between a few values. */
export const PickField = <Value extends string>({
  label,
  value,
  set,
  options,
}: {
  readonly label: string;
  readonly value: Value;
  readonly set: (value: Value) => void;
  readonly options: readonly (readonly [value: Value, name: string])[];
}) => (
  <label className="field">
    {label}
    <select
      value={value}
      onChange={({ target }) => {
        const found = options.find(([one]) => one === target.value);
        if (found) set(found[0]);
      }}
    >
      {options.map(([one, name]) => (
        <option key={one} value={one}>
          {name}
        </option>
      ))}
    </select>
  </label>
);
