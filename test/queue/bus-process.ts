/**
 * A process on the bus: `node bus-process.ts <databaseUrl> <redisUrl or ->`. Reports to its parent
 * when it is subscribed, and every event that it receives; publishes the events that its parent
 * sends; closes the bus when its parent disconnects, and then ends by itself if nothing is left
 * open.
 */
import { pino } from 'pino';
import { readMessage } from '../../subgraphs/platform/bus/bus.ts';
import { openBus } from '../../subgraphs/platform/queue/bus.ts';

const [, , databaseUrl = '', redisUrl] = process.argv;
const bus = await openBus({
  databaseUrl,
  redisUrl: redisUrl === '-' ? null : (redisUrl ?? null),
  log: pino({ level: 'silent' }),
});
bus.subscribe('events', (stretch) => void process.send?.(stretch));
process.on('message', (stretch) =>
  bus.publish('events', readMessage('events', JSON.stringify(stretch))),
);
process.on('disconnect', () => bus.close());
process.send?.('ready');
