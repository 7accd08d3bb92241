/** The record behind a line, folded away under it, to be read and copied. */
import { useState, type ReactNode } from 'react';
import { CopyBlock } from './texts.tsx';

/** A line that opens to its record as JSON; the text is made when it is opened. */
export const Raw = ({ head, record }: { readonly head: ReactNode; readonly record: unknown }) => {
  const [isOpen, setOpen] = useState(false);
  return (
    <details className="raw" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <span className="line">{head}</span>
      </summary>
      {isOpen && <CopyBlock text={JSON.stringify(record, null, 2)} />}
    </details>
  );
};
