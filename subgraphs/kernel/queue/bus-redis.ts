/** The bus on Redis: PUBLISH on one connection, SUBSCRIBE on another. */
import { connectRedis } from '../service/connect-redis.ts';
import { hasty, isReady, patient } from './backend-redis.ts';
import type { Wire, WireOptions } from './bus.ts';

/**
 * A silent connection may be a dead one, and a cluster's client that found its nodes again may have
 * lost its channels: they are subscribed to again and again.
 */
const heartbeat_ms = 5_000;

/** Fulfils when every channel is heard. Rejects when Redis does not answer for 30 seconds. */
export const openRedisWire = async (
  url: string,
  { channels, hear, began, ended }: WireOptions,
): Promise<Wire> => {
  const sending = connectRedis(url, hasty);
  sending.on('error', began);
  const hearing = connectRedis(url, patient);
  hearing.on('error', began).on('ready', ended).on('message', hear);
  const heartbeat = setInterval(
    () => void (hearing.status === 'ready' && hearing.subscribe(...channels).then(ended, began)),
    heartbeat_ms,
  ).unref();
  const close = async (): Promise<void> => {
    clearInterval(heartbeat);
    sending.disconnect();
    hearing.disconnect();
  };
  if (!(await Promise.all([isReady(sending), isReady(hearing)])).every(Boolean)) {
    await close();
    throw new Error('Redis does not answer');
  }
  await hearing.subscribe(...channels);
  return {
    send: async (channel, text) => void (await sending.publish(channel, text)),
    close,
  };
};
