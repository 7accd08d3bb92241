/**
 * Follows the event log: reads it by the id of the last event, and waits on the live stream for the
 * next one. The stream only wakes: what it loses is found in the log.
 */
import type { PaymentClient } from '../client.ts';
import { StreamEnded } from '../errors.ts';
import { wait } from '../retry.ts';
import type { Send } from '../transport.ts';
import { readPage, type LoggedText } from './log-text.ts';

/** From where the log is followed. */
export interface Following {
  readonly send: Send;
  readonly client: PaymentClient;
  /** Behind this event; else from this day on, and of that what is not older than `since`. */
  readonly after: string | null;
  readonly since: Date;
  readonly events?: string | undefined;
  readonly stopped: AbortSignal;
  /** Called with what a person should know. */
  readonly remark: (text: string) => void;
}

/** A webhook's event is logged a moment after the stream's: it is looked for again so often. */
const soon_ms = 200;
const looksAfterWaking = 10;
/** And without a sign of the stream. */
const idle_ms = 3_000;

/** Listens to the stream; `next` fulfils when it has something, or after a while. */
const openWaker = ({ client, stopped, remark }: Following) => {
  let wake = (): void => {};
  let looks = looksAfterWaking;
  const listen = async (): Promise<void> => {
    for await (const _ of client.events.stream({ signal: stopped })) {
      looks = looksAfterWaking;
      wake();
    }
  };
  void listen().catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    const goesOn = error instanceof StreamEnded ? 'the log is read every few seconds' : 'go on';
    if (!stopped.aborted) remark(`the live stream has ended: ${why}; ${goesOn}`);
  });
  return {
    next: async (): Promise<void> => {
      const pause_ms = looks > 0 ? soon_ms : idle_ms;
      looks -= 1;
      const woken = new AbortController();
      wake = () => woken.abort(new Error('woken'));
      await wait(pause_ms, AbortSignal.any([woken.signal, stopped])).catch(() => {});
      wake = () => {};
    },
  };
};

/** The day of a moment, as the log's filter takes it. */
const dayOf = (moment: Date): string => moment.toISOString().slice(0, 10);

/** Every event of the log from there on, for as long as it is not stopped. */
export async function* followLog(
  following: Following,
): AsyncGenerator<LoggedText, void, undefined> {
  const { send, since, events, stopped } = following;
  const waker = openWaker(following);
  let { after } = following;
  let isFirst = after === null;
  while (!stopped.aborted) {
    const page = await readPage(
      send,
      { event: events, ...(after === null ? { from: dayOf(since) } : { after }) },
      stopped,
    );
    for (const event of page.events) {
      after = event.id;
      if (isFirst && Date.parse(event.created_at) < since.getTime()) continue;
      yield event;
    }
    after = page.lastId ?? after;
    if (page.hasMore) continue;
    isFirst = false;
    await waker.next();
  }
}
