/** Lists that are read page by page during iteration. */

/** The fields of a list's pages; a single-page list has only items. */
export interface PageOf<Item = unknown> {
  readonly items: readonly Item[];
  /** Registries: what to send as `cursor`. */
  readonly next_cursor?: string | null;
  /** The event log: whether there is more, and what to send as `after`. */
  readonly has_more?: boolean;
  readonly last_id?: string | null;
}

/** Where the next page begins; null after the last one. */
const nextOf = (page: PageOf): Readonly<Record<string, string>> | null => {
  if (typeof page.next_cursor === 'string') return { cursor: page.next_cursor };
  return page.has_more === true && typeof page.last_id === 'string'
    ? { after: page.last_id }
    : null;
};

/**
 * A list. `for await (const item of list)` reads every item, a page at a time; `page()` reads only
 * the first page. Nothing is read before that.
 */
export class List<Item, Page extends PageOf<Item> = PageOf<Item>> implements AsyncIterable<Item> {
  readonly #read: (more: Readonly<Record<string, string>>) => Promise<Page>;

  constructor(read: (more: Readonly<Record<string, string>>) => Promise<Page>) {
    this.#read = read;
  }

  /** The first page, as the service answered it. */
  page(): Promise<Page> {
    return this.#read({});
  }

  /** One page after the other. */
  async *pages(): AsyncGenerator<Page, void, undefined> {
    for (let more: Readonly<Record<string, string>> | null = {}; more;) {
      const page: Page = await this.#read(more);
      yield page;
      more = nextOf(page);
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const page of this.pages()) for (const item of page.items) yield item;
  }

  /** The first `count` items. */
  async first(count: number): Promise<Item[]> {
    const items: Item[] = [];
    for await (const page of this.pages()) if (items.push(...page.items) >= count) break;
    return items.slice(0, count);
  }
}
