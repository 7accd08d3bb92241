/**
 * The service of the scenarios in one of its sizes, with all that it leaves behind in sight: its
 * logs down to the last level, its database, the commands that its Redis receives.
 */
import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { startTestDatabase } from '../support/database.ts';
import { startRedis } from '../support/redis.ts';
import { ensureMigrated, startService, type Service, type Size } from '../support/service.ts';

export interface Watched extends Service {
  readonly databaseUrl: string;
  readonly onRedis: boolean;
  /** Every command that Redis has received: queues, bus, limits. */
  redisReceived(): string;
}

const observe = async (redisUrl: string) => {
  const answered: string[] = [];
  const client = new Redis(redisUrl);
  const monitor = await client.monitor();
  monitor.on('monitor', (_time: string, command: readonly string[]) =>
    answered.push(command.join(' ')),
  );
  return {
    received: () => answered.join('\n'),
    close: () => (monitor.disconnect(), client.disconnect()),
  };
};

/** Starts it; with separate processes there may be several facades. */
export const startWatched = async (
  size: Size,
  environment: Readonly<Record<string, string>> = {},
  facades = 1,
): Promise<Watched> => {
  const [database, redis] = await Promise.all([
    startTestDatabase({ migrated: true }),
    size === 'separate' ? startRedis() : null,
  ]);
  await ensureMigrated(database.url);
  const listener = redis && (await observe(redis.url));
  const given = {
    DATABASE_URL: database.url,
    ...(redis && { REDIS_URL: redis.url }),
    SECRET_KEY: randomBytes(32).toString('base64'),
    WEBHOOK_PRIVATE_TARGETS: 'allow',
    LOG_LEVEL: 'trace',
    ...environment,
  };
  const service = await startService(size, given, facades);
  const stop = async (): Promise<void> => {
    await service.stop();
    listener?.close();
    await Promise.all([redis?.stop(), database.stop()]);
  };
  return {
    ...service,
    databaseUrl: database.url,
    onRedis: redis !== null,
    redisReceived: () => listener?.received() ?? '',
    stop,
  };
};
