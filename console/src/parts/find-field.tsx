/** Narrows a list to what a text finds; the address keeps the text. */
import { useState } from 'react';
import { useAddress } from '../address.ts';
import { useSharedWords } from '../words/shared.ts';

/** The field. `read` gives what of a typed text is kept. */
export const FindField = ({
  label,
  read,
}: {
  readonly label: string;
  readonly read: (text: string) => string;
}) => {
  const { find } = useSharedWords();
  const { search, set } = useAddress();
  const [text, setText] = useState(search.of ?? '');
  return (
    <form
      className="find"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        const kept = read(text.trim());
        setText(kept);
        set({ of: kept || undefined, after: undefined, before: undefined });
      }}
    >
      <input
        type="search"
        aria-label={label}
        placeholder={label}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <button type="submit" className="button">
        {find}
      </button>
    </form>
  );
};
