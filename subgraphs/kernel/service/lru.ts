/** A map of bounded size: what was not used for longest goes first. For things that can be made again. */
export class Lru<Key, Value> {
  readonly #entries = new Map<Key, Value>();
  readonly #most: number;

  /** `most` entries are kept. */
  constructor(most: number) {
    this.#most = most;
  }

  get(key: Key): Value | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    // A Map iterates in order of insertion: inserted again, the entry is the youngest.
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  set(key: Key, value: Value): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size <= this.#most) return;
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest);
      return;
    }
  }

  delete(key: Key): void {
    this.#entries.delete(key);
  }

  /** Forgets every entry that `forget` says true of. */
  deleteWhere(forget: (value: Value, key: Key) => boolean): void {
    for (const [key, value] of this.#entries) if (forget(value, key)) this.#entries.delete(key);
  }

  get size(): number {
    return this.#entries.size;
  }
}
