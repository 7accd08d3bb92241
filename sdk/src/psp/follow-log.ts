/**
 * Follows the event log: reads after the id of the last event, every second. It opens no live
 * stream: a key has only one, which the shop's program may be reading.
 */
import { ApiError, ConnectionError } from '../errors.ts';
import { decimalOf } from '../money.ts';
import { wait, waitBefore_ms, type Send, type CallOptions } from '../transport.ts';
import { row, type Output } from './command.ts';

export interface Following {
  readonly send: Send;
  /** After this event; else from `since` on, or from the beginning without either. */
  readonly after: string | null;
  readonly since: Date | null;
  readonly events?: string | undefined;
  readonly stopped: AbortSignal;
  /** Called with notices for the person. */
  readonly remark: (text: string) => void;
}

const pause_ms = 1_000;

/** The day of a moment, as the log's filter takes it. */
const dayOf = (moment: Date): string => moment.toISOString().slice(0, 10);

/** No event is about this object: a page that is asked for it passes over as many as it may. */
const nothing = '00000000-0000-0000-0000-000000000000';

// The event log as text. An event is forwarded with the bytes that the log has: they are those that
// an endpoint gets, and another JSON writer would make others.

export interface LoggedText {
  readonly id: string;
  readonly event: string;
  readonly created_at: string;
  readonly text: string;
}

interface LogPage {
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

const readPage = (
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

/** The id of the newest event, whatever its date; null while the log is empty. */
export const readNewestId = async (send: Send): Promise<string | null> => {
  let after: string | null = null;
  for (let hasMore = true; hasMore;) {
    const page: LogPage = await readPage(send, { subject_id: nothing, after: after ?? undefined });
    after = page.lastId ?? after;
    hasMore = page.hasMore;
  }
  return after;
};

/** Whether the log may become readable again. */
const isPassing = (error: unknown): boolean =>
  error instanceof ConnectionError ||
  (error instanceof ApiError && [429, 503].includes(error.status));

/** Reads pages; what passes is waited for, once there was a first page. */
const openReading = ({ send, stopped, remark }: Following) => {
  let failures = 0;
  let isFirst = true;
  const read = async (query: Readonly<Record<string, string | undefined>>): Promise<LogPage> => {
    for (;;) {
      try {
        const page = await readPage(send, query, isFirst ? {} : { retries_max: 0 });
        if (failures > 0) remark('the log is read again');
        isFirst = false;
        failures = 0;
        return page;
      } catch (error) {
        if (stopped.aborted || isFirst || !isPassing(error)) throw error;
        failures += 1;
        const why = error instanceof Error ? error.message : String(error);
        if (failures === 1) remark(`the log cannot be read: ${why}; trying again`);
        const asked_s = error instanceof ApiError ? error.retryAfter_s : null;
        await wait(waitBefore_ms(Math.min(failures, 6), asked_s), stopped);
      }
    }
  };
  return read;
};

export async function* followLog(
  following: Following,
): AsyncGenerator<LoggedText, void, undefined> {
  const { since, events, stopped } = following;
  const read = openReading(following);
  let { after } = following;
  let isBeginning = after === null;
  while (!stopped.aborted) {
    const from = since ? { from: dayOf(since) } : {};
    const page = await read({ event: events, ...(after === null ? from : { after }) });
    for (const event of page.events) {
      after = event.id;
      if (isBeginning && since && Date.parse(event.created_at) < since.getTime()) continue;
      yield event;
    }
    after = page.lastId ?? after;
    if (page.hasMore) continue;
    isBeginning = false;
    await wait(pause_ms, stopped).catch(() => {});
  }
}

/** Prints an event: a line, or with `--json` the whole of it. */
export const printEvent = (output: Output, { id, event, created_at, text }: LoggedText): void => {
  const { data } = JSON.parse(text) as { readonly data: Readonly<Record<string, unknown>> };
  const { id: of, amount, currency = 'RUB' } = data;
  const sum = typeof amount === 'number' ? decimalOf(amount, String(currency)) : '';
  const line = row(output.dim(created_at), event.padEnd(18), String(of), sum, id);
  output.result({ id, event, created_at, data }, line);
};
