/**
 * Apollo Server over the gateway: its features, and the checks that a document must pass. The first
 * document over HTTP loads it.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { ApolloServer, HeaderMap, type ApolloServerPlugin } from '@apollo/server';
import { ApolloServerPluginLandingPageDisabled } from '@apollo/server/plugin/disabled';
import { type GraphQLError, OperationTypeNode } from 'graphql';
import type { Call } from '../../subgraphs/platform/access/principal.ts';
import type { Logger } from '../../subgraphs/platform/tracing/telemetry.ts';
import { refusePastEvents } from '../live/subscriptions.ts';
import type { Supergraph } from '../supergraph.ts';
import { costOf } from './document-cost.ts';
import { documentTokens_max, tooDeep } from './document-limits.ts';
import { codedError, presentError } from './errors.ts';
import type { DocumentReader } from './read-document.ts';

export interface PayingCall extends Call {
  /**
   * Takes what the operation costs beyond the request's first token. Gives the error when there are
   * not enough tokens.
   */
  readonly charge: (tokens: number) => Promise<GraphQLError | null>;
}

interface ApolloDeps {
  readonly supergraph: Pick<Supergraph, 'apolloGateway'>;
  readonly log: Logger;
  readonly introspection: boolean;
}

/** A request as it came; `body` has been parsed. */
interface GraphHttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

export const openApollo = async (deps: ApolloDeps, documents: DocumentReader) => {
  const apollo = makeServer(deps, documents);
  await apollo.start();
  return {
    run: async (request: GraphHttpRequest, call: PayingCall) => {
      const { status, headers, body } = await apollo.executeHTTPGraphQLRequest({
        httpGraphQLRequest: readHttp(request),
        context: async () => call,
      });
      // Only `@defer` and `@stream` answer in chunks, and the schema has neither.
      if (body.kind === 'chunked') throw new Error('an answer in parts');
      return { status: status ?? 200, headers, body: body.string };
    },
    stop: (): Promise<void> => apollo.stop(),
  };
};
export type OpenApollo = Awaited<ReturnType<typeof openApollo>>;

const readHttp = ({ method, url, headers, body }: GraphHttpRequest) => {
  const map = new HeaderMap();
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) map.set(name, [value].flat().join(', '));
  const question = url.indexOf('?');
  // Node omits the body of an answer to HEAD.
  return {
    method: method === 'HEAD' ? 'GET' : method,
    headers: map,
    search: question < 0 ? '' : url.slice(question),
    body,
  };
};

const makeServer = (
  { supergraph, log, introspection }: ApolloDeps,
  documents: DocumentReader,
): ApolloServer<PayingCall> =>
  new ApolloServer<PayingCall>({
    gateway: supergraph.apolloGateway,
    logger: log,
    nodeEnv: 'production',
    introspection,
    // No browser sends a bearer by itself: a page that could set one could set any other header.
    csrfPrevention: {
      requestHeaders: ['authorization', 'apollo-require-preflight', 'x-apollo-operation-name'],
    },
    allowBatchedHttpRequests: false,
    // Automatic persisted queries: a client may send the SHA-256 of an earlier document. The
    // reader's cache serves them, so that nothing is parsed again here.
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
    // The worker thread has validated each text before.
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

/** Logs failures of the gateway itself; errors of resolvers are logged where they happen. */
const logFailures = (log: Logger): ApolloServerPlugin<PayingCall> => ({
  unexpectedErrorProcessingRequest: async ({ error, requestContext: { contextValue } }) =>
    log.error({ err: error, requestId: contextValue.requestId }, 'could not execute a document'),
});

/** Refuses subscriptions, on which the gateway's executor throws. */
const refuseSubscriptions: ApolloServerPlugin<PayingCall> = {
  requestDidStart: async () => ({
    didResolveOperation: async ({ operation }) => {
      // None of several operations was named; the gateway's executor would answer that with an
      // internal error.
      if (!operation) throw codedError('bad_request', 'Name the operation to run.', 400);
      if (operation.operation !== OperationTypeNode.SUBSCRIPTION) return;
      throw codedError(
        'bad_request',
        'Subscriptions run over a WebSocket on this address, by the protocol graphql-transport-ws.',
        400,
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
