/** The live stream: server-sent events, resumed where a connection broke. */
import { ConnectionError, StreamEnded, ApiError } from './errors.ts';
import { wait, waitBefore_ms, type Send } from './transport.ts';
import type { Schemas, StreamEvent } from './schemas.ts';

/** How a stream is read. */
export interface StreamOptions {
  /** Begin behind this event; without it, with what happens next. */
  readonly after?: string | undefined;
  /** Ends the stream when it is aborted; the iteration then ends without an error. */
  readonly signal?: AbortSignal | undefined;
  /** Called whenever a connection stands. What happened before the first one is not repeated. */
  readonly onConnect?: () => void;
  /** Called when the service had to skip so many events, because they were not read in time. */
  readonly onMissed?: (count: number) => void;
}

/** The service sends a comment every 25 seconds: this long without one is a dead connection. */
const silence_ms = 60_000;

/** A comment is a field without a name; null ends an event. */
type Line = { readonly field: string; readonly value: string } | null;

const lineOf = (text: string): Line => {
  const [, field = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(text) ?? [];
  return text === '' ? null : { field, value };
};

/** Reads the next part of a body; rejects when nothing comes for too long. */
const readPart = async (
  reader: ReadableStreamDefaultReader<Uint8Array>,
): Promise<Uint8Array | null> => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silent = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`nothing came for ${silence_ms} ms`)), silence_ms);
  });
  try {
    const { value, done } = await Promise.race([reader.read(), silent]);
    return done ? null : value;
  } finally {
    clearTimeout(timer);
  }
};

async function* linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Line, void, undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (let part = await readPart(reader); part; part = await readPart(reader)) {
      const lines = (rest + decoder.decode(part, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) yield lineOf(line.replace(/\r$/, ''));
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/**
 * The events of one connection. Ends when that does; throws when it must not be renewed.
 * `onPosition` is called with the id of no event, from which the stream is resumed until one comes.
 */
async function* eventsOf(
  body: ReadableStream<Uint8Array>,
  onMissed: (count: number) => void,
  onPosition: (id: string) => void,
): AsyncGenerator<StreamEvent, void, undefined> {
  let id = '';
  let data = '';
  let isEvent = false;
  for await (const line of linesOf(body)) {
    if (line === null) {
      isEvent = false;
      // The description says that `data` is this object.
      if (data !== '') yield { ...(JSON.parse(data) as Schemas['LiveEvent']), id };
      data = '';
    } else if (line.field === '') {
      const comment = line.value.trim();
      if (comment === 'replaced' || comment === 'revoked') throw new StreamEnded(comment);
      const missed = /^missed (\d+)$/.exec(comment)?.[1];
      if (missed !== undefined) onMissed(Number(missed));
    } else if (line.field === 'event') isEvent = true;
    else if (line.field === 'id') {
      id = line.value;
      if (!isEvent) onPosition(id);
    } else if (line.field === 'data') data += line.value;
  }
}

const bodyOf = async (response: Response): Promise<ReadableStream<Uint8Array>> => {
  if (!response.body) throw new Error('a stream without a body');
  return response.body;
};

/** Whether a stream that ended with this error is to be opened again. */
const isLost = (error: unknown): boolean =>
  !(error instanceof StreamEnded) && !(error instanceof ApiError);

/**
 * The events of the stream, until the reader stops. A connection that is lost is opened
 * again behind the last event. Throws `StreamEnded` when the service has ended the stream for good,
 * and `ApiError` when it refuses it.
 */
export async function* streamEvents(
  send: Send,
  options: StreamOptions = {},
): AsyncGenerator<StreamEvent, void, undefined> {
  const { signal, onConnect, onMissed = () => {} } = options;
  let { after } = options;
  // A function, since what it says changes while something is awaited.
  const isOver = (): boolean => signal?.aborted ?? false;
  for (let failures = 1; !isOver(); failures++) {
    try {
      const headers = {
        accept: 'text/event-stream',
        ...(after === undefined ? {} : { 'last-event-id': after }),
      };
      const call = { method: 'GET', path: '/v1/public/events', headers } as const;
      const body = await send({ ...call, options: { signal, retries_max: 0 } }, bodyOf);
      onConnect?.();
      for await (const event of eventsOf(body, onMissed, (id) => (after = id))) {
        after = event.id;
        failures = 0;
        yield event;
      }
    } catch (error) {
      if (isOver()) return;
      const again = error instanceof ApiError && [429, 503].includes(error.status);
      if (!again && !isLost(error)) throw error;
      if (error instanceof ConnectionError && failures > 1_000) throw error;
    }
    await wait(waitBefore_ms(Math.min(failures, 6), null), signal).catch(() => {});
  }
}
