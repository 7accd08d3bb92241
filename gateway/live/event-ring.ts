/**
 * The newest events of the stream, as many as memory may hold: who was away for a moment resumes
 * from here without a query.
 */
import type { StreamedEvent } from '../../subgraphs/kernel/rules/event.ts';

/** An event with its place in the stream as a number that can be compared. */
export interface Placed {
  readonly event: StreamedEvent;
  readonly sequence: bigint;
}

/** A ring of the newest events, in the order of the stream. */
export class EventRing {
  readonly #entries: Placed[] = [];
  readonly #most: number;
  /** Where the oldest entry is, once the ring is full. */
  #start = 0;
  /** The newest event that was pushed out; null while none was. */
  #pushedOut: bigint | null = null;

  /** `most` events are kept. */
  constructor(most: number) {
    this.#most = most;
  }

  /**
   * Places an event behind all others. Null when it is not newer than the newest: it has been here,
   * or comes too late.
   */
  push(event: StreamedEvent): Placed | null {
    const placed = { event, sequence: BigInt(event.sequence) };
    const newest = this.newest;
    if (newest !== null && placed.sequence <= newest) return null;
    if (this.#entries.length < this.#most) {
      this.#entries.push(placed);
      return placed;
    }
    this.#pushedOut = this.#at(0).sequence;
    this.#entries[this.#start] = placed;
    this.#start = (this.#start + 1) % this.#most;
    return placed;
  }

  get newest(): bigint | null {
    return this.#entries.length === 0 ? null : this.#at(this.#entries.length - 1).sequence;
  }

  /** Whether every event behind `position` up to the newest is here. */
  covers(position: bigint): boolean {
    const newest = this.newest;
    if (newest === null || position > newest) return false;
    return position >= (this.#pushedOut ?? this.#at(0).sequence);
  }

  /** The events behind `position`, oldest first, at most `most`. */
  after(position: bigint, most: number): readonly Placed[] {
    let low = 0;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#at(middle).sequence <= position) low = middle + 1;
      else high = middle;
    }
    const end = Math.min(this.#entries.length, low + most);
    return Array.from({ length: end - low }, (_, index) => this.#at(low + index));
  }

  #at(index: number): Placed {
    const entry = this.#entries[(this.#start + index) % this.#most];
    if (!entry) throw new RangeError(`the ring has no entry ${index}`);
    return entry;
  }
}
