/**
 * What a text that a person types into the search may be. A text may be several things: all are
 * looked for.
 */
import { charactersOf } from '../../kernel/rules/text-mistake.ts';
import { uuidInAnyCase } from '../../kernel/rules/uuid.ts';

/** The ways in which things are looked for, each a statement of its own. */
export type SearchWay = 'id' | 'event' | 'token' | 'request';

/** Longer texts name nothing. */
export const searchText_max_chars = 500;

/** Letters of a text that may each be е or ё in what is looked for: so many at most. */
const guessed_max = 4;

/**
 * A text as somebody may have spelled what it names, beside itself: composed or not, and with е for
 * ё and the other way round. Order numbers and names of customers are kept as they came.
 */
export const spellings = (text: string): readonly string[] => {
  const composed = text.normalize('NFC');
  const places = Array.from(composed.matchAll(/[её]/giu), ({ index }) => index).slice(
    0,
    guessed_max,
  );
  const swapped: Readonly<Record<string, string>> = { е: 'ё', ё: 'е', Е: 'Ё', Ё: 'Е' };
  const spelled = places.reduce(
    (texts, place) => [
      ...texts,
      ...texts.map(
        (one) => one.slice(0, place) + swapped[one.charAt(place)] + one.slice(place + 1),
      ),
    ],
    [composed],
  );
  return [...new Set([text, ...spelled.flatMap((one) => [one, one.normalize('NFD')])])];
};

/** How a text is looked for, and as what; empty: it names nothing that could be there. */
export const searchWays = (typed: string): ReadonlyMap<SearchWay, string> => {
  const text = typed.trim();
  const ways = new Map<SearchWay, string>();
  if (text === '' || charactersOf(text) > searchText_max_chars) return ways;
  const event = /^evt_(.+)$/i.exec(text)?.[1] ?? '';
  if (uuidInAnyCase.test(text)) ways.set('id', text.toLowerCase());
  if (uuidInAnyCase.test(event)) ways.set('event', event.toLowerCase());
  // A merchant's own numbers may look like anything, a request id like one of theirs.
  ways.set('token', text);
  ways.set('request', text);
  return ways;
};
