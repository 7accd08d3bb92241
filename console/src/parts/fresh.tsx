/** How many new rows are above while the list is scrolled. */
import { useWords } from '../words/words.ts';

/** The chip that shows them. */
export const Fresh = ({ count, show }: { readonly count: number; readonly show: () => void }) => {
  const { live } = useWords();
  if (count === 0) return null;
  return (
    <button type="button" className="chip fresh" onClick={show}>
      {live.fresh(count)}
    </button>
  );
};
