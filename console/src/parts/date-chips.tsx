/** Date presets for a list; the address keeps their moments. */
import { useAddress } from '../address.ts';
import { plainMoment } from '../format.ts';
import { useWords } from '../words/words.ts';
import { startOfDay } from '../zone.ts';
import { Icon } from './icon.tsx';

const dayStart = (daysAgo: number): string => startOfDay(daysAgo).toISOString();

/** The chips. */
export const DateChips = () => {
  const { filters, locale } = useWords();
  const { search, set } = useAddress();
  const { since, until } = search;
  const fromTheTop = { after: undefined, before: undefined };
  const clear = { since: undefined, until: undefined };
  const day = (at: string): string => plainMoment(at, locale);
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
    [filters.today, { since: dayStart(0), until: undefined }],
    [filters.yesterday, { since: dayStart(1), until: dayStart(0) }],
    [filters.week, { since: dayStart(6), until: undefined }],
    [filters.month, { since: dayStart(29), until: undefined }],
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
