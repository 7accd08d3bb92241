/**
 * How a route becomes a method: its types follow from its address. A path that does not exist, or
 * that is of another kind, does not compile.
 */
import type { paths } from './generated/api.ts';
import type { CallOptions, Send } from './transport.ts';

type Path = keyof paths;
type Get<P extends Path> = paths[P] extends { get: infer O } ? O : never;
type Post<P extends Path> = paths[P] extends { post: infer O } ? O : never;

/** The JSON of a good answer. */
type JsonOf<O> = O extends { responses: infer R }
  ? {
      [S in keyof R & (200 | 201)]: R[S] extends { content: { 'application/json': infer J } }
        ? J
        : never;
    }[keyof R & (200 | 201)]
  : never;

type Parameters<O, Place extends string> = O extends { parameters: infer P }
  ? Place extends keyof P
    ? NonNullable<P[Place]>
    : never
  : never;

/** What a list may be narrowed down by. */
export type QueryOf<P extends Path> = [Parameters<Get<P>, 'query'>] extends [never]
  ? Record<never, never>
  : Omit<Parameters<Get<P>, 'query'>, 'format'>;

type JsonIn<B> = B extends { content: { 'application/json': infer J } } ? J : never;
type BodyOf<O> = O extends { requestBody?: infer B } ? JsonIn<NonNullable<B>> : never;

type TakesKey<O> = 'Idempotency-Key' extends keyof Parameters<O, 'header'> ? true : false;

type PostPath = { [P in Path]: [Post<P>] extends [never] ? never : P }[Path];
type CreatePath = { [P in PostPath]: TakesKey<Post<P>> extends true ? P : never }[PostPath];
type ActPath = {
  [P in Exclude<PostPath, CreatePath>]: [BodyOf<Post<P>>] extends [never] ? P : never;
}[Exclude<PostPath, CreatePath>];
/** One object may have items, too: a receipt. */
type ListPath = {
  [P in Path]: P extends `${string}{id}${string}`
    ? never
    : JsonOf<Get<P>> extends { items: readonly unknown[] }
      ? P
      : never;
}[Path];
type ReadPath = {
  [P in Path]: [JsonOf<Get<P>>] extends [never] ? never : P extends ListPath ? never : P;
}[Path];

type ItemOf<P extends ListPath> =
  JsonOf<Get<P>> extends { items: readonly (infer Item)[] } ? Item : never;

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

/** A page, with the fields that it has beside those of every page. */
type PageIn<P extends ListPath> = JsonOf<Get<P>> & PageOf<ItemOf<P>>;

/** The id in a path, where it has one. */
type Id<P extends Path> = P extends `${string}{id}${string}` ? [id: string] : [];
/** The body, where the route takes one. */
type Body<P extends Path> =
  Post<P> extends { requestBody: { content: unknown } }
    ? [body: BodyOf<Post<P>>]
    : [body?: BodyOf<Post<P>>];

const hasId = (path: string): boolean => path.includes('{id}');

/** The path with the id in it. Throws without one: an empty id would be another route. */
const filled = (path: string, id: unknown): string => {
  if (typeof id !== 'string' || id === '') throw new TypeError(`${path}: expected an id`);
  return path.replace('{id}', encodeURIComponent(id));
};

const readJson = <Answer>(response: Response): Promise<Answer> =>
  // What the description says of the answer: a test holds the service to it.
  response.json() as Promise<Answer>;

/** What a method was called with: the id first, where the path has one, and the options last. */
const sortOut = (path: string, given: readonly unknown[]) =>
  hasId(path) ? { path: filled(path, given[0]), rest: given.slice(1) } : { path, rest: given };

/** A route that reads one object. */
export const read =
  <P extends ReadPath>(send: Send, path: P) =>
  (...given: [...Id<P>, options?: CallOptions]): Promise<JsonOf<Get<P>>> => {
    const call = sortOut(path, given);
    const [options] = call.rest as [CallOptions?];
    return send({ method: 'GET', path: call.path, options }, readJson<JsonOf<Get<P>>>);
  };

/** The same where the query says of what: `name` stands among the options. */
export const readOf =
  <P extends ReadPath>(send: Send, path: P, name: keyof QueryOf<P> & string) =>
  (options?: CallOptions & QueryOf<P>): Promise<JsonOf<Get<P>>> => {
    const query = options?.[name] === undefined ? {} : { [name]: options[name] };
    return send({ method: 'GET', path, query, options }, readJson<JsonOf<Get<P>>>);
  };

/** A route that reads a list: iterate over it, or take its first page. */
export const list =
  <P extends ListPath>(send: Send, path: P) =>
  (query?: QueryOf<P>, options?: CallOptions): List<ItemOf<P>, PageIn<P>> =>
    new List((more) =>
      send({ method: 'GET', path, query: { ...query, ...more }, options }, readJson<PageIn<P>>),
    );

/** Routes for which an absent amount, 0 and null mean everything; JSON writes NaN as null. */
const ofParts: readonly string[] = [
  '/v1/public/payments/{id}/capture',
  '/v1/public/payments/{id}/refund',
];

/** Names an amount that means everything, which a program makes by a mistake in arithmetic. */
const assertPart = (path: string, body: unknown): void => {
  if (typeof body !== 'object' || body === null || !('amount' in body)) return;
  const { amount } = body;
  if (!ofParts.includes(path) || (Number.isSafeInteger(amount) && Number(amount) > 0)) return;
  throw new TypeError(
    `${path}: amount ${String(amount)} is no part; leave amount out to take everything`,
  );
};

/** A route that takes a body, of a thing by its id or of the whole shop. */
const posting =
  <P extends Exclude<PostPath, ActPath>>(send: Send, path: P, takesKey: boolean) =>
  (...given: [...Id<P>, ...Body<P>, options?: CallOptions]): Promise<JsonOf<Post<P>>> => {
    const call = sortOut(path, given);
    const [body, options] = call.rest as [unknown, CallOptions?];
    assertPart(path, body);
    return send(
      { method: 'POST', path: call.path, body, takesKey, options },
      readJson<JsonOf<Post<P>>>,
    );
  };

/** A route that creates something, or moves money: it has an idempotency key. */
export const create = <P extends CreatePath>(send: Send, path: P) => posting(send, path, true);

/** A route that changes something by its id, without a body: a repetition changes nothing. */
export const act =
  <P extends ActPath>(send: Send, path: P) =>
  (id: string, options?: CallOptions): Promise<JsonOf<Post<P>>> =>
    send({ method: 'POST', path: filled(path, id), options }, readJson<JsonOf<Post<P>>>);

/** The same with a body. */
export const actWith = <P extends Exclude<PostPath, CreatePath | ActPath>>(send: Send, path: P) =>
  posting(send, path, false);
