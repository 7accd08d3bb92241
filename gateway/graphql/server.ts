/**
 * The graph over HTTP: ad-hoc documents by Apollo Server on `/graphql`, GraphiQL in a browser,
 * WebSockets beside it.
 */
import {
  ApolloServer,
  HeaderMap,
  type ApolloServerPlugin,
  type HTTPGraphQLRequest,
} from '@apollo/server';
import { ApolloServerPluginLandingPageDisabled } from '@apollo/server/plugin/disabled';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { GraphQLError, OperationTypeNode } from 'graphql';
import { isRefused, type RefusalCode } from '../../subgraphs/kernel/rules/refusal.ts';
import type { Call } from '../../subgraphs/kernel/service/access/principal.ts';
import { requestIdOf, type Logger } from '../../subgraphs/kernel/service/tracing/telemetry.ts';
import { admitCaller, takeCost, takeToken, type NotAdmitted } from '../callers/admit-caller.ts';
import { authorizationOf } from '../callers/authenticate.ts';
import type { Authenticated } from '../callers/caller.ts';
import { costOf } from './document-cost.ts';
import { signaturesOf } from '../callers/check-caller.ts';
import { document_bytes_max, documentTokens_max, tooDeep } from './document-limits.ts';
import type { GraphProtocolParts } from './graph-protocol.ts';
import { serveGraphiql } from './graphiql.ts';
import { refusePastEvents } from '../live/past-events.ts';
import { presentError } from './present-error.ts';
import {
  blockedMessage,
  rateHeaders,
  rateMessage,
  type RateLimiter,
} from '../callers/rate-limit.ts';
import { bytesOf, isCompressed, takeRawBodies, uncompressedAlone } from './raw-body.ts';
import { openDocumentReader, type DocumentReader } from './read-document.ts';
import { registerSubscriptions } from '../live/subscriptions.ts';
import type { Supergraph } from '../supergraph.ts';

export interface GatewayParts extends GraphProtocolParts {
  readonly supergraph: Pick<Supergraph, 'apiSchema' | 'execute' | 'apolloGateway' | 'mistakesIn'>;
  /** Whether a browser gets GraphiQL; it does unless this says otherwise. */
  readonly graphiql?: boolean;
}

/**
 * Serves the graph on `/graphql`. Without a good key or token an answer is 401, 403 or 503, with
 * one GraphQL error whose code is the refusal's. Sockets end with 1001 when the app closes; calls
 * in flight end by themselves.
 */
export const registerGateway = async (app: FastifyInstance, parts: GatewayParts): Promise<void> => {
  const documents = openDocumentReader(parts.supergraph, parts.introspection);
  const apollo = openApollo(parts, documents);
  await apollo.start();
  await app.register(async (scope) => {
    scope.setErrorHandler(answerError(parts.log));
    const readBody = takeRawBodies(scope);
    const sendGraphiql = (parts.graphiql ?? true) ? serveGraphiql(scope) : null;
    scope.route({
      method: ['GET', 'HEAD', 'POST'],
      url: '/graphql',
      bodyLimit: document_bytes_max,
      handler: async (request, reply) => {
        const requestId = requestIdFor(request, reply);
        if (sendGraphiql && wantsPage(request)) return sendGraphiql(reply);
        const caller = await admit(request, reply, parts, requestId);
        if (!caller) return reply;
        const body = await readBody(request);
        const mistakes = await mistakesIn(documents, textOf(request, body), caller);
        if (mistakes.length > 0) return sendMistakes(reply, mistakes);
        const charge = (tokens: number): Promise<GraphQLError | null> =>
          takeFurther(reply, caller, tokens, parts.limiter);
        return runOver(apollo, request, body, reply, {
          principal: caller.principal,
          requestId,
          charge,
        });
      },
    });
  });
  registerSubscriptions(app, { ...parts, documents });
  app.addHook('onClose', () => apollo.stop());
};

/** A call of the graph, which pays for what it runs. */
interface PayingCall extends Call {
  /**
   * Takes what the operation costs beyond the token of its request. Gives the refusal when there
   * are not so many.
   */
  readonly charge: (tokens: number) => Promise<GraphQLError | null>;
}

const openApollo = (
  { supergraph, log, introspection = true }: GatewayParts,
  documents: DocumentReader,
): ApolloServer<PayingCall> =>
  new ApolloServer<PayingCall>({
    gateway: supergraph.apolloGateway,
    logger: log,
    nodeEnv: 'production',
    introspection,
    // A bearer is sent by no browser of its own accord: who could write it could write any other
    // header.
    csrfPrevention: {
      requestHeaders: ['authorization', 'apollo-require-preflight', 'x-apollo-operation-name'],
    },
    allowBatchedHttpRequests: false,
    // Automatic persisted queries: a client may send the SHA-256 of what was sent before. Whatever
    // has been read is found so, and is not read again here.
    persistedQueries: {
      cache: {
        get: async (key) => documents.byHash(hashIn(key))?.text,
        set: async () => {},
        delete: async () => false,
      },
    },
    documentStore: {
      get: async (key) => documents.byHash(hashIn(key))?.document,
      set: async () => {},
      delete: async () => false,
    },
    includeStacktraceInErrorResponses: false,
    stopOnTerminationSignals: false,
    // Each text has been read before it comes here, in another thread.
    dangerouslyDisableValidation: true,
    parseOptions: { maxLexicalTokens: documentTokens_max },
    formatError: presentError,
    plugins: [
      ApolloServerPluginLandingPageDisabled(),
      logFailures(log),
      refuseSubscriptions,
      limitCost,
    ],
  });

/** Errors of resolvers are logged where they happen; here, only those of the gateway itself. */
const logFailures = (log: Logger): ApolloServerPlugin<PayingCall> => ({
  unexpectedErrorProcessingRequest: async ({ error, requestContext: { contextValue } }) =>
    log.error({ err: error, requestId: contextValue.requestId }, 'a document could not be run'),
});

/** The gateway's executor throws on them. */
const refuseSubscriptions: ApolloServerPlugin<PayingCall> = {
  requestDidStart: async () => ({
    didResolveOperation: async ({ operation }) => {
      // Of several operations none was named: the gateway's executor answers that with an internal
      // error.
      if (!operation)
        throw new GraphQLError('Name the operation to run.', {
          extensions: { code: 'bad_request', http: { status: 400 } },
        });
      if (operation.operation !== OperationTypeNode.SUBSCRIPTION) return;
      throw new GraphQLError(
        'Subscriptions run over a WebSocket on this address, by the protocol graphql-transport-ws.',
        {
          extensions: { code: 'bad_request', http: { status: 400 } },
        },
      );
    },
  }),
};

const limitCost: ApolloServerPlugin<PayingCall> = {
  requestDidStart: async ({ schema, contextValue: { charge, principal } }) => ({
    didResolveOperation: async ({ document, operationName, request }) => {
      const variables = request.variables ?? {};
      const unfit = refusePastEvents(document, principal) ?? tooDeep(variables);
      if (unfit) throw unfit;
      const { tokens, refused } = costOf(schema, { document, operationName, variables });
      const unpaid = refused ?? (await charge(tokens));
      if (unpaid) throw unpaid;
    },
  }),
};

/** Apollo Server puts a prefix of its own before a hash. */
const hashIn = (key: string): string => key.slice(-64);

/** The text of a request's document; null when it has none, or none that can be read. */
const textOf = ({ method, url }: FastifyRequest, body: unknown): string | null => {
  if (method === 'GET') return new URLSearchParams(url.slice(url.indexOf('?') + 1)).get('query');
  return typeof body === 'object' &&
    body !== null &&
    'query' in body &&
    typeof body.query === 'string'
    ? body.query
    : null;
};

const mistakesIn = async (
  documents: DocumentReader,
  text: string | null,
  { principal }: Authenticated,
): Promise<readonly GraphQLError[]> => {
  if (text === null || text === '') return [];
  try {
    const read = await documents.read(text, principal);
    return 'kind' in read ? [] : read;
  } catch (thrown) {
    if (thrown instanceof GraphQLError) return [thrown];
    throw thrown;
  }
};

const sendMistakes = (reply: FastifyReply, mistakes: readonly GraphQLError[]): FastifyReply => {
  const isBusy = mistakes.some(({ extensions }) => extensions['code'] === 'rate_limited');
  if (isBusy) reply.header('retry-after', '1');
  return reply
    .code(isBusy ? 429 : 400)
    .type('application/json; charset=utf-8')
    .send({ errors: mistakes.map((mistake) => presentError(mistake.toJSON())) });
};

/** Takes the tokens, and says in the answer's headers what is left. */
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
  return new GraphQLError(
    `The operation costs ${tokens} tokens: ${rateMessage(taken.retryAfter_s)}`,
    {
      extensions: { code: 'rate_limited', http: { status: 429 } },
    },
  );
};

/** Decision D-07. The server around may have stamped the answer already. */
const requestIdFor = (request: FastifyRequest, reply: FastifyReply): string => {
  const stamped = reply.getHeader('x-request-id');
  if (typeof stamped === 'string') return stamped;
  const requestId = requestIdOf(request.headers['x-request-id']);
  reply.header('x-request-id', requestId);
  return requestId;
};

/**
 * The page keeps its query in the address: a browser that comes back to that wants the page again.
 */
const wantsPage = ({ method, headers }: FastifyRequest): boolean =>
  method !== 'POST' && (headers.accept ?? '').includes('text/html');

/** The caller, whose token has been taken; null when the refusal has been sent. */
const admit = async (
  request: FastifyRequest,
  reply: FastifyReply,
  parts: GatewayParts,
  requestId: string,
): Promise<Authenticated | null> => {
  const { raw } = request;
  const shown = {
    request: raw,
    authorization: authorizationOf(raw),
    signatures: signaturesOf(raw),
    body: bytesOf(request),
    arrivedAt_ms: Date.now(),
  };
  const caller = await admitCaller(shown, parts, requestId);
  if (caller === null || isRefused(caller) || 'blocked_s' in caller) {
    sendNotAdmitted(reply, caller);
    return null;
  }
  const token = await takeToken(caller, parts.limiter);
  if (!token) return caller;
  const { limit, taken } = token;
  reply.headers(rateHeaders(limit, taken));
  if (taken.granted) return caller;
  sendError(
    reply.header('retry-after', String(taken.retryAfter_s)),
    429,
    'rate_limited',
    rateMessage(taken.retryAfter_s),
  );
  return null;
};

const sendNotAdmitted = (reply: FastifyReply, why: NotAdmitted): FastifyReply => {
  if (why === null)
    return sendError(
      reply.header('retry-after', '1'),
      503,
      'unavailable',
      'The service cannot check keys just now; try again.',
    );
  if ('blocked_s' in why)
    return sendError(
      reply.header('retry-after', String(why.blocked_s)),
      429,
      'rate_limited',
      blockedMessage(why.blocked_s),
    );
  if (why.code === 'unauthorized') reply.header('www-authenticate', 'Bearer');
  return sendError(reply, notAdmittedStatus[why.code] ?? 403, why.code, why.message);
};

/** Decision D-02 for signatures. */
const notAdmittedStatus: Readonly<Partial<Record<RefusalCode, number>>> = {
  unauthorized: 401,
  signature_required: 400,
  invalid_signature: 400,
};

const runOver = async (
  apollo: ApolloServer<PayingCall>,
  request: FastifyRequest,
  body: unknown,
  reply: FastifyReply,
  call: PayingCall,
): Promise<FastifyReply> => {
  const answer = await apollo.executeHTTPGraphQLRequest({
    httpGraphQLRequest: readHttp(request, body),
    context: async () => call,
  });
  // Only `@defer` and `@stream` answer in parts, and the schema has neither.
  if (answer.body.kind === 'chunked') throw new Error('an answer in parts');
  for (const [name, value] of answer.headers) reply.header(name, value);
  return reply.code(answer.status ?? 200).send(answer.body.string);
};

const readHttp = ({ method, url, headers }: FastifyRequest, body: unknown): HTTPGraphQLRequest => {
  const map = new HeaderMap();
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) map.set(name, [value].flat().join(', '));
  const question = url.indexOf('?');
  // Node leaves the body of an answer to HEAD out.
  return {
    method: method === 'HEAD' ? 'GET' : method,
    headers: map,
    search: question < 0 ? '' : url.slice(question),
    body,
  };
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

/** Why a request cannot be read, by the status that the server gives it. */
const unreadable: ReadonlyMap<number | undefined, readonly [code: string, message: string]> =
  new Map([
    [400, ['bad_request', 'The body is not valid JSON.']],
    [413, ['payload_too_large', `The body is larger than ${document_bytes_max} bytes.`]],
    [415, ['unsupported_media_type', 'Send application/json, not compressed.']],
  ]);

/** What kept a request from being answered, as a GraphQL error. */
const answerError =
  (log: Logger) =>
  (error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    if (isCompressed(request)) reply.headers(uncompressedAlone);
    const [code, message] = unreadable.get(error.statusCode) ?? [];
    if (code !== undefined && message !== undefined)
      return sendError(reply, error.statusCode ?? 400, code, message);
    log.error(
      { err: error, requestId: requestIdFor(request, reply) },
      'a request to the graph failed',
    );
    return sendError(reply, 500, 'internal_error', 'internal error');
  };
