/**
 * Failures below the routes, in the documented envelope: unreadable bodies, bytes that are not
 * HTTP, broken invariants.
 */
import type { Socket } from 'node:net';
import { type Duplex, duplexPair } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { apiVersion } from '../../../schema/limits.ts';
import { errorJson } from '../../../schema/wire.ts';
import { requestIdOf } from '../tracing/telemetry.ts';

// An `import` of it would load Node's own fetch and WebSocket, which nothing here uses.
const { STATUS_CODES } = process.getBuiltinModule('node:http');

interface Envelope {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

const statusOf = (error: unknown): number => {
  const status =
    typeof error === 'object' && error !== null && 'statusCode' in error ? error.statusCode : 500;
  return typeof status === 'number' && status >= 400 && status <= 599 ? status : 500;
};

const known: ReadonlyMap<number, readonly [code: string, message: string]> = new Map([
  [401, ['unauthorized', 'authorization is required']],
  [404, ['not_found', 'there is nothing at this address']],
  [415, ['unsupported_media_type', 'the type of the body is not supported']],
  [429, ['rate_limited', 'too many requests; try again later']],
  [503, ['unavailable', 'the service cannot answer right now; try again']],
]);

/**
 * The envelope of an error that reached the server. What is not the caller's fault reveals nothing
 * of itself.
 */
export const envelopeOf = (error: unknown, request: FastifyRequest): Envelope => {
  const status = statusOf(error);
  const [code, message] = known.get(status) ?? [];
  if (code !== undefined && message !== undefined) return { status, code, message };
  if (status === 413) {
    const limit = request.routeOptions.bodyLimit;
    return { status, code: 'payload_too_large', message: `the body is larger than ${limit} bytes` };
  }
  if (status < 500) return { status, code: 'bad_request', message: 'the request cannot be read' };
  // A caller that went away while sending is no fault of ours.
  if (request.raw.destroyed && !request.raw.complete)
    return { status: 400, code: 'bad_request', message: 'the request was interrupted' };
  return {
    status: 500,
    code: 'internal_error',
    message: 'something broke on our side; quote X-Request-Id to support',
  };
};

const parserEnvelope = (code: string | undefined): Envelope => {
  if (code === 'HPE_HEADER_OVERFLOW')
    return { status: 431, code: 'bad_request', message: 'the headers are too large' };
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return { status: 408, code: 'bad_request', message: 'the request took too long to arrive' };
  return { status: 400, code: 'bad_request', message: 'this is not an HTTP request' };
};

/** Whether an answer is in progress on the connection: nothing else may be written to it. */
const isAnswering = (socket: Duplex): boolean => {
  const message: unknown = '_httpMessage' in socket ? socket._httpMessage : null;
  return (
    typeof message === 'object' &&
    message !== null &&
    'headersSent' in message &&
    message.headersSent === true
  );
};

/**
 * Ends a connection that no route handles with an envelope. `headers` are additional lines of the
 * answer.
 */
export const endWithEnvelope = (
  socket: Duplex,
  { status, code, message }: Envelope,
  headers: readonly string[] = [],
  isHead = false,
): void => {
  const body = JSON.stringify(errorJson(code, message));
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestIdOf(undefined)}`,
    `X-Api-Version: ${apiVersion}`,
    ...headers,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${isHead ? '' : body}`);
};

// HTTP/2 with prior knowledge on a port that speaks HTTP/1.1: the first request is answered 505 in
// HTTP/2, which says what to do (RFC 9110, 15.6.6). From bytes of HTTP/1.1 such a client would only
// see a broken connection.

/** What the parser of HTTP/1.1 reads before it stops (RFC 9113, 3.4). */
const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
/** How long a client has to send its request and to read the answer. */
const patience_ms = 5_000;
const http2Message =
  'this address speaks HTTP/1.1 and not HTTP/2; call it by HTTP/1.1 (curl --http1.1)';

/** Answers a connection and ends it; `rest`: the bytes that came behind the preface. */
const refuseHttp2 = (socket: Socket, rest: Uint8Array): void => {
  const { constants, performServerHandshake } = process.getBuiltinModule('node:http2');
  const [near, far] = duplexPair();
  // Else the stopped parser would get what comes next.
  socket.removeAllListeners('data');
  near.write(Buffer.concat([Buffer.from(preface), rest]));
  socket.pipe(near).pipe(socket);
  const session = performServerHandshake(far, { settings: { maxConcurrentStreams: 1 } });
  const timer = setTimeout(() => session.destroy(), patience_ms).unref();
  session.on('error', () => session.destroy());
  session.once('close', () => {
    clearTimeout(timer);
    socket.destroySoon();
  });
  socket.once('close', () => session.destroy());
  session.once('stream', (stream) => {
    stream.on('error', () => session.destroy());
    stream.respond({
      ':status': 505,
      'content-type': 'application/json; charset=utf-8',
      'x-request-id': requestIdOf(undefined),
      'x-api-version': apiVersion,
    });
    // The rest of the request is not read.
    stream.end(JSON.stringify(errorJson('bad_request', http2Message)), () =>
      stream.close(constants.NGHTTP2_NO_ERROR),
    );
    session.close();
  });
};

/**
 * Answers bytes that Node's parser refused, and ends the connection. A HEAD client treats a body as
 * a broken answer (RFC 9110, 9.3.2).
 */
export const answerParserError = (
  error: Error & { code?: string; bytesParsed?: number },
  socket: Socket,
): void => {
  const packet = 'rawPacket' in error ? error.rawPacket : null;
  if (error.code === 'HPE_PAUSED_H2_UPGRADE' && packet instanceof Buffer)
    return refuseHttp2(socket, packet.subarray(error.bytesParsed));
  const isHead = packet instanceof Buffer && packet.toString('latin1', 0, 5) === 'HEAD ';
  if (error.code === 'ECONNRESET' || !socket.writable || isAnswering(socket)) socket.destroy(error);
  else endWithEnvelope(socket, parserEnvelope(error.code), [], isHead);
};
