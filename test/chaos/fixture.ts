/**
 * What a chaos run lives in: the emulated acquirer, one process with the public roles and the
 * subgraphs, and two workers, on one PostgreSQL, in the run's fast time. Any process of the service
 * may be killed at any moment and is started again at once.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../support/free-port.ts';
import {
  gatewayAccount,
  shopAccount,
  startAcquirer,
  type Acquirer,
} from '../acquirer/start-acquirer.ts';
import { startTestDatabase } from '../support/database.ts';
import {
  ensureMigrated,
  spawnProcess,
  stopProcess,
  untilReady,
  type Service,
  type ServiceProcess,
} from '../support/service.ts';
import { fastEnvironment, type Speed } from '../support/fast-time.ts';

const subgraphs = 'subgraph payments subgraph payouts subgraph recurring subgraph merchants';
const roles = {
  front: `gateway rest-facade checkout ${subgraphs}`,
  first: 'worker subgraph payments',
  second: 'worker subgraph payments',
} as const;

export type Part = keyof typeof roles;
export const parts: readonly Part[] = ['front', 'first', 'second'];

export interface Fixture {
  readonly acquirer: Acquirer;
  readonly service: Service;
  readonly databaseUrl: string;
  /** Kills a part with SIGKILL and starts it again; resolves when it lives again. */
  killAndStart(part: Part): Promise<void>;
  /** What the processes that live now have printed. */
  output(): string;
  close(): Promise<void>;
}

const serviceEnvironment = (
  url: string,
  databaseUrl: string,
  acquirer: Acquirer,
  speed: Speed,
) => ({
  DATABASE_URL: databaseUrl,
  DATABASE_POOL: '8',
  SECRET_KEY: randomBytes(32).toString('base64'),
  PUBLIC_URL: url,
  YOOKASSA_URL: acquirer.api,
  YOOKASSA_SHOP_ID: shopAccount.id,
  YOOKASSA_SECRET_KEY: shopAccount.secret,
  YOOKASSA_GATEWAY_ID: gatewayAccount.id,
  YOOKASSA_GATEWAY_SECRET_KEY: gatewayAccount.secret,
  YOOKASSA_TIMEOUT_MS: '1500',
  YOOKASSA_CALLBACK_NETWORKS: '127.0.0.1',
  ...fastEnvironment(speed, 'Temporal'),
});

/** Starts everything. `seed` is that of the acquirer's faults. */
export const openFixture = async (speed: Speed, seed: number): Promise<Fixture> => {
  const [database, acquirer, port] = await Promise.all([
    startTestDatabase({ migrated: true }),
    startAcquirer({ ACQUIRER_SEED: String(seed), ...fastEnvironment(speed, 'Date') }),
    freePort(),
  ]);
  const ports: Readonly<Record<Part, number>> = {
    front: port,
    first: await freePort(),
    second: await freePort(),
  };
  const url = `http://127.0.0.1:${port}`;
  const environment = serviceEnvironment(url, database.url, acquirer, speed);
  await ensureMigrated(database.url);
  const start = (part: Part): ServiceProcess => spawnProcess(roles[part], ports[part], environment);
  const running = new Map(parts.map((part) => [part, start(part)]));
  await Promise.all([...running.values()].map(untilReady));
  await acquirer.callbacks({ callbackUrl: `${url}/callbacks/yookassa`, confirmAfter_ms: 200 });
  const stop = async (): Promise<void> => {
    await Promise.all([...running.values()].map((process) => stopProcess(process)));
  };
  return {
    acquirer,
    databaseUrl: database.url,
    service: { rest: url, rests: [url], graph: url, processes: [], stop },
    killAndStart: async (part) => {
      const process = running.get(part);
      if (process) await stopProcess(process, 'SIGKILL');
      // One that cannot start on a busy machine is started again, as whatever keeps a service
      // running would do.
      for (let isReady = false; !isReady;) {
        await delay(20);
        const again = start(part);
        running.set(part, again);
        isReady = await untilReady(again).then(
          () => true,
          () => false,
        );
      }
    },
    output: () =>
      [...running.values()].map((process) => `--- ${process.name}\n${process.output()}`).join('\n'),
    close: async () => {
      await stop();
      await Promise.all([acquirer.stop(), database.stop()]);
    },
  };
};
