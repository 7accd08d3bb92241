/** The raw record of a line, collapsed, for reading and copying. */
import { useState, type ReactNode } from 'react';
import { CopyBlock } from './texts.tsx';

/** A line that expands to its record as JSON; the text is made on expansion. */
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
