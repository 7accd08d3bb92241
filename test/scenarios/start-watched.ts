/**
 * The service of the scenarios in one of its sizes, with all that it leaves behind in sight: its
 * logs down to the last level, its database, the commands that its Redis receives.
 */
import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { startTestDatabase, type TestDatabase } from '../support/database.ts';
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

/** A database that is given has every migration, and stays. */
const databaseOf = async (
  given: string | undefined,
): Promise<Pick<TestDatabase, 'url' | 'stop'>> => {
  if (given !== undefined) return { url: given, stop: async () => {} };
  const database = await startTestDatabase({ migrated: true });
  await ensureMigrated(database.url);
  return database;
};

/**
 * Starts it, on a database of its own unless a DATABASE_URL is given; with separate processes there
 * may be several facades.
 */
export const startWatched = async (
  size: Size,
  environment: Readonly<Record<string, string>> = {},
  facades = 1,
): Promise<Watched> => {
  const [database, redis] = await Promise.all([
    databaseOf(environment['DATABASE_URL']),
    size === 'one' ? null : startRedis(),
  ]);
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
