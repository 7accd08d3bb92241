/** The bus on Redis: PUBLISH on one connection, SUBSCRIBE on another. */
import {
  connectRedis,
  failFast,
  waitForRedis,
  whenRedisAnswers,
} from '../service/connect-redis.ts';
import type { Wire, WireOptions } from './bus-wire.ts';

/**
 * A silent connection may be a dead one, and a cluster's client that found its nodes again may have
 * lost its channels: they are subscribed to again and again.
 */
const heartbeat_ms = 5_000;

/**
 * Fulfils when every channel is subscribed to. Rejects when Redis does not answer for 30 seconds.
 */
export const openRedisWire = async (
  url: string,
  { channels, receive, began, ended }: WireOptions,
): Promise<Wire> => {
  const sending = connectRedis(url, failFast);
  sending.on('error', began);
  const subscriber = connectRedis(url, waitForRedis);
  subscriber.on('error', began).on('ready', ended).on('message', receive);
  const heartbeat = setInterval(
    () =>
      void (subscriber.status === 'ready' && subscriber.subscribe(...channels).then(ended, began)),
    heartbeat_ms,
  ).unref();
  const close = async (): Promise<void> => {
    clearInterval(heartbeat);
    sending.disconnect();
    subscriber.disconnect();
  };
  try {
    await Promise.all([whenRedisAnswers(sending), whenRedisAnswers(subscriber)]);
    await subscriber.subscribe(...channels);
  } catch (error) {
    await close();
    throw error;
  }
  return {
    send: async (channel, text) => void (await sending.publish(channel, text)),
    close,
  };
};
