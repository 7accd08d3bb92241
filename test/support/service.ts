/**
 * The real service as its operators run it: `one` process on PostgreSQL, or `separate` processes,
 * each with one role, or `few`, over HTTP with PostgreSQL and Redis. Tests talk to it from outside.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startTestDatabase, testPool, type TestDatabase } from './database.ts';
import { freePort } from './free-port.ts';
import { keepingStatements } from './keep-statements.ts';
import { keepLog } from './log-leaks.ts';
import { startRedis } from './redis.ts';

const root = join(import.meta.dirname, '../..');
export const operatorToken = 'operator-token-of-the-tests';

export type Size = 'one' | 'few' | 'separate';

export interface Service {
  /** Where `/v1/public` is. */
  readonly rest: string;
  /** The same, at each facade: one, unless the service was started with more. */
  readonly rests: readonly string[];
  /** Where `/graphql` is. */
  readonly graph: string;
  readonly processes: readonly ServiceProcess[];
  stop(): Promise<void>;
}

export interface ServiceProcess {
  readonly name: string;
  readonly url: string;
  readonly child: ChildProcess;
  /** Everything that it printed. */
  output(): string;
}

type Environment = Readonly<Record<string, string>>;

/**
 * The tests' machine may be busy with other tests: being late is no reason to refuse them. The
 * overload tests set their own limits.
 */
const calm = { OVERLOAD_DELAY_MS: '30000' };

/**
 * What processes have of this one's environment: where programs are, and what Node has compiled
 * already.
 */
export const inherited = Object.fromEntries(
  ['PATH', 'NODE_COMPILE_CACHE', 'TEST_LOGS'].flatMap((name) =>
    process.env[name] === undefined ? [] : [[name, process.env[name]]],
  ),
);

/** A test file that ends early does not leave its processes behind. */
const started = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of started) child.kill();
});

/** Starts one process of the service. It has not been waited for. */
export const spawnProcess = (
  name: string,
  port: number,
  environment: Environment,
): ServiceProcess => {
  const program = [...keepingStatements, 'main.ts'];
  const child = spawn(process.execPath, [...program, ...(name === 'all' ? [] : name.split(' '))], {
    cwd: root,
    env: {
      ...inherited,
      PORT: String(port),
      OPERATOR_TOKEN: operatorToken,
      LOG_LEVEL: 'info',
      DATABASE_POOL: String(testPool),
      ...calm,
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  started.add(child);
  child.once('exit', () => started.delete(child));
  let answered = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (text: Buffer) => (answered += text.toString()));
  child.once('close', () => keepLog(name, answered));
  return { name, url: `http://127.0.0.1:${port}`, child, output: () => answered };
};

/** A start takes longer than any state that a test waits for: on a busy machine, minutes. */
export const startPatience_ms = 300_000;

/**
 * Waits until `/readyz` answers 200; throws with what the process printed when it ends or takes too
 * long.
 */
export const untilReady = async ({ name, url, child, output }: ServiceProcess): Promise<void> => {
  const deadline = performance.now() + startPatience_ms;
  while (performance.now() < deadline) {
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`${name} ended with ${child.exitCode ?? child.signalCode}:\n${output()}`);
    const answer = await fetch(`${url}/readyz`).catch(() => null);
    await answer?.arrayBuffer();
    if (answer?.ok) return;
    await sleep(50);
  }
  throw new Error(`${name} was not ready within ${startPatience_ms} ms:\n${output()}`);
};

/** Ends a process as an operator does; gives its exit code. */
export const stopProcess = async (
  { child }: ServiceProcess,
  signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM',
): Promise<number | null> => {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  child.kill(signal);
  await once(child, 'exit');
  return child.exitCode;
};

/**
 * What a process on an embedded PostgreSQL has by itself; the tests of its start, its crashes and
 * its traces have that, too.
 */
const likeEmbedded = ({ url }: TestDatabase): Environment => ({
  DATABASE_URL: url,
  SECRET_KEY: randomBytes(32).toString('base64'),
  WEBHOOK_PRIVATE_TARGETS: 'allow',
  GRAPHIQL: 'on',
});

const startOne = async (given: Environment): Promise<Service> => {
  const dataDir = mkdtempSync(join(tmpdir(), 'payments-service-'));
  const database =
    'DATABASE_URL' in given || 'DATA_DIR' in given
      ? null
      : await startTestDatabase({ migrated: true });
  const all = spawnProcess('all', await freePort(), {
    DATA_DIR: dataDir,
    ...(database && likeEmbedded(database)),
    ...given,
  });
  const stop = async (): Promise<void> => {
    await stopProcess(all);
    await database?.stop();
    const log = join(dataDir, 'service.log');
    if (existsSync(log)) keepLog('all', readFileSync(log, 'utf8'));
    rmSync(dataDir, { recursive: true, force: true });
  };
  await untilReady(all).catch((error: unknown) => stop().then(() => Promise.reject(error)));
  return { rest: all.url, rests: [all.url], graph: all.url, processes: [all], stop };
};

/** The roles of each process. With few, those that never call each other share one. */
const rolesOf: Readonly<Record<Exclude<Size, 'one'>, readonly string[]>> = {
  few: [
    'subgraph payments',
    'subgraph payouts subgraph recurring',
    'subgraph merchants',
    'gateway checkout',
    'rest-facade',
    'worker',
  ],
  separate: [
    'subgraph payments',
    'subgraph payouts',
    'subgraph recurring',
    'subgraph merchants',
    'gateway',
    'rest-facade',
    'checkout',
    'worker',
  ],
};

/**
 * Migrates a database of `startTestDatabase({ migrated: true })` where it was not made from the
 * run's template. A process that migrates, as operators have it, is in test/crash and test/cluster.
 */
export const ensureMigrated = async (url: string): Promise<void> => {
  if (process.env['TEST_POSTGRES_TEMPLATE'] !== undefined) return;
  const { migrateTemplate } = await import('./migrated.ts');
  await migrateTemplate(url);
};

/** One more facade with one more payments subgraph, beside those of the service. */
const startPair = async (environment: Environment): Promise<ServiceProcess> => {
  const port = await freePort();
  return spawnProcess('rest-facade subgraph payments', port, {
    ...environment,
    SUBGRAPH_PAYMENTS_URL: `http://127.0.0.1:${port}`,
  });
};

const startSeparate = async (
  roles: readonly string[],
  given: Environment,
  facades: number,
): Promise<Service> => {
  const [database, redis] = await Promise.all([
    'DATABASE_URL' in given ? null : startTestDatabase({ migrated: true }),
    'REDIS_URL' in given ? null : startRedis(),
  ]);
  const ports = new Map(
    await Promise.all(roles.map(async (ofOne) => [ofOne, await freePort()] as const)),
  );
  const at = (role: string): string =>
    `http://127.0.0.1:${ports.get(roles.find((ofOne) => ofOne.includes(role)) ?? '')}`;
  const environment: Environment = {
    ...(database && { DATABASE_URL: database.url }),
    ...(redis && { REDIS_URL: redis.url }),
    SECRET_KEY: randomBytes(32).toString('base64'),
    PUBLIC_URL: at('checkout'),
    WEBHOOK_PRIVATE_TARGETS: 'allow',
    ...Object.fromEntries(
      ['payments', 'payouts', 'recurring', 'merchants'].map((name) => [
        `SUBGRAPH_${name.toUpperCase()}_URL`,
        at(`subgraph ${name}`),
      ]),
    ),
    ...given,
  };
  if (database) await ensureMigrated(database.url);
  const first = roles.map((ofOne) => spawnProcess(ofOne, ports.get(ofOne) ?? 0, environment));
  const pairs = await Promise.all(
    Array.from({ length: facades - 1 }, () => startPair(environment)),
  );
  const processes = [...first, ...pairs];
  const stop = async (): Promise<void> => {
    await Promise.all(processes.map((part) => stopProcess(part)));
    await Promise.all([redis?.stop(), database?.stop()]);
  };
  await Promise.all(processes.map(untilReady)).catch((error: unknown) =>
    stop().then(() => Promise.reject(error)),
  );
  const rests = [at('rest-facade'), ...pairs.map(({ url }) => url)];
  return { rest: at('rest-facade'), rests, graph: at('gateway'), processes, stop };
};

/**
 * Starts the service in one of its sizes and waits until it is ready. `stop` removes everything
 * that was made here. With separate processes there may be several facades, each with a payments
 * subgraph of its own, on the same database and Redis. A DATABASE_URL that is given is of a
 * migrated database.
 */
export const startService = (
  size: Size,
  environment: Environment = {},
  facades = 1,
): Promise<Service> =>
  size === 'one' ? startOne(environment) : startSeparate(rolesOf[size], environment, facades);
