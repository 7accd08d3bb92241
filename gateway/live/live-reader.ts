/**
 * One reader of the live stream: first what it asked to be replayed, then what happens, through a
 * buffer of its own that is bounded.
 */
import type { StreamedEvent } from '../../subgraphs/kernel/rules/event.ts';
import type { EventRing, Placed } from './event-ring.ts';
import { nameOfAudience, namesOfAudiences } from './audience.ts';
import type { LiveFilter, ReadEventsAfter } from './live-events.ts';

/** Events read from memory or from the store at a time. */
const replayPage = 500;

/** An event, and how many before it were lost because the reader was slow. */
export interface Told {
  readonly event: StreamedEvent;
  readonly missed: number;
}

export interface LiveReaderParts {
  readonly ring: EventRing;
  readonly filter: LiveFilter;
  readonly readEventsAfter: ReadEventsAfter;
  /** Id of the event to resume behind; null: from now on. */
  readonly after: string | null;
  /** Events that the buffer holds. */
  readonly most: number;
  /** Called once, when the reader has ended. */
  readonly left: () => void;
}

/**
 * Replaying, it takes pages when it is asked for the next event and ignores what is offered: memory
 * or the store will give it that too. It turns live in the same turn in which memory has no more
 * for it, so nothing falls in between; and it never takes an event that is not behind the last.
 */
export class LiveReader implements AsyncIterableIterator<Told, undefined> {
  readonly #parts: LiveReaderParts;
  readonly #name: string;
  #phase: 'stored' | 'remembered' | 'live' | 'ended';
  /** The last event taken or, at first, the one to resume behind. */
  #position: bigint;
  /** The newest event in memory when the reading began. */
  readonly #began: bigint;
  #buffer: Placed[] = [];
  #missed = 0;
  #wake: (() => void) | null = null;

  constructor(parts: LiveReaderParts) {
    this.#parts = parts;
    this.#name = nameOfAudience(parts.filter.audience);
    this.#position = BigInt(parts.after ?? 0);
    this.#began = parts.ring.newest ?? 0n;
    if (parts.after === null) this.#phase = 'live';
    else this.#phase = parts.ring.covers(this.#position) ? 'remembered' : 'stored';
  }

  /** Takes an event of the reader's audience that has just happened. */
  offer(placed: Placed): void {
    if (this.#phase !== 'live') return;
    this.#take(placed);
    this.#wake?.();
  }

  async next(): Promise<IteratorResult<Told, undefined>> {
    for (;;) {
      const placed = this.#buffer.shift();
      if (placed) {
        const missed = this.#missed;
        this.#missed = 0;
        return { done: false, value: { event: placed.event, missed } };
      }
      switch (this.#phase) {
        case 'stored':
          await this.#replayStored();
          break;
        case 'remembered':
          this.#replayRemembered();
          break;
        case 'live':
          await this.#change();
          break;
        case 'ended':
          return { done: true, value: undefined };
      }
    }
  }

  async return(): Promise<IteratorResult<Told, undefined>> {
    this.close();
    return { done: true, value: undefined };
  }

  /** Ends the reading; a `next` that waits is answered. */
  close(): void {
    if (this.#phase === 'ended') return;
    this.#phase = 'ended';
    this.#buffer = [];
    this.#parts.left();
    this.#wake?.();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async #replayStored(): Promise<void> {
    const page = await this.#readStored();
    if (this.#phase !== 'stored') return;
    // What cannot be resumed goes on from the moment when it was asked for.
    if (page === null) this.#position = this.#began;
    for (const event of page ?? []) this.#take({ event, sequence: BigInt(event.sequence) });
    // What happened after the store was read is in memory: it came over the bus since.
    if (page === null || page.length < replayPage || this.#parts.ring.covers(this.#position))
      this.#phase = 'remembered';
  }

  async #readStored(): Promise<readonly StreamedEvent[] | null> {
    try {
      return await this.#parts.readEventsAfter(
        String(this.#position),
        this.#parts.filter,
        replayPage,
      );
    } catch (error) {
      this.close();
      throw error;
    }
  }

  #replayRemembered(): void {
    const page = this.#parts.ring.after(this.#position, replayPage);
    for (const placed of page)
      if (namesOfAudiences(placed.event).includes(this.#name)) this.#take(placed);
    this.#position = page.at(-1)?.sequence ?? this.#position;
    if (page.length < replayPage) this.#phase = 'live';
  }

  #take(placed: Placed): void {
    if (placed.sequence <= this.#position || !this.#parts.filter.kinds.has(placed.event.kind))
      return;
    this.#position = placed.sequence;
    this.#buffer.push(placed);
    if (this.#buffer.length <= this.#parts.most) return;
    this.#buffer.shift();
    this.#missed += 1;
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#wake = null;
        resolve();
      };
    });
  }
}
