/**
 * The REST API on a server: the routes of the table behind their checks, and the documentation. The
 * checks of a call are in the order of docs/contract.md#order-of-checks: those of the key and the
 * address before the body is read, the others after it.
 */
import type { FastifyReply, FastifyRequest, FastifyInstance } from 'fastify';
import type { GraphQLError } from 'graphql';
import {
  checkCaller,
  isAdmitted,
  shownBy,
  type AdmissionDeps,
  recogniseCaller,
  takeToken,
  type NotAdmitted,
  addressHeaders,
  rateHeaders,
  type RateLimiter,
} from '../gateway/callers/admit-caller.ts';
import { bytesOf } from '../gateway/graphql/raw-body.ts';
import type { Supergraph } from '../gateway/supergraph.ts';
import type { OperationName } from '../schema/generated/operation-map.ts';
import type { RefusedFieldsFragment } from '../schema/generated/operations.ts';
import { accessRefusal } from '../subgraphs/platform/access/access.ts';
import type { Call, KeyPrincipal } from '../subgraphs/platform/access/principal.ts';
import type { Logger } from '../subgraphs/platform/tracing/telemetry.ts';
import {
  longAnswers_max,
  partsOf,
  sendLedgerCsv,
  sendText,
  walkPages,
  type LongDeps,
} from './long-answers.ts';
import { type ContractOperation, namesOf, readContract, type Contract } from './read-contract.ts';
import {
  isErrorCode,
  refuse,
  sendRefusal,
  type Refusal,
  addressBlocked,
  rateExceeded,
} from './refusal-http.ts';
import { ledgerFilePart } from './routes/payouts.ts';
import {
  bodyScopeOf,
  compileRequest,
  idOf,
  lacksScope,
  type AnyRequest,
  type Outcome,
  type Route,
} from './routes/route.ts';
import type { ApiKeyHolder } from '../gateway/callers/caller.ts';
import { openNamedQuota } from '../gateway/callers/limits.ts';
import { takeBankCallbacks, type BankCallbackDeps } from './bank-callback.ts';
import { routes } from './routes.ts';
import { serveDocs } from './serve-docs.ts';
import { openRequestLog } from './request-log/note-requests.ts';

/*
 * Who calls the REST API, and how often. Every wrong key has one answer; a key comes in one header
 * and nowhere else.
 */

/** A merchant's key, recognised. */
interface Caller {
  readonly principal: KeyPrincipal;
  readonly holder: ApiKeyHolder;
}

/**
 * The caller, or why it is not admitted; operators and buyers are refused as strangers are.
 */
const authenticate = async (
  { raw, id }: FastifyRequest,
  deps: AdmissionDeps,
): Promise<Caller | NotAdmitted> => {
  const found = await recogniseCaller(shownBy(raw), deps, id);
  if (!isAdmitted(found)) return found;
  const { principal, holder } = found;
  if (principal.kind === 'key' && holder) return { principal, holder };
  const refused = await recogniseCaller({ request: raw, authorization: undefined }, deps, id);
  if (isAdmitted(refused)) throw new Error('a caller was admitted without a key');
  return refused;
};

const admissionRefusal = (why: NotAdmitted): Refusal => {
  if (why === null)
    return refuse('unavailable', 'the service cannot check keys right now; try again');
  return 'blocked_s' in why ? addressBlocked(why.blocked_s) : why;
};

/**
 * Sends why a caller is not admitted, with the remaining calls of the address; `keyId` is set if the
 * key is known.
 */
const sendNotAdmitted = (
  request: FastifyRequest,
  reply: FastifyReply,
  why: NotAdmitted,
  limiter: RateLimiter,
  keyId = why && 'blocked_s' in why ? why.keyId : undefined,
): FastifyReply =>
  sendRefusal(reply.headers(addressHeaders(limiter, request.raw, keyId)), admissionRefusal(why));

/**
 * Takes one of the merchant's tokens and puts into the answer's headers how many are left. Refuses
 * when there was none.
 */
const limitMerchant = async (
  reply: FastifyReply,
  caller: Caller,
  limiter: RateLimiter,
): Promise<Refusal | null> => {
  const token = await takeToken(caller, limiter);
  if (!token) return null;
  reply.headers(rateHeaders(token.limit, token.taken));
  return token.taken.granted ? null : rateExceeded(token.taken.retryAfter_s);
};

/*
 * A list that is answered as a whole (`{items: [...]}`) unless the caller requests a page. The
 * operation is read page by page, and the answer is written meanwhile. A list of one page is an
 * ordinary answer.
 */

/**
 * A page takes a few milliseconds to be read and printed: so long is everybody else's call held up.
 */
const rowsPerPage = 200;

interface Items {
  readonly items: readonly object[];
  readonly next_cursor: string | null;
}

/** Whether a page is requested instead of the whole list. */
const isOfPage = ({ query }: AnyRequest): boolean =>
  query['limit'] !== undefined || query['cursor'] !== undefined;

const cursorOf = ({ next_cursor }: Items): string | null => next_cursor;

/** The answer's text, a page at a time. */
const textOf = async function* (
  first: Items,
  readBehind: (cursor: string) => Promise<Items | Refusal>,
): AsyncGenerator<string> {
  yield '{"items":[';
  let between = '';
  for await (const { items } of walkPages(first, cursorOf, readBehind)) {
    if (items.length === 0) continue;
    yield `${between}${JSON.stringify(items).slice(1, -1)}`;
    between = ',';
  }
  yield ']}';
};

/**
 * Sends the whole list. The first page is read before anything is sent, so that a refusal is an
 * envelope; a later failure breaks the connection off.
 */
const sendList = async (
  request: FastifyRequest,
  reply: FastifyReply,
  asked: AnyRequest,
  deps: LongDeps,
): Promise<FastifyReply> => {
  const read = partsOf<Items>(asked, { limit: rowsPerPage }, deps);
  const first = await read();
  if ('code' in first) return sendRefusal(reply, first);
  if (first.next_cursor === null) return reply.send({ items: first.items });
  reply.type('application/json; charset=utf-8');
  // A HEAD of a stream reads it to its end.
  if (request.method === 'HEAD') return reply.send('');
  return sendText(reply, textOf(first, read), deps);
};

/** Opens the live stream for a caller that may have it: rest-facade/event-stream.ts. */
export type OpenStream = (request: FastifyRequest, reply: FastifyReply, call: Call) => unknown;

interface CallDeps extends AdmissionDeps, Pick<LongDeps, 'longAnswers'> {
  readonly supergraph: Pick<Supergraph, 'operation'>;
  readonly openStream: OpenStream;
}

/**
 * Runs a route's operation: the outcome as the row gives it, or a refusal that came as an error.
 */
type RunOperation = (asked: AnyRequest, call: Call) => Promise<Outcome | Refusal>;

/** Answers a request whose key has been recognised. Its `body` is the bytes as sent. */
const openCall = (route: Route, operation: ContractOperation, deps: CallDeps) => {
  const readRequest = compileRequest(route, operation);
  const run = route.operation === 'StreamEvents' ? null : openRun(route, route.operation, deps);
  const isInLane = run !== null && isList(route);
  const showClock = openShowClock(deps);
  const readPart = route.kind === 'ledger' ? openRun(ledgerFilePart, 'ExportLedger', deps) : null;
  return async (request: FastifyRequest, reply: FastifyReply, caller: Caller): Promise<unknown> => {
    const { principal } = caller;
    const checked = checkCaller(caller, shownBy(request.raw, bytesOf(request)), deps, request.id);
    if (!isAdmitted(checked))
      return sendNotAdmitted(request, reply, checked, deps.limiter, principal.keyId);
    const overLimit = await limitMerchant(reply, caller, deps.limiter);
    if (!overLimit && caller.holder.hasTestClock) await showClock(reply, caller);
    const refusal = overLimit ?? refuseScope(route, request, caller);
    if (refusal) return sendRefusal(reply, refusal);
    const asked = readRequest(request, principal);
    if ('code' in asked) return sendRefusal(reply, asked);
    const mayRepeat = asked.idempotency !== null;
    const call: Call = { principal, requestId: request.id, isInLane, mayRepeat };
    if (!run) return deps.openStream(request, reply, call);
    const long = { merchantId: principal.merchantId, longAnswers: deps.longAnswers };
    if (readPart && asked.query['format'] === 'csv')
      return sendLedgerCsv(request, reply, asked, {
        ...long,
        read: (part) => readPart(part, call),
      });
    if (route.kind === 'list' && !isOfPage(asked))
      return sendList(request, reply, asked, { ...long, read: (page) => run(page, call) });
    return sendOutcome(reply, await run(asked, call));
  };
};

/**
 * Adds the time of the shop's test clock at the beginning of the call to the response headers,
 * which explains why nothing happens while it is frozen. Without an answer about the clock there is
 * no header.
 */
const openShowClock = ({ supergraph, log }: CallDeps) => {
  const read = supergraph.operation('ReadTestClock');
  return async (reply: FastifyReply, { principal }: Caller): Promise<void> => {
    const call = { principal, requestId: reply.request.id, isInLane: false };
    const { data, errors } = await read.run({}, call);
    if (errors)
      log.warn({ err: errors[0], requestId: call.requestId }, 'could not read a test clock');
    const clock = data?.testClock;
    if (!clock) return;
    const does = clock.advancingTo ? 'advancing' : clock.frozen ? 'frozen' : 'running';
    reply.header('x-test-clock', `${clock.now}; ${does}`);
  };
};

/** What reads more than one object that the caller names. */
const isList = ({ method, path }: Route): boolean => method === 'GET' && !path.includes('{');

/** Where any of several scopes would do, the one that this very body needs is named. */
const refuseScope = (
  route: Route,
  request: FastifyRequest,
  { principal }: Caller,
): Refusal | null => {
  const lack = accessRefusal(route.field, principal);
  if (lack === null) return null;
  const scope = bodyScopeOf(route, request);
  return scope === null ? refuse('scope_required', lack) : lacksScope(scope);
};

const openRun = (
  route: Pick<Route, 'variables' | 'answer' | 'bodyIsArgument'>,
  name: OperationName,
  { supergraph, log }: CallDeps,
): RunOperation => {
  const operation = supergraph.operation(name);
  return async (asked, call) => {
    // The row's types tie request, variables and data to this operation; the table holds rows of
    // all operations, so that they are lost here.
    const { data, errors } = await operation.run(route.variables(asked as never), call);
    const [error] = errors ?? [];
    if (error) return refusalOf(error, name, call, log);
    const refused = Object.values<unknown>(data ?? {}).find(isRefused);
    if (refused) return inBody(refused, route.bodyIsArgument);
    return route.answer(data as never, asked as never);
  };
};

const isRefused = (result: unknown): result is RefusedFieldsFragment =>
  (result as { __typename?: unknown } | null)?.__typename === 'Refused';

/**
 * The refusal of a mutation, with the paths that its wrong fields have in the body: the message
 * begins with one, too.
 */
const inBody = (refused: RefusedFieldsFragment, argument: string | undefined): Refusal => {
  const outside = argument === undefined ? '' : `${argument}.`;
  const inside = (path: string): string =>
    path.startsWith(outside) ? path.slice(outside.length) : path;
  const { code, message, fields, firstRequest } = refused;
  return {
    code,
    message: inside(message),
    fields: fields.map((field) => ({ ...field, path: inside(field.path) })),
    firstRequest,
  };
};

/**
 * What a merchant learns of a GraphQL error: a refusal that a query meant, else nothing about us.
 */
const refusalOf = (error: GraphQLError, operation: string, call: Call, log: Logger): Refusal => {
  const code = error.extensions['code'];
  if (isErrorCode(code))
    return refuse(code, code === 'internal_error' ? internalError : error.message);
  log.error({ err: error, code, operation, requestId: call.requestId }, 'an operation failed');
  return refuse('internal_error', internalError);
};

const internalError = 'something broke on our side; quote X-Request-Id to support';

/** Sends what an operation came to. A replay is marked in a header. */
const sendOutcome = (reply: FastifyReply, outcome: Outcome | Refusal): FastifyReply => {
  if (outcome === null) return sendRefusal(reply, refuse('not_found', 'there is no such object'));
  if ('code' in outcome) return sendRefusal(reply, outcome);
  if (outcome.replayed) reply.header('idempotent-replayed', 'true');
  return reply.code(outcome.status).send(outcome.body);
};

interface RestFacadeDeps extends Omit<CallDeps, 'longAnswers'> {
  readonly bankCallbacks: BankCallbackDeps;
  /** Where the API is, as its callers see it; without a slash at the end. */
  readonly publicUrl: string;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set before the body is read. */
    caller: Caller | null;
  }
}

/**
 * Adds every documented route, `/docs`, `/v1/public/openapi.json`, and the addresses of bank
 * notifications. Throws if the OpenAPI description lacks a route.
 */
export const registerRestFacade = async (
  app: FastifyInstance,
  deps: RestFacadeDeps,
): Promise<void> => {
  const contract = readContract();
  app.ownAnswers.headersOf = (request) => addressHeaders(deps.limiter, request);
  await app.register(async (scope) => {
    scope.decorateRequest('caller', null);
    // The bytes as sent: the signature is over them, and what they mean is checked only after it.
    scope.removeAllContentTypeParsers();
    // The exact type is registered as well, because it is found without parsing.
    for (const type of ['application/json', '*'])
      scope.addContentTypeParser(type, { parseAs: 'buffer' }, (_request, bytes, done) =>
        done(null, bytes),
      );
    const requestLog = openRequestLog(deps.supergraph, namesOf(contract), deps.log);
    scope.addHook('onSend', async (request, reply, payload) => {
      if (isNoted(request, reply) && request.caller)
        requestLog.take(request, reply, request.caller.principal, payload);
      return payload;
    });
    scope.addHook('onClose', () => requestLog.close());
    const longAnswers = openNamedQuota(longAnswers_max);
    for (const route of routes) addRoute(scope, route, contract, { ...deps, longAnswers });
  });
  await serveDocs(app, contract, deps.publicUrl);
  await takeBankCallbacks(app, deps.bankCallbacks, deps);
};

/**
 * Whether a call is logged: it was refused, failed or created something. A look-up of a request
 * that is not in the log yet does not count, since polling would fill the log.
 */
const isNoted = (
  { routeOptions: { url } }: FastifyRequest,
  { statusCode }: FastifyReply,
): boolean =>
  statusCode === 201 ||
  (statusCode >= 400 && !(statusCode === 404 && url === '/v1/public/requests/:id'));

const addRoute = (
  scope: FastifyInstance,
  route: Route,
  contract: Contract,
  deps: CallDeps,
): void => {
  const operation = contract.operations.get(route.operation);
  if (!operation) throw new Error(`the contract has no operation ${route.operation}`);
  const call = openCall(route, operation, deps);
  const isByName = route.path.includes('{id}');
  scope.route({
    method: route.method,
    url: route.path.replace('{id}', ':id'),
    bodyLimit: route.bodyLimit_bytes,
    ...(route.kind === 'stream' ? { config: { load: 'long-lived' as const } } : {}),
    onRequest: async (request, reply) => {
      // The router takes nothing for a name, too: `/payments/` is no address.
      if (isByName && idOf(request) === '') {
        reply.headers(addressHeaders(deps.limiter, request.raw));
        return sendRefusal(reply, refuse('not_found', 'there is nothing at this address'));
      }
      const caller = await authenticate(request, deps);
      if (caller === null || !('holder' in caller))
        return sendNotAdmitted(request, reply, caller, deps.limiter);
      request.caller = caller;
    },
    handler: async (request, reply) => {
      if (!request.caller) throw new Error('a request came through without its key');
      return call(request, reply, request.caller);
    },
  });
};
