/** What is equal to what in a query: where its merchants come from. */

/** What stands in a query's `from`: a distributed table, or anything else under its name. */
export interface Source {
  readonly name: string;
  readonly table: string | null;
  /** A table of the coordinator alone. */
  readonly isLocal: boolean;
}

/** What is equal to what, in a query and in those around it. */
export class Scope {
  readonly sources: Source[] = [];
  readonly parent: Scope | null;
  readonly hidden: ReadonlySet<string>;
  /** Whether it is planned by itself, so that nothing is known of the values around it. */
  readonly #isOverShards: boolean;
  /** Whether it also names nothing of what is around it: it is run once, before. */
  readonly #isAlone: boolean;
  readonly #same = new Map<string, string>();

  constructor(
    parent: Scope | null,
    hidden: ReadonlySet<string>,
    isOverShards = false,
    isAlone = isOverShards,
  ) {
    this.parent = parent;
    this.hidden = hidden;
    this.#isOverShards = isOverShards;
    this.#isAlone = isAlone;
  }

  root(term: string): string {
    const next = this.#same.get(term);
    if (next !== undefined) return this.root(next);
    return this.#isOverShards || !this.parent ? term : this.parent.root(term);
  }

  join(one: string, other: string): void {
    const [first, second] = [this.root(one), this.root(other)];
    // What is given stays the root, so that an inner query cannot take it away.
    if (first === second) return;
    if (first === given) this.#same.set(second, first);
    else this.#same.set(first, second);
  }

  /** Whether it holds for a source of this query or of one that it is planned with. */
  some(holds: (source: Source) => boolean): boolean {
    return this.sources.some(holds) || (!this.#isAlone && this.parent?.some(holds) === true);
  }

  /** The source that has this column: by its name, or the only distributed one of the query. */
  find(name: string | null): Source | null {
    const found =
      name === null
        ? this.sources.filter(({ table }) => table !== null)
        : this.sources.filter((source) => source.name === name);
    return found[0] ?? this.parent?.find(name) ?? null;
  }
}

/** What a statement is given: parameters and constants. */
export const given = '(given)';
