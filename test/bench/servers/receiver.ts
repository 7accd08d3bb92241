/**
 * A merchant's receiver that answers at once. Given a number, it reports when that many requests
 * have come, and when each came: Unix milliseconds by event id.
 */
import { createServer } from 'node:http';

let arrivals: [eventId: string, at_ms: number][] = [];
let goal = Infinity;

const report = (): void => {
  if (arrivals.length < goal) return;
  process.send?.(arrivals);
  arrivals = [];
  goal = Infinity;
};

const server = createServer((request, response) => {
  request.resume().on('end', () => {
    response.end();
    arrivals.push([
      String(request.headers['x-psp-event-id']),
      performance.timeOrigin + performance.now(),
    ]);
    report();
  });
});
server.keepAliveTimeout = 60_000;
process.on('message', (count) => {
  goal = Number(count);
  report();
});
process.once('disconnect', () => process.exit(0));
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address !== null && typeof address === 'object')
    process.send?.(`http://127.0.0.1:${address.port}`);
});
