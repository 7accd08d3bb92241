/** The days of a list by one press; the address keeps their moments. */
import { useAddress } from '../address.ts';
import { useWords } from '../words/words.ts';
import { Icon } from './icon.tsx';

/** The start of the day so many days ago, in the person's zone. */
const startOfDay = (daysAgo: number): string => {
  const day = new Date();
  day.setHours(0, 0, 0, 0);
  day.setDate(day.getDate() - daysAgo);
  return day.toISOString();
};

/** The chips. */
export const DateChips = () => {
  const { filters, locale } = useWords();
  const { search, set } = useAddress();
  const { since, until } = search;
  const fromTheTop = { after: undefined, before: undefined };
  const clear = { since: undefined, until: undefined };
  const day = (at: string): string =>
    new Date(at).toLocaleString(locale, { dateStyle: 'short', timeStyle: 'short' });
  if (since !== undefined || until !== undefined) {
    const text = [
      since && `${filters.since} ${day(since)}`,
      until && `${filters.until} ${day(until)}`,
    ]
      .filter(Boolean)
      .join(', ');
    return (
      <div className="chips">
        <button
          type="button"
          className="chip chosen"
          aria-label={filters.remove(text)}
          onClick={() => set({ ...fromTheTop, ...clear })}
        >
          {text}
          <Icon name="close" />
        </button>
      </div>
    );
  }
  const presets = [
    [filters.today, { since: startOfDay(0), until: undefined }],
    [filters.yesterday, { since: startOfDay(1), until: startOfDay(0) }],
    [filters.week, { since: startOfDay(6), until: undefined }],
    [filters.month, { since: startOfDay(29), until: undefined }],
  ] as const;
  return (
    <div className="chips" role="group" aria-label={filters.dates}>
      {presets.map(([name, preset]) => (
        <button
          key={name}
          type="button"
          className="chip"
          onClick={() => set({ ...fromTheTop, ...preset })}
        >
          {name}
        </button>
      ))}
    </div>
  );
};
