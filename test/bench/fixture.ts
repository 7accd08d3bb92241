/**
 * What rows over PostgreSQL stand on: an embedded server, the service on it with one merchant, and
 * the baseline on the same database.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../support/free-port.ts';
import { startEmbeddedPostgres } from '../../subgraphs/kernel/database/embedded-postgres.ts';
import { ratePerSecond_max } from '../../subgraphs/merchants/rules/rate-limit.ts';
import { askGraph, makeMerchant, type Merchant } from '../support/merchant.ts';
import { spawnProcess, stopProcess, untilReady, type ServiceProcess } from '../support/service.ts';
import { startServer, type ChildServer } from './child-server.ts';
import { cpuOfPostgres, type CpuClock } from './cpu.ts';
import { connections } from './plan.ts';

export interface Fixture extends AsyncDisposable {
  readonly databaseUrl: string;
  /** For what is made on the way; removed with everything else. */
  readonly directory: string;
  readonly postgres: CpuClock;
  readonly service: { readonly url: string; readonly pid: number };
  readonly bare: ChildServer;
  readonly merchant: Merchant;
  /** What every process of the service here is started with. */
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * Everything that answers requests in one process, and nothing that works in the background: that
 * would run beside the baseline too.
 */
const roles =
  'gateway rest-facade subgraph payments subgraph payouts subgraph recurring subgraph merchants';

const environmentOn = (databaseUrl: string): Fixture['environment'] => ({
  DATABASE_URL: databaseUrl,
  DATABASE_POOL: `${connections}`,
  SECRET_KEY: randomBytes(32).toString('base64'),
  PUBLIC_URL: 'https://pay.example',
  WEBHOOK_PRIVATE_TARGETS: 'allow',
  NODE_ENV: 'production',
});

const startAnswering = async (environment: Fixture['environment']): Promise<ServiceProcess> => {
  const migrate = spawnProcess('migrate', 0, environment);
  const [code] = await once(migrate.child, 'exit');
  if (code !== 0) throw new Error(`migrate ended with ${String(code)}:\n${migrate.output()}`);
  return spawnProcess(roles, await freePort(), environment);
};

/**
 * One more service like the fixture's, on the same database, with settings of its own; `stack` ends
 * it.
 */
export const startBeside = async (
  { environment }: Fixture,
  settings: Readonly<Record<string, string>>,
  stack: AsyncDisposableStack,
): Promise<Fixture['service']> => {
  const beside = await startAnswering({ ...environment, ...settings });
  stack.defer(async () => void (await stopProcess(beside)));
  await untilReady(beside);
  const { pid } = beside.child;
  if (pid === undefined) throw new Error('the service has no process');
  return { url: beside.url, pid };
};

/**
 * A merchant who may call as often as anybody may. `url` is where the graph is, and REST too unless
 * `rest` is elsewhere.
 */
export const busyMerchant = async ({
  url,
  rest = url,
}: Pick<ServiceProcess, 'url'> & { readonly rest?: string }): Promise<Merchant> => {
  const service = { rest, rests: [rest], graph: url, processes: [], stop: async () => {} };
  const merchant = await makeMerchant(service);
  const setLimit = `mutation ($m: ID!, $most: Int!) { merchantRateLimitSet(merchantId: $m, perSecond: $most, burst: $most) { __typename ... on Refused { message } } }`;
  const { merchantRateLimitSet: set } = await askGraph(service, setLimit, {
    m: merchant.id,
    most: ratePerSecond_max,
  });
  if (set.__typename === 'Refused') throw new Error(set.message);
  return merchant;
};

/** Starts all of it. */
export const openFixture = async (progress: (text: string) => void): Promise<Fixture> => {
  await using opening = new AsyncDisposableStack();
  const directory = mkdtempSync(join(tmpdir(), 'payments-bench-'));
  opening.defer(() => rmSync(directory, { recursive: true, force: true }));
  progress('starting PostgreSQL');
  const database = await startEmbeddedPostgres({ dataDir: directory, progress: () => {} });
  opening.defer(() => database.stop());
  progress('starting the service and the baseline');
  const environment = environmentOn(database.url);
  const service = await startAnswering(environment);
  opening.defer(async () => void (await stopProcess(service)));
  await untilReady(service);
  const merchant = await busyMerchant(service);
  const settings = {
    DATABASE_URL: database.url,
    POOL: `${connections}`,
    MERCHANT: merchant.id,
    SHOP: merchant.shopId,
  };
  const bare = opening.use(await startServer('bare.ts', settings));
  const { pid } = service.child;
  if (pid === undefined) throw new Error('the service has no process');
  const stack = opening.move();
  return {
    databaseUrl: database.url,
    directory,
    postgres: cpuOfPostgres(directory),
    service: { url: service.url, pid },
    bare,
    merchant,
    environment,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
};
