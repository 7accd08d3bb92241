/**
 * A ring buffer of the newest events of the stream: a client that was away briefly resumes from
 * here, without a query.
 */
import type { StreamedEvent } from '../../subgraphs/kernel/rules/event.ts';

/** An event with its position in the stream as a comparable number. */
export interface RecentEvent {
  readonly event: StreamedEvent;
  readonly sequence: bigint;
}

/** The newest events, in the order of the stream. */
export class RecentEvents {
  readonly #entries: RecentEvent[] = [];
  readonly #capacity: number;
  /** The index of the oldest entry, once the buffer is full. */
  #start = 0;
  /** The last event that was evicted; null before the first. */
  #lastEvicted: bigint | null = null;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /**
   * Appends an event. Null when it is not newer than the newest: a repetition, or one that comes
   * too late.
   */
  push(event: StreamedEvent): RecentEvent | null {
    const placed = { event, sequence: BigInt(event.sequence) };
    const newest = this.newest;
    if (newest !== null && placed.sequence <= newest) return null;
    if (this.#entries.length < this.#capacity) {
      this.#entries.push(placed);
      return placed;
    }
    this.#lastEvicted = this.#at(0).sequence;
    this.#entries[this.#start] = placed;
    this.#start = (this.#start + 1) % this.#capacity;
    return placed;
  }

  get newest(): bigint | null {
    return this.#entries.length === 0 ? null : this.#at(this.#entries.length - 1).sequence;
  }

  /** Whether the buffer has every event behind `position`. */
  covers(position: bigint): boolean {
    const newest = this.newest;
    if (newest === null || position > newest) return false;
    return position >= (this.#lastEvicted ?? this.#at(0).sequence);
  }

  /** The events behind `position`, oldest first, at most `max`. */
  after(position: bigint, max: number): readonly RecentEvent[] {
    let low = 0;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#at(middle).sequence <= position) low = middle + 1;
      else high = middle;
    }
    const end = Math.min(this.#entries.length, low + max);
    return Array.from({ length: end - low }, (_, index) => this.#at(low + index));
  }

  #at(index: number): RecentEvent {
    const entry = this.#entries[(this.#start + index) % this.#capacity];
    if (!entry) throw new RangeError(`the buffer has no entry ${index}`);
    return entry;
  }
}
