/**
 * Follows the event log: reads after the id of the last event, every second. It opens no live
 * stream: a key has only one, which the shop's program may be reading.
 */
import { ApiError, ConnectionError } from '../errors.ts';
import { wait, waitBefore_ms } from '../retry.ts';
import type { Send } from '../transport.ts';
import { readPage, type LoggedText, type LogPage } from './log-text.ts';

/** Where following begins. */
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

/** Every event of the log from there on, until it is stopped. */
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
