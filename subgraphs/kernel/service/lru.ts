/** An entry between the one that was used before it and the one after. */
interface Entry<Key, Value> {
  readonly key: Key;
  value: Value;
  older: Entry<Key, Value> | null;
  younger: Entry<Key, Value> | null;
}

/**
 * A map of bounded size: what was not used for longest goes first. For things that can be made
 * again.
 */
export class Lru<Key, Value> {
  readonly #entries = new Map<Key, Entry<Key, Value>>();
  readonly #limit: number;
  // Their order is kept beside the map: taking an entry out of a Map and putting it in again has
  // the Map lay itself out anew from time to time.
  #oldest: Entry<Key, Value> | null = null;
  #youngest: Entry<Key, Value> | null = null;

  /** `limit` entries are kept. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  get(key: Key): Value | undefined {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    this.#use(entry);
    return entry.value;
  }

  set(key: Key, value: Value): void {
    const known = this.#entries.get(key);
    if (known) {
      known.value = value;
      this.#use(known);
      return;
    }
    const entry = { key, value, older: null, younger: null };
    this.#entries.set(key, entry);
    this.#append(entry);
    if (this.#entries.size > this.#limit && this.#oldest) this.delete(this.#oldest.key);
  }

  delete(key: Key): void {
    const entry = this.#entries.get(key);
    if (!entry) return;
    this.#entries.delete(key);
    this.#unlink(entry);
  }

  /** Forgets every entry for which `forget` returns true. */
  deleteWhere(forget: (value: Value, key: Key) => boolean): void {
    for (const [key, { value }] of this.#entries) if (forget(value, key)) this.delete(key);
  }

  get size(): number {
    return this.#entries.size;
  }

  #use(entry: Entry<Key, Value>): void {
    if (entry === this.#youngest) return;
    this.#unlink(entry);
    this.#append(entry);
  }

  #append(entry: Entry<Key, Value>): void {
    entry.older = this.#youngest;
    entry.younger = null;
    if (this.#youngest) this.#youngest.younger = entry;
    else this.#oldest = entry;
    this.#youngest = entry;
  }

  #unlink({ older, younger }: Entry<Key, Value>): void {
    if (older) older.younger = younger;
    else this.#oldest = younger;
    if (younger) younger.older = older;
    else this.#youngest = older;
  }
}
