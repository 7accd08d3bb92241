/**
 * The event log as text. An event is forwarded with the bytes that the log has: they are those that
 * an endpoint gets, and another JSON writer would make others.
 */
import type { CallOptions, Send } from '../transport.ts';

/** One event, and its own text. */
export interface LoggedText {
  readonly id: string;
  readonly event: string;
  readonly created_at: string;
  readonly text: string;
}

/** One page of the log. */
export interface LogPage {
  readonly events: readonly LoggedText[];
  readonly hasMore: boolean;
  readonly lastId: string | null;
}

/** The texts of the objects in the array that begins at `from`. */
const textsFrom = (page: string, from: number): readonly string[] => {
  const texts: string[] = [];
  let depth = 0;
  let begin = 0;
  let inString = false;
  for (let at = from; at < page.length; at++) {
    const character = page[at];
    if (inString) {
      if (character === '\\') at++;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === '{' || character === '[') {
      if (depth++ === 1) begin = at;
    } else if (character === '}' || character === ']') {
      if (--depth === 0) return texts;
      if (depth === 1) texts.push(page.slice(begin, at + 1));
    }
  }
  throw new Error('a page of the event log is cut off');
};

/** Splits a page. Throws when its text is not a page. */
export const splitPage = (page: string): LogPage => {
  // The description says so.
  const read = JSON.parse(page) as {
    readonly items: readonly Omit<LoggedText, 'text'>[];
    readonly has_more: boolean;
    readonly last_id: string | null;
  };
  const begin = /"items"\s*:\s*\[/.exec(page);
  const texts = begin ? textsFrom(page, begin.index + begin[0].length - 1) : [];
  if (texts.length !== read.items.length) throw new Error('a page of the event log is not a list');
  return {
    events: read.items.map(({ id, event, created_at }, index) => ({
      id,
      event,
      created_at,
      text: texts[index] ?? '',
    })),
    hasMore: read.has_more,
    lastId: read.last_id,
  };
};

/** Reads a page of the log behind an event. */
export const readPage = (
  send: Send,
  query: Readonly<Record<string, string | undefined>>,
  options: CallOptions = {},
): Promise<LogPage> =>
  send(
    {
      method: 'GET',
      path: '/v1/public/event-log',
      query: { limit: '200', ...query },
      options,
    },
    async (response) => splitPage(await response.text()),
  );
