/**
 * A real redis-server for a test file: a free loopback port, a directory of its own, nothing
 * written to disk.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';

export interface TestRedis {
  /** `redis://127.0.0.1:<port>` */
  readonly url: string;
  readonly port: number;
  /** Ends the server at once; its data is gone. A second call does nothing. */
  stop(): Promise<void>;
}

/**
 * For `test(name, { skip: noRedis }, ...)`: why tests that need Redis cannot run here, or false
 * when they can. `npm test` looks for the program and says where it is in REDIS_SERVER.
 */
export const noRedis: string | false = process.env['REDIS_SERVER']
  ? false
  : 'REDIS_SERVER does not name a redis-server';

/** A running redis-server. */
export interface RedisServer {
  /** Ends it at once. A second call does nothing. */
  kill(): Promise<void>;
}

/**
 * Starts a redis-server on loopback and waits until it takes connections. A test file that ends
 * early does not leave it behind.
 */
export const runRedis = async (
  port: number,
  directory: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<RedisServer> => {
  const program = process.env['REDIS_SERVER'];
  if (!program) throw new Error('REDIS_SERVER does not name a redis-server');
  const all = {
    bind: '127.0.0.1',
    port: `${port}`,
    dir: directory,
    save: '',
    appendonly: 'no',
    'maxmemory-policy': 'noeviction',
    ...settings,
  };
  const server = spawn(
    program,
    Object.entries(all).flatMap(([name, value]) => [`--${name}`, value]),
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const killNow = (): boolean => server.kill('SIGKILL');
  process.once('exit', killNow);
  const kill = async (): Promise<void> => {
    process.off('exit', killNow);
    if (server.exitCode === null && server.signalCode === null && killNow())
      await once(server, 'exit');
  };
  await ready(server).catch((error: unknown) => kill().then(() => Promise.reject(error)));
  return { kill };
};

/**
 * Starts redis-server and waits until it takes connections. `port` names the port of a server that
 * was stopped before, so that a test can let its Redis come back empty; without it a free one is
 * taken. Throws when the program is missing or does not start.
 */
export const startRedis = async (port?: number): Promise<TestRedis> => {
  const directory = mkdtempSync(join(tmpdir(), 'payments-redis-'));
  const clean = (): void => rmSync(directory, { recursive: true, force: true });
  process.once('exit', clean);
  const chosen = port ?? (await freePort());
  const forget = (): void => {
    process.off('exit', clean);
    clean();
  };
  const server = await runRedis(chosen, directory).catch((error: unknown) => {
    forget();
    throw error;
  });
  return {
    url: `redis://127.0.0.1:${chosen}`,
    port: chosen,
    stop: () => server.kill().then(forget),
  };
};

const ready = (server: ChildProcess): Promise<void> =>
  new Promise((resolve, reject) => {
    let answered = '';
    server.stdout?.on('data', (text: Buffer) => {
      answered += text.toString();
      if (answered.includes('Ready to accept connections')) resolve();
    });
    server.once('error', reject);
    server.once('exit', () => reject(new Error(`redis-server did not start:\n${answered}`)));
  });
