/** Fields of a dialog's form. */
import { useId, useState, type ChangeEvent, type ReactNode } from 'react';

/** What a field holds, and what takes what is typed or chosen. */
export interface Held<Value> {
  readonly value: Value;
  readonly set: (value: Value) => void;
}

export interface Labelled<Value> extends Held<Value> {
  readonly label: string;
}

/** What is typed into a form, and what each of its fields holds and takes. */
export const useTyped = <Typed extends object>(initial: Typed) => {
  const [typed, setTyped] = useState(initial);
  const type = (change: Partial<Typed>): void => setTyped((before) => ({ ...before, ...change }));
  const held = <Name extends keyof Typed>(name: Name): Held<Typed[Name]> => ({
    value: typed[name],
    set: (value) => setTyped((before) => ({ ...before, [name]: value })),
  });
  return { typed, type, held };
};

export const TextField = ({
  label,
  value,
  set,
  hint = '',
  isSecret = false,
  isNumber = false,
  inputMode = isNumber ? 'decimal' : 'text',
  isWrong,
  maxLength,
  autoFocus = false,
  rows,
  onBlur,
}: Labelled<string> & {
  readonly hint?: string;
  readonly isSecret?: boolean;
  readonly isNumber?: boolean;
  readonly inputMode?: 'decimal' | 'numeric' | 'tel' | 'text';
  readonly onBlur?: () => void;
  /** Whether the hint says what is wrong. */
  readonly isWrong?: boolean;
  readonly autoFocus?: boolean;
  /** Of a text with lines, which is written and not only typed. */
  readonly rows?: number;
  /** In characters; the service refuses a longer text in any case. */
  readonly maxLength?: number | undefined;
}) => {
  const id = useId();
  const field = {
    maxLength,
    value,
    'aria-describedby': hint === '' ? undefined : id,
    onChange: ({ target }: ChangeEvent<HTMLInputElement | HTMLTextAreaElement>) =>
      set(target.value),
  };
  return (
    <label className="field">
      {label}
      {rows === undefined ? (
        <input
          {...field}
          type={isSecret ? 'password' : 'text'}
          inputMode={inputMode}
          autoComplete="off"
          spellCheck={false}
          autoFocus={autoFocus}
          aria-invalid={isWrong}
          onBlur={onBlur}
        />
      ) : (
        <textarea {...field} rows={rows} />
      )}
      {hint !== '' && (
        <span id={id} className={isWrong ? 'bad' : 'quiet'}>
          {hint}
        </span>
      )}
    </label>
  );
};

export const CheckField = ({
  label,
  value,
  set,
  isFixed = false,
}: Labelled<boolean> & {
  readonly isFixed?: boolean;
}) => (
  <fieldset className="options">
    <label>
      <input
        type="checkbox"
        checked={value}
        disabled={isFixed}
        onChange={({ target }) => set(target.checked)}
      />
      {label}
    </label>
  </fieldset>
);

/** The chosen values with one more, or without it where it was chosen. */
export const toggled = <Value,>(chosen: readonly Value[], value: Value): readonly Value[] =>
  chosen.includes(value) ? chosen.filter((one) => one !== value) : [...chosen, value];

/** Values of which any number may be chosen; `children` stand before them. */
export const CheckList = <Value extends string>({
  label,
  value: chosen,
  set,
  options,
  className = 'options',
  children,
}: Labelled<readonly Value[]> & {
  readonly options: readonly (readonly [value: Value, name: ReactNode])[];
  readonly className?: string;
  readonly children?: ReactNode;
}) => (
  <fieldset className={className}>
    <legend>{label}</legend>
    {children}
    {options.map(([one, name]) => (
      <label key={one}>
        <input
          type="checkbox"
          checked={chosen.includes(one)}
          onChange={() => set(toggled(chosen, one))}
        />
        {name}
      </label>
    ))}
  </fieldset>
);

export const PickField = <Value extends string>({
  label,
  value,
  set,
  options,
  isInline = false,
}: Labelled<Value> & {
  readonly options: readonly (readonly [value: Value, name: string])[];
  /** Whether it stands in a row of filters, behind its label. */
  readonly isInline?: boolean;
}) => (
  <label className={isInline ? 'inline-field' : 'field'}>
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

/** A choice between shops; `all` names that of none. */
export const ShopPick = ({
  label,
  shops,
  value,
  set,
  all,
}: Labelled<string> & {
  readonly shops: readonly { readonly id: string; readonly name: string }[];
  readonly all?: string;
}) => {
  const options = shops.map(({ id, name }) => [id, name] as const);
  const none = all === undefined ? [] : [['', all] as const];
  return <PickField label={label} value={value} set={set} options={[...none, ...options]} />;
};

export const DateField = ({
  label,
  value,
  set,
  isInline = false,
  hasTime = false,
  hint,
}: Labelled<string> & {
  readonly isInline?: boolean;
  readonly hasTime?: boolean;
  readonly hint?: string;
}) => (
  <label className={isInline ? 'inline-field' : 'field'}>
    {label}
    <input
      type={hasTime ? 'datetime-local' : 'date'}
      value={value}
      onChange={({ target }) => set(target.value)}
    />
    {hint !== undefined && <span className="quiet">{hint}</span>}
  </label>
);

/** A file; below it stands its hint, or why it was not taken. */
export const FileField = ({
  label,
  accept,
  hint,
  fault,
  take,
}: Readonly<Record<'label' | 'accept' | 'hint' | 'fault', string>> & {
  readonly take: (file: File) => Promise<void>;
}) => (
  <label className="field">
    {label}
    <input
      type="file"
      accept={accept}
      onChange={({ target }) => {
        const [file] = target.files ?? [];
        // The same file may be chosen again once it was corrected.
        if (file) void take(file).finally(() => (target.value = ''));
      }}
    />
    <span className={fault === '' ? 'quiet' : 'bad'} role="status">
      {fault || hint}
    </span>
  </label>
);
