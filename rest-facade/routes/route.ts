/**
 * A row of the table of routes. It names the operation behind the route, the root field whose access
 * row holds the scopes, how a request becomes variables, and how data becomes an answer.
 */
import type { OperationMap, OperationName } from '../../schema/generated/operation-map.ts';
import type { Idempotency } from '../../schema/generated/operations.ts';
import type { access } from '../../subgraphs/platform/access/access.ts';
import type { Scope } from '../../subgraphs/platform/access/principal.ts';

/** A valid request. Fields of body and query are camelCase, and defaults are filled in. */
export interface ValidRequest<Body, Query = Empty> {
  /** The `{id}` of the path, lower case, with its prefix; '' where there is none. */
  readonly id: string;
  readonly body: Body;
  readonly query: Query;
  /** Null without the header. */
  readonly idempotency: Idempotency | null;
}

/** A request without a body. */
export type Asking<Query> = ValidRequest<Empty, Query>;

/** What the merchant gets. */
export interface Answer {
  readonly status: 200 | 201;
  readonly body: object;
  /** A replay has the header Idempotent-Replayed. */
  readonly replayed: boolean;
}

/** Data in which no mutation has refused. */
type Made<Data> = {
  readonly [Field in keyof Data]: Exclude<Data[Field], { readonly __typename: 'Refused' }>;
};

/** Null: there is no such object. */
export type Outcome = Answer | null;

/** A row as the facade runs it: any operation, any request. */
export interface Route {
  readonly method: 'GET' | 'POST';
  /** OpenAPI style: `/v1/public/payments/{id}`. */
  readonly path: string;
  readonly operation: OperationName | 'StreamEvents';
  /** The row of the access table. */
  readonly field: keyof typeof access;
  /** The prefix before the UUID of the path's `{id}`: `evt_`. Absent: none. */
  readonly idPrefix?: string;
  /** The form of the path's `{id}`, with its case, where it is no UUID. Absent: a UUID. */
  readonly idForm?: RegExp;
  /** What else names the route's object, in lower case: the public number of a payment. */
  readonly otherId?: RegExp;
  /** Whether the route accepts Idempotency-Key. */
  readonly idempotent: boolean;
  /** 256 KiB, a batch 1 MiB. */
  readonly bodyLimit_bytes: number;
  /**
   * json: one operation, one answer. list: one answer out of as many pages of the operation as
   * there are. ledger: json, or a CSV file. stream: server-sent events.
   */
  readonly kind: 'json' | 'list' | 'ledger' | 'stream';
  /**
   * A scope that the body decides, in addition to those of the access row, as for payouts by
   * method.
   */
  readonly bodyScope?: (body: unknown) => Scope | null;
  /** The argument that the body is as a whole: paths of wrong fields leave out its name. */
  readonly bodyIsArgument?: string;
  readonly variables: (request: ValidRequest<never, never>) => Readonly<Record<string, unknown>>;
  /** Only of what is no refusal: `server.ts` answers those. */
  readonly answer: (data: never, request: ValidRequest<never, never>) => Outcome;
}

type Details = Omit<Route, 'method' | 'path' | 'operation' | 'field' | 'variables' | 'answer'>;

interface Row<Name extends OperationName, Body, Query> extends Partial<Details> {
  readonly variables: (request: ValidRequest<Body, Query>) => OperationMap[Name]['variables'];
  readonly answer: (
    data: Made<OperationMap[Name]['result']>,
    request: ValidRequest<Body, Query>,
  ) => Outcome;
}

export const bodyLimit_bytes = 256 * 1_024;
export const batchBodyLimit_bytes = 1_024 * 1_024;

export const row = <Name extends OperationName, Body = Empty, Query = Empty>(
  method: Route['method'],
  path: `/${string}`,
  operation: Name,
  field: Route['field'],
  of: Row<Name, Body, Query>,
): Route => ({
  method,
  path: `/v1/public${path}`,
  operation,
  field,
  idempotent: false,
  bodyLimit_bytes,
  kind: 'json',
  ...of,
});

/** The merchant's own pairs. */
export type Metadata = Readonly<Record<string, string>>;
type Empty = Readonly<Record<never, never>>;
export interface Page {
  readonly limit: number;
  readonly cursor?: string | undefined;
  readonly from?: string;
  readonly to?: string;
}
export interface StatusPage<Status> extends Page {
  readonly status?: Status[];
}
/** Moments between which the rows of a page were made, and further fields of its list's filter. */
export type Narrowed<Fields = Empty> = Partial<Fields> & {
  readonly createdFrom?: string;
  readonly createdTo?: string;
};

export const ok = (body: object): Answer => ({ status: 200, body, replayed: false });
export const created = (body: object, idempotent: boolean): Answer => ({
  status: idempotent ? 200 : 201,
  body,
  replayed: idempotent,
});
export const cancelled = ok({ status: 'cancelled' });
export const paged = <Node>(
  {
    nodes,
    pageInfo,
  }: { nodes: readonly Node[]; pageInfo: { hasNextPage: boolean; endCursor: string | null } },
  json: (node: Node) => object,
): Answer =>
  ok({ items: nodes.map(json), next_cursor: pageInfo.hasNextPage ? pageInfo.endCursor : null });
/** The filter of a list; null where the query narrows nothing, which is the registry's own page. */
export const filterOf = <Fields extends object>(fields: Fields): Fields | null =>
  Object.values(fields).some((value) => value !== undefined) ? fields : null;
export const narrowed = <Fields extends object>(
  { createdFrom, createdTo }: Narrowed,
  fields: Fields,
) => filterOf({ ...fields, since: createdFrom, until: createdTo });
export const pageVariables = ({ limit, cursor, from, to }: Page) => ({
  first: limit,
  after: cursor ?? null,
  from: from ?? null,
  to: to ?? null,
});
export const statusPage = <Status>(query: StatusPage<Status>) => ({
  ...pageVariables(query),
  status: query.status ?? null,
});
/** The variables of an operation that takes the body as it is. */
export const bodyAsInput = <Body>({ body, idempotency }: ValidRequest<Body>) => ({
  input: body,
  idempotency,
});
