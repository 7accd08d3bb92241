/** Errors of the graph over HTTP, outside of a document's own answer. */
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import type { GraphQLError } from 'graphql';
import type { RefusalCode } from '../../subgraphs/rules/refusal.ts';
import { requestIdOf, type Logger } from '../../subgraphs/platform/tracing/telemetry.ts';
import type { NotAdmitted } from '../callers/admit-caller.ts';
import { blockedMessage } from '../callers/rate-limit.ts';
import { document_bytes_max } from './document-limits.ts';
import { presentError } from './present-error.ts';
import { identityOnly, isCompressed, BodyMistake } from './raw-body.ts';

/** The request's id. The server around may have set it already. */
export const requestIdFor = (request: FastifyRequest, reply: FastifyReply): string => {
  const stamped = reply.getHeader('x-request-id');
  if (typeof stamped === 'string') return stamped;
  const requestId = requestIdOf(request.headers['x-request-id']);
  reply.header('x-request-id', requestId);
  return requestId;
};

export const sendError = (
  reply: FastifyReply,
  status: number,
  code: string,
  message: string,
): FastifyReply =>
  reply
    .code(status)
    .type('application/json; charset=utf-8')
    .send({ errors: [presentError({ message, extensions: { code } })] });

/** The error of an unreadable request, by the status that the server gives it. */
const unreadable: ReadonlyMap<number | undefined, readonly [code: string, message: string]> =
  new Map([
    [400, ['bad_request', 'The body is not valid JSON.']],
    [413, ['payload_too_large', `The body is larger than ${document_bytes_max} bytes.`]],
    [415, ['unsupported_media_type', 'Send uncompressed application/json.']],
  ]);

/** Answers a failed request with a GraphQL error. */
export const answerError =
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

export const sendMistakes = (
  reply: FastifyReply,
  mistakes: readonly GraphQLError[],
): FastifyReply => {
  const isBusy = mistakes.some(({ extensions }) => extensions['code'] === 'rate_limited');
  if (isBusy) reply.header('retry-after', '1');
  return reply
    .code(isBusy ? 429 : 400)
    .type('application/json; charset=utf-8')
    .send({ errors: mistakes.map((mistake) => presentError(mistake.toJSON())) });
};

export const sendNotAdmitted = (reply: FastifyReply, why: NotAdmitted): FastifyReply => {
  if (why === null)
    return sendError(
      reply.header('retry-after', '1'),
      503,
      'unavailable',
      'The service cannot check keys right now; try again.',
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

/** Statuses of refusals. */
const notAdmittedStatus: Readonly<Partial<Record<RefusalCode, number>>> = {
  unauthorized: 401,
  signature_required: 400,
  invalid_signature: 400,
};
