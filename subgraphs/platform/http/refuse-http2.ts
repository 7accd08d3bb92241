/**
 * HTTP/2 with prior knowledge on a port that speaks HTTP/1.1: the first request is answered 505 in
 * HTTP/2, which says what to do (RFC 9110, 15.6.6). From bytes of HTTP/1.1 such a client would only
 * see a broken connection.
 */
import type { Socket } from 'node:net';
import { duplexPair } from 'node:stream';
import { apiVersion } from '../../../schema/api-version.ts';
import { errorJson } from '../../../schema/wire.ts';
import { requestIdOf } from '../tracing/telemetry.ts';

/** What the parser of HTTP/1.1 reads before it stops (RFC 9113, 3.4). */
const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
/** How long a client has to send its request and to read the answer. */
const patience_ms = 5_000;
const message = 'this address speaks HTTP/1.1 and not HTTP/2; call it by HTTP/1.1 (curl --http1.1)';

/** Answers a connection and ends it; `rest`: the bytes that came behind the preface. */
export const refuseHttp2 = (socket: Socket, rest: Uint8Array): void => {
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
    stream.end(JSON.stringify(errorJson('bad_request', message)), () =>
      stream.close(constants.NGHTTP2_NO_ERROR),
    );
    session.close();
  });
};
