/** Writes server-sent events to one reader, and waits while that reader does not read. */
import type { ServerResponse } from 'node:http';
import type { StreamEventsSubscription } from '../schema/generated/operations.ts';
import { liveKindOf } from '../subgraphs/kernel/rules/event.ts';
import { whenClosed } from './when-closed.ts';

type Event = StreamEventsSubscription['events'];

/**
 * The writer of one connection. What comes while its reader does not read is for the caller to hold
 * back.
 */
export class EventWriter {
  readonly #response: ServerResponse;
  readonly #close_ms: number;
  readonly #closed: Promise<void>;
  #ended = false;

  /**
   * Writes to the response, whose headers have been sent. A comment `: ping` goes out every
   * `ping_ms`; after `end` the reader has `close_ms`.
   */
  constructor(response: ServerResponse, ping_ms: number, close_ms: number) {
    this.#response = response;
    this.#close_ms = close_ms;
    const ping = setInterval(() => this.#ping(), ping_ms);
    this.#closed = new Promise((resolve) => {
      whenClosed(response, () => {
        clearInterval(ping);
        this.#ended = true;
        resolve();
      });
    });
    // A connection that breaks closes: there is nobody to notify.
    response.on('error', () => {});
  }

  /** Calls `closed` when the connection is gone, whoever ended it. */
  onClose(closed: () => void): void {
    this.#closed.then(closed, closed);
  }

  /**
   * Writes a comment line, without a blank line behind it. A blank line ends an event, and some
   * clients (fetch-event-source, httpx-sse) hand an event without data to the application there.
   */
  comment(text: string): void {
    if (!this.#ended) this.#response.write(`: ${text}\n`);
  }

  /** Writes from where a reader resumes that has had no event yet; no blank line ends it, either. */
  position(id: string): void {
    if (!this.#ended) this.#response.write(`id: ${id}\n`);
  }

  /** Fulfils when the next event may be written: at once, or when the reader has caught up. */
  async event(event: unknown): Promise<void> {
    if (this.#ended) return;
    // The operation's own selection.
    const { id, kind, payload, at } = event as Event;
    const name = liveKindOf(kind);
    const hasRoom = this.#response.write(
      `event: ${name}\nid: ${id}\ndata: ${JSON.stringify({ kind: name, payload, at })}\n\n`,
    );
    if (!hasRoom) await this.#room();
  }

  /**
   * Says a last word and ends. Fulfils when the connection is gone: at the latest after `close_ms`.
   */
  async end(word: string): Promise<void> {
    if (!this.#ended) {
      this.comment(word);
      this.#ended = true;
      this.#response.end();
      const cut = setTimeout(() => this.#response.destroy(), this.#close_ms);
      this.#response.once('close', () => clearTimeout(cut));
    }
    await this.#closed;
  }

  /** A reader that does not read needs no pings, and they must not fill the memory. */
  #ping(): void {
    if (!this.#response.writableNeedDrain) this.comment('ping');
  }

  #room(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#response.closed) return resolve();
      const go = (): void => {
        this.#response.off('drain', go).off('close', go);
        resolve();
      };
      this.#response.on('drain', go).on('close', go);
    });
  }
}
