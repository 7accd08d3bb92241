/**
 * The graph over WebSockets: the protocol `graphql-transport-ws` of graphql-ws on `/graphql`, with
 * its close codes. @apollo/gateway does not support subscriptions, so they run beside it; queries
 * and mutations work here too.
 */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { CloseCode, handleProtocols, type Server } from 'graphql-ws';
import * as v from 'valibot';
import { WebSocketServer, type WebSocket } from 'ws';
import { endWithEnvelope } from '../../subgraphs/platform/http/http-errors.ts';
import type { Logger } from '../../subgraphs/platform/tracing/telemetry.ts';
import { document_bytes_max } from '../graphql/document-limits.ts';
import { numberMistake, withoutMark } from '../graphql/raw-body.ts';
import {
  openGraphProtocol,
  type Connection,
  type GraphProtocolDeps,
} from '../graphql/graph-protocol.ts';

/** The interval of pings. A connection that has not answered one by the next is closed. */
const socketPing_ms = 20_000;
/** The time that a client has to answer a close before its socket is cut. */
const socketClose_ms = 800;
/** WebSocket: going away. */
const goingAway = 1001;

/**
 * Serves WebSockets on `/graphql`; other paths are refused with 404. The sockets end with 1001 when
 * the app closes.
 */
export const registerSockets = (app: FastifyInstance, deps: GraphProtocolDeps): void => {
  const protocol = openGraphProtocol(deps);
  // A client that does not answer a close, such as one in the middle of a frame, is cut. The
  // library's types lack that option.
  const options = {
    noServer: true,
    maxPayload: document_bytes_max,
    handleProtocols,
    closeTimeout: socketClose_ms,
  };
  const sockets = new WebSocketServer(options);
  let closing = false;

  app.server.on('upgrade', (request: IncomingMessage, stream: Duplex, head: Buffer) => {
    if (request.url?.split('?', 1)[0] !== '/graphql')
      return endWithEnvelope(stream, unknownAddress);
    if (!deps.origins.maySocket(request)) return endWithEnvelope(stream, foreignOrigin);
    if (closing) return endWithEnvelope(stream, shuttingDown, ['Retry-After: 1']);
    return sockets.handleUpgrade(request, stream, head, (socket) =>
      open(protocol, { socket, request, caller: null, mistakes: new Map(), ending: [] }, deps.log),
    );
  });

  app.addHook('preClose', async () => {
    closing = true;
    await Promise.all(Array.from(sockets.clients, goAway));
  });
};

const unknownAddress = {
  status: 404,
  code: 'not_found',
  message: 'there is no WebSocket at this address',
};
const foreignOrigin = {
  status: 403,
  code: 'forbidden',
  message: 'pages of this origin may not open a WebSocket here',
};
const shuttingDown = {
  status: 503,
  code: 'unavailable',
  message: 'the service is shutting down; try again',
};

const goAway = (socket: WebSocket): Promise<void> =>
  new Promise((resolve) => {
    const cut = setTimeout(() => socket.terminate(), socketClose_ms);
    socket.once('close', () => {
      clearTimeout(cut);
      resolve();
    });
    socket.close(goingAway, 'Going away');
  });

const subscribing = v.object({ type: v.literal('subscribe'), id: v.string() });

/** Notes what is wrong with the numbers of an operation: the protocol's own parser loses it. */
const noteMistake = ({ mistakes }: Connection, text: string): void => {
  const mistake = numberMistake(text);
  if (mistake === null) return;
  try {
    const message: unknown = JSON.parse(text);
    if (v.is(subscribing, message)) mistakes.set(message.id, mistake.replace(/^payload\./, ''));
  } catch {
    // The protocol closes the socket of a client that sends invalid JSON.
  }
};

const open = (protocol: Server<Connection>, connection: Connection, log: Logger): void => {
  const { socket, ending } = connection;
  const opened = protocol.opened(
    {
      protocol: socket.protocol,
      send: (text) => send(socket, text),
      close: (code, reason) => socket.close(code, reason),
      onMessage: (read) => {
        socket.on('message', (message: Buffer) => {
          const text = withoutMark(message.toString());
          noteMistake(connection, text);
          read(text).catch((error: unknown) => {
            log.error({ err: error }, 'a WebSocket message failed');
            socket.close(CloseCode.InternalServerError, 'Internal server error');
          });
        });
      },
    },
    connection,
  );
  ending.push(keepAlive(socket));
  // The library cuts a client that breaks the WebSocket protocol; that is no failure of this
  // service.
  socket.on('error', (error) => log.debug({ err: error }, 'a socket failed'));
  socket.once('close', (code, reason) => {
    for (const end of ending) end();
    opened(code, reason.toString()).catch((error: unknown) =>
      log.error({ err: error }, 'a socket could not be ended'),
    );
  });
};

/**
 * Fulfils when the bytes were written to the network: a client that does not read is sent nothing
 * more.
 */
const send = (socket: WebSocket, text: string): Promise<void> =>
  new Promise((resolve) => {
    if (socket.readyState !== socket.OPEN) return resolve();
    // Sending fails only when the socket has closed, which `close` reports.
    return socket.send(text, () => resolve());
  });

const keepAlive = (socket: WebSocket): (() => void) => {
  let answered = true;
  socket.on('pong', () => (answered = true));
  const timer = setInterval(() => {
    if (!answered) return socket.terminate();
    answered = false;
    return socket.ping();
  }, socketPing_ms);
  return () => clearInterval(timer);
};
