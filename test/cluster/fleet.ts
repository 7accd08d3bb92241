/**
 * The whole service as a fleet: two processes of each role behind HAProxy, PostgreSQL with a synchronous standby, PgBouncer in transaction mode before whichever
 * of them is the primary, and a Redis Cluster of three. HAProxy and PgBouncer run on the samples of `subgraphs/kernel/fleet/`.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { freePort } from '../../subgraphs/kernel/database/embedded/free-port.ts';
import { eventually } from '../support/merchant.ts';
import { startRedisCluster, type TestRedisCluster } from '../support/redis-cluster.ts';
import { spawnProcess, stopProcess, untilReady, type Service, type ServiceProcess } from '../support/service.ts';
import { startHaproxy, startPgbouncer, type Outside } from './outside.ts';
import { askServer, closeHouse, endServer, openHouse, startPrimary, startStandby, takeBackup, type PostgresServer } from './postgres-server.ts';
import { sayPrimary } from './say-primary.ts';

const subgraphs = ['payments', 'payouts', 'recurring', 'merchants'] as const;
const edges = ['gateway', 'rest-facade', 'checkout'] as const;

/** The roles of each kind of process: every role by itself, or as few processes as two of each role can be. */
const layouts: Readonly<Record<'whole' | 'small', readonly string[]>> = {
  whole: [...edges, ...subgraphs.map((name) => `subgraph ${name}`), 'worker'],
  small: [edges.join(' '), subgraphs.map((name) => `subgraph ${name}`).join(' '), 'worker'],
};
export type Layout = keyof typeof layouts;

/** A process of the fleet, which has its place: another takes it when it ends. */
export interface Place {
  readonly roles: string;
  /** 1 or 2. */
  readonly number: number;
  readonly port: number;
}

export interface Fleet extends Service {
  readonly places: readonly Place[];
  readonly redis: TestRedisCluster;
  readonly pgbouncer: Outside;
  /** Address of PostgreSQL itself, whichever is the primary. */
  readonly databaseUrl: string;
  /** Ends the process of a place and starts another there; fulfils when it is ready. */
  replace(place: Place, signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
  /** Whether HAProxy sends calls to every process with this number. */
  isSeen(number: number): Promise<boolean>;
  /** Kills the primary and promotes its standby, as whoever watches over them would. */
  failOver(): Promise<void>;
}

/** HAProxy's health checks are twice a second, and two must fail. */
const drainDelay_ms = 1_500;

const serverName = (role: string): string => role.replace('subgraph ', '');

/** What stands in the sample for HAProxy, and where it is in this test. */
const addressesOf = (places: readonly Place[], ports: ReadonlyMap<string, number>, postgres: readonly number[], health: readonly number[]) => {
  const servers = places.flatMap(({ roles, number, port }) => {
    const names = edges.some((edge) => roles.includes(edge)) ? roles.split(' ') : roles.split('subgraph ').map((name) => name.trim());
    return names.filter((name) => name && name !== 'worker').map((name) => [` ${serverName(name)}-${number}:4000`, ` 127.0.0.1:${port}`] as const);
  });
  const binds = Array.from(ports, ([bind, port]) => [`bind ${bind}`, `bind 127.0.0.1:${port}`] as const);
  const databases = postgres.map((port, index) => [`postgres-${index + 1}:5432 port 8008`, `127.0.0.1:${port} port ${health[index]}`] as const);
  return new Map<string, string>([...servers, ...binds, ...databases]);
};

const startPair = async () => {
  const house = openHouse();
  const primary = await startPrimary(house);
  const standby = await startStandby(house, await takeBackup(house, primary, 'standby'), primary);
  const streams = async (): Promise<boolean> => (await askServer(primary.url, 'select from pg_stat_replication where state = $$streaming$$')).length > 0;
  await eventually(streams, 'the standby', 60_000);
  // What is answered as done is on both from here on.
  await askServer(primary.url, "alter system set synchronous_standby_names = '*'");
  await askServer(primary.url, 'select pg_reload_conf()');
  const sayers = await Promise.all([sayPrimary(primary.url), sayPrimary(standby.url)]);
  const stop = async (): Promise<void> => {
    await Promise.all(sayers.map((sayer) => sayer.close()));
    await endServer(standby, 'SIGKILL');
    await endServer(primary, 'SIGKILL');
    closeHouse(house);
  };
  return { primary, standby, health: sayers.map(({ port }) => port), stop };
};

const withPort = (server: PostgresServer, port: number): string => Object.assign(new URL(server.url), { port: String(port) }).href;

type Environment = Readonly<Record<string, string>>;

/** What the processes stand on: the databases, and what leads to them and to the processes. */
const startStores = async (places: readonly Place[], stack: AsyncDisposableStack) => {
  const [pair, redis] = await Promise.all([startPair(), startRedisCluster()]);
  stack.defer(() => pair.stop());
  stack.defer(() => redis.stop());
  const binds = await Promise.all(['*:8080', '*:4101', '*:4102', '*:4103', '*:4104', '*:5000'].map(async (bind) => [bind, await freePort()] as const));
  const ports = new Map(binds);
  const at = (bind: string): string => `http://127.0.0.1:${ports.get(bind)}`;
  const addresses = addressesOf(places, ports, [pair.primary.port, pair.standby.port], pair.health);
  const haproxy = await startHaproxy(ports.get('*:8080') ?? 0, addresses);
  stack.defer(() => haproxy.stop());
  const postgresPort = ports.get('*:5000') ?? 0;
  const pgbouncer = await startPgbouncer(await freePort(), postgresPort, pair.primary.password);
  stack.defer(() => pgbouncer.stop());
  const databaseUrl = withPort(pair.primary, postgresPort);
  await eventually(() => askServer(databaseUrl, 'select 1').catch(() => null), 'HAProxy to see the primary', 30_000);
  const environment: Environment = {
    DATABASE_URL: withPort(pair.primary, pgbouncer.port),
    DATABASE_DIRECT_URL: databaseUrl,
    DATABASE_NAMED_STATEMENTS: 'off',
    DATABASE_POOL: '8',
    REDIS_URL: redis.url,
    SECRET_KEY: randomBytes(32).toString('base64'),
    PUBLIC_URL: at('*:8080'),
    TRUSTED_PROXIES: '127.0.0.1',
    WEBHOOK_PRIVATE_TARGETS: 'allow',
    DRAIN_DELAY_MS: String(drainDelay_ms),
    // A busy machine is no reason to give up.
    DRAIN_MS: '60000',
    ...Object.fromEntries(subgraphs.map((name, index) => [`SUBGRAPH_${name.toUpperCase()}_URL`, at(`*:410${index + 1}`)])),
  };
  return { pair, redis, haproxy, pgbouncer, databaseUrl, environment, url: at('*:8080') };
};

const migrate = async (environment: Environment): Promise<void> => {
  const { child, output } = spawnProcess('migrate', 0, environment);
  const [code] = await once(child, 'exit');
  assert.equal(code, 0, output());
};

/** Starts a process at each place. */
const fill = async (places: readonly Place[], environment: Environment, stack: AsyncDisposableStack) => {
  const running = new Map<Place, ServiceProcess>();
  stack.defer(async () => void (await Promise.all(Array.from(running.values(), (part) => stopProcess(part, 'SIGKILL')))));
  const begin = async (place: Place): Promise<void> => {
    const started = spawnProcess(place.roles, place.port, environment);
    running.set(place, started);
    await untilReady(started);
  };
  const replace = async (place: Place, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> => {
    const old = running.get(place);
    if (!old) throw new Error(`nothing runs as ${place.roles}`);
    const code = await stopProcess(old, signal);
    if (signal === 'SIGTERM') assert.equal(code, 0, old.output());
    await begin(place);
  };
  await Promise.all(places.map(begin));
  return { running, replace };
};

/** Starts the fleet and waits until every process is ready, also to HAProxy. What a failure leaves half way is taken down. */
export const startFleet = async (layout: Layout): Promise<Fleet> => {
  await using starting = new AsyncDisposableStack();
  const places = await Promise.all([1, 2].flatMap((number) => layouts[layout].map(async (roles) => ({ roles, number, port: await freePort() }))));
  const { pair, redis, haproxy, pgbouncer, databaseUrl, environment, url } = await startStores(places, starting);
  await migrate(environment);
  const { running, replace } = await fill(places, environment, starting);
  const isSeen = async (number: number): Promise<boolean> => {
    const up = await haproxy.whoIsUp();
    return [...edges, ...subgraphs].every((name) => up.includes(`${name}-${number}`));
  };
  const failOver = async (): Promise<void> => {
    await endServer(pair.primary, 'SIGKILL');
    await askServer(pair.standby.url, 'select pg_promote()');
  };
  for (const number of [1, 2]) await eventually(() => isSeen(number), 'HAProxy to see the service', 60_000);
  const started = starting.move();
  return {
    rest: url,
    rests: [url],
    graph: url,
    places,
    redis,
    pgbouncer,
    databaseUrl,
    replace,
    isSeen,
    failOver,
    stop: () => started.disposeAsync(),
    get processes() {
      return [...running.values()];
    },
  };
};
