/** Lists the possible meanings of a search text. All of them are searched. */
import { charactersOf } from '../../kernel/rules/text-mistake.ts';
import { uuidInAnyCase } from '../../kernel/rules/uuid.ts';

/** The kinds of lookup; each is a statement. */
export type SearchWay = 'id' | 'event' | 'token' | 'request';

/** Longer texts are not searched. */
export const searchText_max_chars = 500;

/** Letters of a text that may each be е or ё in what is looked for: so many at most. */
const guessed_max = 4;

/**
 * The spellings of a text: as typed, composed or decomposed, and with е and ё exchanged. Order
 * numbers and customer names are stored as received.
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

/** The lookups for a text; empty when nothing can match. */
export const searchWays = (typed: string): ReadonlyMap<SearchWay, string> => {
  const text = typed.trim();
  const ways = new Map<SearchWay, string>();
  if (text === '' || charactersOf(text) > searchText_max_chars) return ways;
  const event = /^evt_(.+)$/i.exec(text)?.[1] ?? '';
  if (uuidInAnyCase.test(text)) ways.set('id', text.toLowerCase());
  if (uuidInAnyCase.test(event)) ways.set('event', event.toLowerCase());
  // A merchant's own numbers have any form, even that of a request id.
  ways.set('token', text);
  ways.set('request', text);
  return ways;
};
