/**
 * What a text that a person types into the search may be. A text may be several things: all are
 * looked for.
 */
import { uuidInAnyCase } from '../../kernel/rules/uuid.ts';

/** The ways in which things are looked for, each a statement of its own. */
export type SearchWay = 'id' | 'event' | 'public_id' | 'text' | 'request' | 'digits';

/** Longer texts name nothing. */
const searchText_max_chars = 500;

/** How a text is looked for, and as what; empty: it names nothing that could be there. */
export const searchWays = (typed: string): ReadonlyMap<SearchWay, string> => {
  const text = typed.trim();
  const ways = new Map<SearchWay, string>();
  if (text === '' || text.length > searchText_max_chars) return ways;
  const event = /^evt_(.+)$/i.exec(text)?.[1] ?? '';
  if (uuidInAnyCase.test(text)) ways.set('id', text.toLowerCase());
  if (uuidInAnyCase.test(event)) ways.set('event', event.toLowerCase());
  if (/^p-\d{1,18}$/i.test(text)) ways.set('public_id', text.toUpperCase());
  const digits = /^[*\u2022xX +]*(\d{4})$/.exec(text)?.[1];
  if (digits !== undefined) ways.set('digits', digits);
  // A merchant's own numbers may look like anything, a request id like one of theirs.
  ways.set('text', text);
  ways.set('request', text);
  return ways;
};
