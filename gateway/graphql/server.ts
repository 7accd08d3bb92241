/** The graph over HTTP: Apollo Server on `/graphql`, GraphiQL for browsers, and WebSockets. */
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifyError } from 'fastify';
import { GraphQLError } from 'graphql';
import * as v from 'valibot';
import { lazily } from '../../subgraphs/platform/graph/lazily.ts';
import { requestIdOf, type Logger } from '../../subgraphs/platform/tracing/telemetry.ts';
import type { RefusalCode } from '../../subgraphs/rules/refusal.ts';
import {
  checkCaller,
  isAdmitted,
  recogniseCaller,
  shownBy,
  takeCost,
  takeToken,
  type NotAdmitted,
  rateHeaders,
  rateMessage,
  type RateLimiter,
  blockedMessage,
} from '../callers/admit-caller.ts';
import type { Origins } from '../../subgraphs/platform/access/caller-address.ts';
import type { Authenticated } from '../callers/caller.ts';
import { registerSockets } from '../live/sockets.ts';
import type { Supergraph } from '../supergraph.ts';
import type { OpenApollo, PayingCall } from './apollo.ts';
import { consoleDocument, openDocumentReader, type DocumentReader } from './read-document.ts';
import { document_bytes_max } from './document-limits.ts';
import { codedError, presentError } from './errors.ts';
import {
  numberMistake,
  bytesOf,
  takeRawBodies,
  identityOnly,
  isCompressed,
  BodyMistake,
} from './raw-body.ts';
import type { GraphProtocolDeps } from './graph-protocol.ts';
import { serveGraphiql } from './graphiql.ts';

/* CORS on `/graphql` (Fetch, 3.2), for the origins that `GRAPHQL_ORIGINS` names: with bearers. */

/** How long a browser need not ask again. */
const preflight_s = 600;

const sentHeaders = ['authorization', 'content-type', 'x-psp-signature', 'x-request-id'];
const shownHeaders = [
  'x-request-id',
  'retry-after',
  'ratelimit-limit',
  'ratelimit-remaining',
  'ratelimit-reset',
];

/** Lets pages of the named origins read what the scope's routes answer. */
const answerOrigins = (scope: FastifyInstance, origins: Origins): void => {
  if (!origins.hasOthers) return;
  scope.addHook('onRequest', async (request, reply) => {
    const origin = origins.otherOf(request);
    void reply.header('vary', 'origin');
    if (origin === null) return;
    void reply.headers({
      'access-control-allow-origin': origin,
      'access-control-expose-headers': shownHeaders.join(', '),
    });
  });
  scope.options('/graphql', async (request, reply) => {
    if (origins.otherOf(request) !== null)
      void reply.headers({
        'access-control-allow-methods': 'GET, POST',
        'access-control-allow-headers': sentHeaders.join(', '),
        'access-control-max-age': String(preflight_s),
      });
    return reply.code(204).send();
  });
};

interface GatewayDeps extends Omit<GraphProtocolDeps, 'documents'> {
  readonly supergraph: Pick<Supergraph, 'apiSchema' | 'execute' | 'apolloGateway' | 'mistakesIn'>;
  readonly graphiql: boolean;
  readonly introspection: boolean;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set before the body of a request to the graph is read. */
    graphCaller: Authenticated | null;
  }
}

/** The request's id. The server around may have set it already. */
const requestIdFor = (request: FastifyRequest, reply: FastifyReply): string => {
  const stamped = reply.getHeader('x-request-id');
  if (typeof stamped === 'string') return stamped;
  const requestId = requestIdOf(request.headers['x-request-id']);
  reply.header('x-request-id', requestId);
  return requestId;
};

const sendError = (
  reply: FastifyReply,
  status: number,
  code: string,
  message: string,
): FastifyReply =>
  reply
    .code(status)
    .type('application/json; charset=utf-8')
    .send({ errors: [presentError({ message, extensions: { code } })] });

const sendRateLimited = (reply: FastifyReply, wait_s: number, message: string): FastifyReply =>
  sendError(reply.header('retry-after', String(wait_s)), 429, 'rate_limited', message);

/** The error of an unreadable request, by the status that the server gives it. */
const unreadable: ReadonlyMap<number | undefined, readonly [code: string, message: string]> =
  new Map([
    [400, ['bad_request', 'The body is not valid JSON.']],
    [413, ['payload_too_large', `The body is larger than ${document_bytes_max} bytes.`]],
    [415, ['unsupported_media_type', 'Send uncompressed application/json.']],
  ]);

const answerError =
  (log: Logger) =>
  (error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    if (isCompressed(request)) reply.headers(identityOnly);
    if (error instanceof BodyMistake) return sendError(reply, 400, 'bad_request', error.message);
    const [code, message] = unreadable.get(error.statusCode) ?? [];
    if (code !== undefined && message !== undefined)
      return sendError(reply, error.statusCode ?? 400, code, message);
    log.error(
      { err: error, requestId: requestIdFor(request, reply) },
      'a request to the graph failed',
    );
    return sendError(reply, 500, 'internal_error', 'internal error');
  };

const sendMistakes = (reply: FastifyReply, mistakes: readonly GraphQLError[]): FastifyReply => {
  const isBusy = mistakes.some(({ extensions }) => extensions['code'] === 'rate_limited');
  if (isBusy) reply.header('retry-after', '1');
  return reply
    .code(isBusy ? 429 : 400)
    .type('application/json; charset=utf-8')
    .send({ errors: mistakes.map((mistake) => presentError(mistake.toJSON())) });
};

const sendNotAdmitted = (reply: FastifyReply, why: NotAdmitted): FastifyReply => {
  if (why === null)
    return sendError(
      reply.header('retry-after', '1'),
      503,
      'unavailable',
      'The service cannot check keys right now; try again.',
    );
  if ('blocked_s' in why)
    return sendRateLimited(reply, why.blocked_s, blockedMessage(why.blocked_s));
  if (why.code === 'unauthorized') reply.header('www-authenticate', 'Bearer');
  return sendError(reply, notAdmittedStatus[why.code] ?? 403, why.code, why.message);
};

const notAdmittedStatus: Readonly<Partial<Record<RefusalCode, number>>> = {
  unauthorized: 401,
  signature_required: 400,
  invalid_signature: 400,
};

/**
 * Serves the graph on `/graphql`. Without a valid key or token the answer is 401, 403 or 503, with
 * one GraphQL error that has the refusal's code. Sockets end with 1001 when the app closes; calls
 * in flight are completed.
 */
export const registerGateway = async (app: FastifyInstance, deps: GatewayDeps): Promise<void> => {
  const documents = openDocumentReader(deps.supergraph, deps.introspection);
  let opened: OpenApollo | null = null;
  // Many processes serve REST alone: Apollo Server is loaded by the first document over HTTP.
  const apollo = lazily(async () => {
    const { openApollo } = await import('./apollo.ts');
    opened = await openApollo(deps, documents);
    return opened;
  });
  await app.register(async (scope) => {
    scope.decorateRequest('graphCaller', null);
    scope.setErrorHandler(answerError(deps.log));
    answerOrigins(scope, deps.origins);
    const readBody = takeRawBodies(scope);
    const sendGraphiql = deps.graphiql ? serveGraphiql(scope) : null;
    scope.route({
      method: ['GET', 'HEAD', 'POST'],
      url: '/graphql',
      bodyLimit: document_bytes_max,
      // Before the body is read, so that no resources are spent on strangers.
      onRequest: async (request, reply) => {
        const requestId = requestIdFor(request, reply);
        if (sendGraphiql && wantsPage(request)) return;
        const caller = await recogniseCaller(shownBy(request.raw), deps, requestId);
        if (!isAdmitted(caller)) return sendNotAdmitted(reply, caller);
        request.graphCaller = caller;
      },
      handler: async (request, reply) => {
        const requestId = requestIdFor(request, reply);
        if (sendGraphiql && wantsPage(request)) return sendGraphiql(reply);
        const caller = await admit(request, reply, deps, requestId);
        if (!caller) return reply;
        const sent = await readBody(request);
        const body = caller.session === undefined ? sent : namedBody(request, sent);
        if (body instanceof GraphQLError) return sendMistakes(reply, [body]);
        const inexact = writtenMistake(request);
        if (inexact) return sendMistakes(reply, [inexact]);
        const mistakes = await mistakesIn(documents, textOf(request, body), caller);
        if (mistakes.length > 0) return sendMistakes(reply, mistakes);
        const charge = (tokens: number): Promise<GraphQLError | null> =>
          takeFurther(reply, caller, tokens, deps.limiter);
        return runOver(await apollo(), request, body, reply, {
          principal: caller.principal,
          requestId,
          isInLane: true,
          charge,
        });
      },
    });
  });
  registerSockets(app, { ...deps, documents });
  app.addHook('onClose', async () => opened?.stop());
};

const named = v.object({
  operationName: v.nullish(v.string()),
  variables: v.nullish(v.record(v.string(), v.unknown())),
  extensions: v.nullish(v.record(v.string(), v.unknown())),
});

/** The body that a session's request stands for: its operation is one of the console's. */
const namedBody = ({ method }: FastifyRequest, sent: unknown): object | GraphQLError => {
  if (method !== 'POST' || !v.is(named, sent))
    return codedError('bad_request', 'A session sends its operations by POST.');
  const query = consoleDocument(sent);
  if (typeof query !== 'string') return query;
  return { query, operationName: sent.operationName, variables: sent.variables ?? {} };
};

const withQuery = v.object({ query: v.string() });

const parametersOf = ({ url }: FastifyRequest): URLSearchParams =>
  new URLSearchParams(url.slice(url.indexOf('?') + 1));

/**
 * The error for variables in the address with a number that is not written as an integer; a body's
 * numbers are looked at where it is parsed.
 */
const writtenMistake = (request: FastifyRequest): GraphQLError | null => {
  const text = request.method === 'GET' ? parametersOf(request).get('variables') : null;
  const mistake = text && numberMistake(text);
  return mistake ? codedError('bad_request', `variables.${mistake}`) : null;
};

/** The text of a request's document; null when there is none, or it cannot be read. */
const textOf = (request: FastifyRequest, body: unknown): string | null => {
  if (request.method === 'GET') return parametersOf(request).get('query');
  return v.is(withQuery, body) ? body.query : null;
};

const mistakesIn = async (
  documents: DocumentReader,
  text: string | null,
  { principal }: Authenticated,
): Promise<readonly GraphQLError[]> => {
  if (text === null || text === '') return [];
  const read = await documents.read(text, principal);
  return 'kind' in read ? [] : read;
};

/** Takes the tokens, and reports in the answer's headers what is left. */
const takeFurther = async (
  reply: FastifyReply,
  caller: Authenticated,
  tokens: number,
  limiter: RateLimiter,
): Promise<GraphQLError | null> => {
  const further = await takeCost(caller, tokens, limiter);
  if (!further) return null;
  const { limit, taken } = further;
  reply.headers(rateHeaders(limit, taken));
  if (taken.granted) return null;
  reply.header('retry-after', String(taken.retryAfter_s));
  const message = `The operation costs ${tokens} tokens: ${rateMessage(taken.retryAfter_s)}`;
  return codedError('rate_limited', message, 429);
};

/**
 * A browser's request for the page. The page keeps its query in the address, so that parameters do
 * not distinguish the two.
 */
const wantsPage = ({ method, headers }: FastifyRequest): boolean =>
  method !== 'POST' && (headers.accept ?? '').includes('text/html');

/** The recognised caller, whose first token has been taken; null when the refusal has been sent. */
const admit = async (
  request: FastifyRequest,
  reply: FastifyReply,
  deps: GatewayDeps,
  requestId: string,
): Promise<Authenticated | null> => {
  const { raw, graphCaller } = request;
  if (!graphCaller) throw new Error('a request came through without its caller');
  const caller = checkCaller(graphCaller, shownBy(raw, bytesOf(request)), deps, requestId);
  if (!isAdmitted(caller)) {
    sendNotAdmitted(reply, caller);
    return null;
  }
  const token = await takeToken(caller, deps.limiter);
  if (!token) return caller;
  const { limit, taken } = token;
  reply.headers(rateHeaders(limit, taken));
  if (taken.granted) return caller;
  sendRateLimited(reply, taken.retryAfter_s, rateMessage(taken.retryAfter_s));
  return null;
};

const runOver = async (
  apollo: OpenApollo,
  { method, url, headers }: FastifyRequest,
  body: unknown,
  reply: FastifyReply,
  call: PayingCall,
): Promise<FastifyReply> => {
  const answer = await apollo.run({ method, url, headers, body }, call);
  for (const [name, value] of answer.headers) reply.header(name, value);
  // It has waited too long in the lane (takeFurther has said when where tokens were missing).
  if (answer.status === 429 && !reply.hasHeader('retry-after')) reply.header('retry-after', '1');
  return reply.code(answer.status).send(answer.body);
};
