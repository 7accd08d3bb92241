/** The REST API on a server: the routes of the table behind their checks, and the documentation. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { addressHeaders } from '../gateway/callers/rate-limit.ts';
import { takeBankCallbacks, type BankCallbackDeps } from './bank-callback.ts';
import { openCall, type CallDeps, authenticate, type Caller, sendNotAdmitted } from './call.ts';
import { namesOf, readContract, type Contract } from './read-contract.ts';
import { idOf } from './read-request.ts';
import { refuse, sendRefusal } from './refusal-http.ts';
import { routes } from './routes.ts';
import type { Route } from './routes/route.ts';
import { serveDocs } from './serve-docs.ts';
import { openRequestLog } from './request-log/note-requests.ts';
import { openLongAnswers } from './long-answers.ts';

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
        requestLog.take(request, reply, request.caller, payload);
      return payload;
    });
    scope.addHook('onClose', () => requestLog.close());
    const longAnswers = openLongAnswers();
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
  deps: RestFacadeDeps & CallDeps,
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
