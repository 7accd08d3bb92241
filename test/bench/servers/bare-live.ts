/**
 * The baseline of the live side: sockets of ws and answers of http that nobody asks who they are,
 * each held open and sent the same text.
 */
import type { ServerResponse } from 'node:http';
import fastify from 'fastify';
import { WebSocketServer, type WebSocket } from 'ws';
import { answerQuestions, serve } from '../child-server.ts';

const event = JSON.stringify({
  id: '1',
  kind: 'PAYMENT_STATUS_CHANGED',
  at: '2026-05-06T10:00:00.123Z',
  payload: { id: crypto.randomUUID(), status: 'succeeded' },
});
const message = `{"id":"1","type":"next","payload":{"data":{"events":${event}}}}`;
const framed = `id: 1\nevent: payment.status_changed\ndata: ${event}\n\n`;

const streams = new Set<ServerResponse>();
const sockets = new Set<WebSocket>();
const app = fastify();
app.get('/v1/public/events', (_, reply) => {
  const response = reply.hijack().raw;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(': connected\n\n');
  streams.add(response);
  response.once('close', () => streams.delete(response));
});
const server = new WebSocketServer({ server: app.server, path: '/graphql' });
server.on('connection', (socket) => {
  sockets.add(socket);
  socket.once('close', () => sockets.delete(socket));
  // As the protocol's pong and acknowledgement do, each message gets one answer.
  socket.on('message', () => socket.send('{"type":"pong"}'));
});
answerQuestions(async () => {
  for (const socket of sockets) socket.send(message);
  for (const stream of streams) stream.write(framed);
});
await serve(app);
