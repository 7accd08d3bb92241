/** A field and the list of what its text finds; arrows move, Enter chooses. */
import { useEffect, useRef, useState, type KeyboardEvent, type ReactNode } from 'react';

export const useRested = (text: string): string => {
  const [rested, setRested] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setRested(text), 150);
    return () => clearTimeout(timer);
  }, [text]);
  return rested;
};

interface FoundProps<One> {
  readonly found: readonly One[];
  readonly choose: (one: One) => void;
  readonly show: (one: One) => ReactNode;
}

const FoundLines = <One extends { readonly key: string }>({
  label,
  found,
  here,
  choose,
  show,
}: FoundProps<One> & {
  readonly label: string;
  /** Which of them Enter chooses. */
  readonly here: number;
}) => (
  <ul className="find-list" id="found" role="listbox" aria-label={label}>
    {found.map((one, index) => (
      <li
        key={one.key}
        id={`found-${index}`}
        ref={index === here ? (line) => line?.scrollIntoView({ block: 'nearest' }) : undefined}
        role="option"
        aria-selected={index === here}
        onClick={() => choose(one)}
      >
        {show(one)}
      </li>
    ))}
  </ul>
);

export const FindList = <One extends { readonly key: string }>({
  label,
  listLabel,
  text,
  setText,
  found,
  choose,
  show,
  status,
}: FoundProps<One> & {
  readonly label: string;
  readonly listLabel: string;
  readonly text: string;
  readonly setText: (text: string) => void;
  readonly status: string;
}) => {
  const [place, setPlace] = useState(0);
  const field = useRef<HTMLInputElement>(null);
  // Not `autoFocus`: a dialog around this one takes back what is focused before the effects.
  useEffect(() => field.current?.focus(), []);
  const here = Math.min(place, Math.max(0, found.length - 1));
  const press = (event: KeyboardEvent): void => {
    const one = found[here];
    if (event.key === 'ArrowDown') setPlace(Math.min(here + 1, found.length - 1));
    else if (event.key === 'ArrowUp') setPlace(Math.max(here - 1, 0));
    else if (event.key !== 'Enter') return;
    else if (one) choose(one);
    event.preventDefault();
  };
  return (
    <>
      <input
        ref={field}
        className="find-field"
        role="combobox"
        aria-expanded
        aria-controls="found"
        aria-activedescendant={found.length > 0 ? `found-${here}` : undefined}
        aria-label={label}
        placeholder={label}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setPlace(0);
        }}
        onKeyDown={press}
      />
      <FoundLines label={listLabel} found={found} here={here} choose={choose} show={show} />
      <p className="quiet" role="status">
        {status}
      </p>
    </>
  );
};
