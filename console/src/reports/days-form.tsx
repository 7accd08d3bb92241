/** A form of any days, from the first to the last one. */
import { useState, type ReactNode } from 'react';
import { useAddress } from '../address.ts';
import { useClosingWords } from '../words/reports.ts';
import { isDay, isSame, momentsOf, type Days } from './days.ts';

/** The form; it stands in one row with what also chooses days. */
export const DaysForm = ({
  days,
  children,
}: {
  readonly days: Days;
  readonly children?: ReactNode;
}) => {
  const words = useClosingWords();
  const { set } = useAddress();
  const [typed, setTyped] = useState(days);
  const isSpan = momentsOf(typed) !== null;
  const field = (name: keyof Days) => (
    <label className="field">
      {words[name]}
      <input
        type="date"
        value={typed[name]}
        onChange={({ target }) => setTyped({ ...typed, [name]: target.value })}
      />
    </label>
  );
  return (
    <form
      className="filter-row"
      onSubmit={(event) => {
        event.preventDefault();
        if (isSpan) set({ from: typed.first, to: typed.last });
      }}
    >
      {children}
      {field('first')}
      {field('last')}
      <button type="submit" className="button" disabled={!isSpan || isSame(typed, days)}>
        {words.show}
      </button>
      {isDay(typed.first) && isDay(typed.last) && !isSpan && (
        <p className="quiet" role="status">
          {words.wrongDays}
        </p>
      )}
    </form>
  );
};
