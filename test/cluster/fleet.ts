/**
 * The whole service as a fleet: two processes of each role behind HAProxy, PostgreSQL with a
 * synchronous standby, PgBouncer in transaction mode before whichever of them is the primary, and a
 * Redis Cluster of three. HAProxy and PgBouncer run on the samples of `subgraphs/platform/fleet/`.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { superuser } from '../../subgraphs/platform/database/embedded/cluster.ts';
import { freePort } from '../support/free-port.ts';
import { startRedisCluster, type TestRedisCluster } from '../queue/redis-cluster.ts';
import {
  spawnProcess,
  stopProcess,
  untilReady,
  type Service,
  type ServiceProcess,
} from '../support/service.ts';
import { startHaproxy, startPgbouncer, type Haproxy, type Outside } from './outside.ts';
import { startPair, type Pair } from './pair.ts';
import { eventually, patience_ms } from '../support/eventually.ts';

const subgraphs = ['payments', 'payouts', 'recurring', 'merchants'] as const;
const edges = ['gateway', 'rest-facade', 'checkout'] as const;
const onRecord = subgraphs.map((name) => `subgraph ${name}`);

/**
 * The roles of each kind of process: every role by itself, or the edge and what works on the
 * record.
 */
const layouts: Readonly<Record<'whole' | 'small', readonly string[]>> = {
  whole: [...edges, ...onRecord, 'worker'],
  small: [edges.join(' '), [...onRecord, 'worker'].join(' ')],
};
export type Layout = keyof typeof layouts;

/** A process of the fleet, which has its place: another takes it when it ends. */
export interface Place {
  readonly roles: string;
  /** 1 or 2. */
  readonly number: number;
  readonly port: number;
}

export interface Fleet<Postgres extends Pair = Pair> extends Service {
  readonly places: readonly Place[];
  readonly redis: TestRedisCluster;
  readonly haproxy: Outside;
  readonly pgbouncer: Outside;
  readonly postgres: Omit<Postgres, 'stop'>;
  /** Address of PostgreSQL itself, whichever is the primary. */
  readonly databaseUrl: string;
  /** Ends the process of a place and starts another there; fulfils when it is ready. */
  replace(place: Place, signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
  /** Waits until HAProxy sends calls to every process. */
  untilWhole(): Promise<void>;
}

const startedAtOnce = 4;
/** HAProxy's health checks are twice a second, and two must fail. */
const drainDelay_ms = 1_500;

/** What stands in the sample for HAProxy, and where it is in this test. */
const addressesOf = (
  places: readonly Place[],
  ports: ReadonlyMap<string, number>,
  { servers }: Pair,
) => {
  const processes = places.flatMap(({ roles, number, port }) => {
    const names = [...edges, ...subgraphs].filter((name) => roles.split(' ').includes(name));
    return names.map((name) => [` ${name}-${number}:4000`, ` 127.0.0.1:${port}`] as const);
  });
  const binds = Array.from(
    ports,
    ([bind, port]) => [`bind ${bind}`, `bind 127.0.0.1:${port}`] as const,
  );
  const databases = servers.map(
    ({ port, healthPort }, index) =>
      [`postgres-${index + 1}:5432 port 8008`, `127.0.0.1:${port} port ${healthPort}`] as const,
  );
  return new Map<string, string>([...processes, ...binds, ...databases]);
};

const addressAt = (database: string, port: number, password: string): string =>
  `postgres://${superuser}:${password}@127.0.0.1:${port}/${database}`;

type Environment = Readonly<Record<string, string>>;

/** What the processes stand on: the databases, and what leads to them and to the processes. */
const startStores = async <Postgres extends Pair>(
  places: readonly Place[],
  startPostgres: () => Promise<Postgres>,
  stack: AsyncDisposableStack,
) => {
  const pair = await startPostgres();
  stack.defer(() => pair.stop());
  const redis = await startRedisCluster();
  stack.defer(() => redis.stop());
  const binds = await Promise.all(
    ['*:8080', '*:4101', '*:4102', '*:4103', '*:4104', '*:5000'].map(
      async (bind) => [bind, await freePort()] as const,
    ),
  );
  const ports = new Map(binds);
  const at = (bind: string): string => `http://127.0.0.1:${ports.get(bind)}`;
  const haproxy = await startHaproxy(ports.get('*:8080') ?? 0, addressesOf(places, ports, pair));
  stack.defer(() => haproxy.stop());
  const postgresPort = ports.get('*:5000') ?? 0;
  const pgbouncer = await startPgbouncer(await freePort(), postgresPort, pair.password);
  stack.defer(() => pgbouncer.stop());
  // It takes both for primaries until it has asked them.
  await untilUp(haproxy, ['postgres-1'], ['postgres-2']);
  const databaseUrl = addressAt('payments', postgresPort, pair.password);
  const environment: Environment = {
    DATABASE_URL: addressAt('payments', pgbouncer.port, pair.password),
    DATABASE_DIRECT_URL: databaseUrl,
    DATABASE_NAMED_STATEMENTS: 'off',
    REDIS_URL: redis.url,
    SECRET_KEY: randomBytes(32).toString('base64'),
    PUBLIC_URL: at('*:8080'),
    TRUSTED_PROXIES: '127.0.0.1',
    WEBHOOK_PRIVATE_TARGETS: 'allow',
    DRAIN_DELAY_MS: String(drainDelay_ms),
    // A busy machine is no reason to give up.
    DRAIN_MS: String(patience_ms),
    ...Object.fromEntries(
      subgraphs.map((name, index) => [
        `SUBGRAPH_${name.toUpperCase()}_URL`,
        at(`*:410${index + 1}`),
      ]),
    ),
  };
  return { pair, redis, haproxy, pgbouncer, databaseUrl, environment, url: at('*:8080') };
};

const untilUp = async (
  haproxy: Haproxy,
  up: readonly string[],
  down: readonly string[] = [],
): Promise<void> => {
  const isSo = async (): Promise<boolean> => {
    const seen = await haproxy.whoIsUp().catch(() => null);
    return (
      seen !== null &&
      up.every((name) => seen.includes(name)) &&
      !down.some((name) => seen.includes(name))
    );
  };
  await eventually(isSo, `HAProxy to see ${up.join(', ')}`);
};

const migrate = async (environment: Environment): Promise<void> => {
  const { child, output } = spawnProcess('migrate', 0, environment);
  const [code] = await once(child, 'exit');
  assert.equal(code, 0, output());
};

/** Starts a process at each place. */
const fill = async (
  places: readonly Place[],
  environment: Environment,
  stack: AsyncDisposableStack,
) => {
  const running = new Map<Place, ServiceProcess>();
  stack.defer(
    async () =>
      void (await Promise.all(
        Array.from(running.values(), (part) => stopProcess(part, 'SIGKILL')),
      )),
  );
  const begin = async (place: Place): Promise<void> => {
    const started = spawnProcess(place.roles, place.port, environment);
    running.set(place, started);
    await untilReady(started);
  };
  const replace = async (place: Place, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> => {
    const old = running.get(place);
    if (!old) throw new Error(`nothing runs as ${place.roles}`);
    const code = await stopProcess(old, signal);
    if (signal === 'SIGTERM') {
      assert.equal(code, 0, old.output());
      assert.doesNotMatch(old.output(), /end of the drain/, 'every job ends in time');
    }
    await begin(place);
  };
  // Not all at once: a busy machine has each of them ready sooner.
  for (let from = 0; from < places.length; from += startedAtOnce)
    await Promise.all(places.slice(from, from + startedAtOnce).map(begin));
  return { running, replace };
};

/** Starts the fleet on a pair whose standby is promoted by hand. */
export const startFleet = (layout: Layout): Promise<Fleet> => startFleetOn(startPair, layout);

/**
 * Starts the fleet on these two PostgreSQL and waits until every process is ready, also to HAProxy.
 * What a failure leaves half way is taken down.
 */
export const startFleetOn = async <Postgres extends Pair>(
  startPostgres: () => Promise<Postgres>,
  layout: Layout,
): Promise<Fleet<Postgres>> => {
  await using starting = new AsyncDisposableStack();
  const places = await Promise.all(
    [1, 2].flatMap((number) =>
      layouts[layout].map(async (roles) => ({ roles, number, port: await freePort() })),
    ),
  );
  const { pair, redis, haproxy, pgbouncer, databaseUrl, environment, url } = await startStores(
    places,
    startPostgres,
    starting,
  );
  await migrate(environment);
  const { running, replace } = await fill(places, environment, starting);
  const untilWhole = (): Promise<void> =>
    untilUp(
      haproxy,
      [1, 2].flatMap((number) => [...edges, ...subgraphs].map((name) => `${name}-${number}`)),
    );
  await untilWhole();
  const started = starting.move();
  return {
    rest: url,
    rests: [url],
    graph: url,
    places,
    redis,
    haproxy,
    pgbouncer,
    postgres: pair,
    databaseUrl,
    replace,
    untilWhole,
    stop: () => started.disposeAsync(),
    get processes() {
      return [...running.values()];
    },
  };
};
