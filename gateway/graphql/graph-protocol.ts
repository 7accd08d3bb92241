/** The callbacks of graphql-ws: admitting a connection, validating an operation, and running it. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import {
  getOperationAST,
  OperationTypeNode,
  type GraphQLError,
  type ExecutionArgs,
  type FormattedExecutionResult,
} from 'graphql';
import {
  CloseCode,
  makeServer,
  type Context,
  type ExecutionResult,
  type OperationResult,
  type Server,
  type SubscribePayload,
} from 'graphql-ws';
import type { WebSocket } from 'ws';
import { isRefusal, type Refusal } from '../../subgraphs/rules/refusal.ts';
import type { Logger } from '../../subgraphs/platform/tracing/telemetry.ts';
import {
  admitCaller,
  shownBy,
  takeCost,
  takeToken,
  rateMessage,
  type RateLimiter,
} from '../callers/admit-caller.ts';
import type { Authenticator } from '../callers/authenticate.ts';
import { type Authenticated, signatureHeader } from '../callers/caller.ts';
import { codedError, presentError } from './errors.ts';
import { consoleDocument, type DocumentReader } from './read-document.ts';
import { costOf } from './document-cost.ts';
import { tooDeep } from './document-limits.ts';
import { type LiveSubscriptions, refusePastEvents } from '../live/subscriptions.ts';
import type { Origins } from '../../subgraphs/platform/access/caller-address.ts';
import { callerName, openNamedQuota } from '../callers/limits.ts';
import type { Supergraph } from '../supergraph.ts';

/** Connections of one key, operator or buyer in this process. */
const socketsPerCaller_max = 100;
/**
 * Concurrent operations of a connection. With the former, this bounds the subscriptions of one
 * caller.
 */
export const operationsPerSocket_max = 50;
/** The time until a client's first message. */
const connectionInit_ms = 5_000;
/** WebSocket: try again later. */
const tryAgainLater = 1013;

export interface GraphProtocolDeps {
  readonly supergraph: Pick<Supergraph, 'apiSchema' | 'execute' | 'mistakesIn'>;
  readonly authenticator: Pick<Authenticator, 'ofHeader' | 'watch' | 'isKnown' | 'checkRequest'>;
  readonly limiter: RateLimiter;
  readonly liveSubscriptions: LiveSubscriptions;
  readonly log: Logger;
  /** Which pages may call from a browser. */
  readonly origins: Origins;
  readonly documents: DocumentReader;
  readonly socketsPerCaller?: number;
  readonly connectionInit_ms?: number;
}

export interface Connection {
  readonly socket: WebSocket;
  readonly request: IncomingMessage;
  caller: Authenticated | null;
  /** What is wrong with the numbers of operations that are about to be prepared, by their ids. */
  readonly mistakes: Map<string, string>;
  /** Called when the connection ends. */
  readonly ending: (() => void)[];
}

type ConnectionContext = Context<Record<string, unknown>, Connection>;

/** Opens the protocol's server. Each connection is opened with its `Connection`. */
export const openGraphProtocol = (deps: GraphProtocolDeps): Server<Connection> => {
  const admit = admission(deps);
  const prepare = preparation(deps);
  // `prepare` has made it, and graphql-ws passes it on unchanged.
  const run = ({ contextValue }: ExecutionArgs): OperationResult =>
    (contextValue as () => OperationResult)();
  return makeServer<Record<string, unknown>, Connection>({
    connectionInitWaitTimeout: deps.connectionInit_ms ?? connectionInit_ms,
    onConnect: admit,
    onSubscribe: prepare,
    execute: run,
    subscribe: run,
    onNext: (_context, _id, _payload, _args, result) => presentResult(result),
    onError: (_context, _id, _payload, errors) =>
      errors.map((error) => presentError(error.toJSON())),
  });
};

/** Undefined when the result is sent as it is. */
const presentResult = ({
  data,
  errors,
  extensions,
}: ExecutionResult): FormattedExecutionResult | undefined =>
  errors && {
    data: data ?? null,
    errors: errors.map((error) => presentError(error.toJSON())),
    ...(extensions ? { extensions } : {}),
  };

/**
 * Admits a connection by `authorization` of its first message, else by the header; likewise the
 * signature. The result false closes it with 4403.
 */
const admission = (deps: GraphProtocolDeps): ((context: ConnectionContext) => Promise<boolean>) => {
  const { authenticator, socketsPerCaller = socketsPerCaller_max } = deps;
  const quota = openNamedQuota(socketsPerCaller);
  return async ({ connectionParams, extra }) => {
    const { socket, request, ending } = extra;
    const authorization = textIn(connectionParams, 'authorization');
    const signature = textIn(connectionParams, signatureHeader);
    const connection = {
      ...shownBy(request),
      ...(authorization === undefined ? {} : { authorization }),
      ...(signature === undefined ? {} : { signatures: [signature] }),
    };
    const caller = await admitCaller(connection, deps);
    if (caller === null || 'blocked_s' in caller) {
      socket.close(tryAgainLater, 'Try again later');
      return false;
    }
    if (isRefusal(caller) || socket.readyState !== socket.OPEN) return false;
    const giveBack = quota.take(callerName(caller.principal));
    if (!giveBack) {
      socket.close(CloseCode.TooManyInitialisationRequests, 'Too many sockets');
      return false;
    }
    const unwatch = authenticator.watch(
      connection,
      caller,
      ({ message }: Refusal) => socket.close(CloseCode.Forbidden, message),
      // The next operation is judged by what holds then.
      (renewed) => (extra.caller = renewed),
    );
    ending.push(giveBack, unwatch);
    extra.caller = caller;
    return true;
  };
};

/** A parameter of the first message; its name is case-insensitive. */
const textIn = (
  parameters: Readonly<Record<string, unknown>> | undefined,
  name: string,
): string | undefined => {
  const [, value] =
    Object.entries(parameters ?? {}).find(([sent]) => sent.toLowerCase() === name) ?? [];
  return typeof value === 'string' ? value : undefined;
};

type Prepared = ExecutionArgs | readonly GraphQLError[];

/** Prepares an operation, or gives the errors that end it with the message `error`. */
const preparation = ({
  supergraph,
  liveSubscriptions,
  limiter,
  documents,
}: GraphProtocolDeps): ((
  context: ConnectionContext,
  id: string,
  payload: SubscribePayload,
) => Promise<Prepared>) => {
  return async ({ extra, subscriptions }, id, payload) => {
    const { caller } = extra;
    const mistake = extra.mistakes.get(id);
    // At once, whatever becomes of the operation: what stays would pile up, or refuse the next one.
    extra.mistakes.delete(id);
    const { operationName, variables } = payload;
    if (!caller) return [codedError('unauthorized', 'The connection was rejected.')];
    if (Object.keys(subscriptions).length > operationsPerSocket_max) {
      return [
        codedError(
          'rate_limited',
          `A connection runs at most ${operationsPerSocket_max} operations at a time.`,
        ),
      ];
    }
    const token = await takeToken(caller, limiter);
    if (token && !token.taken.granted)
      return [codedError('rate_limited', rateMessage(token.taken.retryAfter_s))];
    if (mistake !== undefined) return [codedError('bad_request', mistake)];
    const query = caller.session === undefined ? payload.query : consoleDocument(payload);
    if (typeof query !== 'string') return [query];
    const document = await documents.read(query, caller.principal);
    if (!('kind' in document)) return document;
    const operation = getOperationAST(document, operationName);
    if (!operation) return [codedError('bad_request', 'Name the operation to run.')];
    if (operation.operation === OperationTypeNode.MUTATION && caller.holder?.requireSignature)
      return [unsignedMutation];
    const request = {
      document,
      variables: variables ?? {},
      ...(operationName ? { operationName } : {}),
    };
    const unfit = refusePastEvents(document, caller.principal) ?? tooDeep(request.variables);
    if (unfit) return [unfit];
    const { tokens, refused } = costOf(supergraph.apiSchema, request);
    if (refused) return [refused];
    const further = await takeCost(caller, tokens, limiter);
    if (further && !further.taken.granted)
      return [codedError('rate_limited', rateMessage(further.taken.retryAfter_s))];
    const call = { principal: caller.principal, requestId: randomUUID(), isInLane: true };
    const args = { schema: supergraph.apiSchema, document, operationName };
    if (operation.operation !== OperationTypeNode.SUBSCRIPTION)
      return { ...args, contextValue: () => supergraph.execute(request, call) };
    const results = liveSubscriptions.subscribe(request, call);
    return 'next' in results ? { ...args, contextValue: () => results } : results;
  };
};

/** A socket's messages carry no signatures, and a mutation's signature covers its body. */
const unsignedMutation = codedError(
  'signature_required',
  'The shop requires signatures: send mutations over HTTP, signed.',
);
