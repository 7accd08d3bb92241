/**
 * Configuration: read once from the environment, checked whole, every mistake listed at once.
 * Secrets come from the environment or from a file (`<NAME>_FILE`), never from an argument.
 */
import { hkdfSync } from 'node:crypto';
import type { Keys } from '../access/keys.ts';
import { eventsKeptDefault_days, eventsKept_min_days } from '../../rules/retention.ts';
import type { OverloadLimits } from '../http/overload.ts';
import { Reader, type Environment } from './read-variables.ts';
import { readTracing, type TracingConfig } from '../tracing/tracing-config.ts';

/** The issuer of the tokens of operators and cabinet users. */
export interface OidcConfig {
  /** Exactly as its tokens name it. */
  readonly issuer: string;
  /** Whom the tokens must be meant for. */
  readonly audience: string;
  /** Where its keys are; null: as in its discovery document. */
  readonly jwksUrl: string | null;
  /** The claim with the roles: its name, or its path with dots. */
  readonly rolesClaim: string;
  /** The claim that narrows a person to one merchant. */
  readonly merchantClaim: string;
  /** The claim that lets a person see all merchants, when it is `true`. */
  readonly platformClaim: string;
}

export interface Config {
  /** TCP port of the public surface; 0 picks a free one. */
  readonly port: number;
  readonly host: string;
  /**
   * TCP port of metrics and health, which then are not on the public one's `/metrics`; null: they
   * are.
   */
  readonly metricsPort: number | null;
  /** Where an embedded installation keeps its data. */
  readonly dataDir: string;
  /** Null: the embedded PostgreSQL in `dataDir`. */
  readonly databaseUrl: string | null;
  /**
   * One server, or nodes of a cluster with commas between them. Null: BullMQ and the bus run on
   * PostgreSQL.
   */
  readonly redisUrl: string | null;
  /**
   * Base address that buyers and merchants see, without a slash at the end; null: http://host:port.
   */
  readonly publicUrl: string | null;
  /** Bootstrap operator token; null: made, kept and printed where the database is embedded. */
  readonly operatorToken: string | null;
  /** Null: no issuer's tokens are taken. */
  readonly oidc: OidcConfig | null;
  /** Whether the graph shows its schema to whoever may call it (introspection). */
  readonly graphIntrospection: boolean;
  /** Whether `/graphql` is a page in a browser. On by default only with the embedded database. */
  readonly graphiql: boolean;
  /** 32 bytes; null: made and kept in `dataDir` (embedded only). */
  readonly secretKey: Buffer | null;
  /**
   * The secret key that is to follow, and the one before: what was made with them is read. Null but
   * while the key is being changed.
   */
  readonly secretKeyNext: Buffer | null;
  readonly secretKeyPrevious: Buffer | null;
  /** Where each subgraph that is not in this process listens. */
  readonly subgraphUrls: Readonly<
    Partial<Record<'payments' | 'payouts' | 'recurring' | 'merchants', string>>
  >;
  /**
   * Whether webhooks may go to http and to loopback; `development`: while the public address is
   * http on loopback and no merchant is live.
   */
  readonly webhookPrivateTargets: 'development' | 'allow' | 'refuse';
  readonly logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent';
  /** How long a drain may take before the process gives up. */
  readonly drain_ms: number;
  /** Addresses and CIDR blocks of proxies whose `X-Forwarded-For` is believed (decision D-11). */
  readonly trustedProxies: readonly string[];
  /** How long a request waits for the store of the rate limiter before it passes unlimited. */
  readonly rateLimitWait_ms: number;
  /** What of load a public process takes before it answers 503. */
  readonly overload: OverloadLimits;
  /** Where traces go; null: nothing is traced. */
  readonly tracing: TracingConfig | null;
  /** Connections to PostgreSQL of this process's pool. */
  readonly databasePool: number;
  /** How long events, webhook deliveries and their attempts are kept. */
  readonly eventsKept_days: number;
  /**
   * Address of PostgreSQL itself where `databaseUrl` is a pooler of transactions: for migrations,
   * LISTEN and locks of sessions. Null: the same.
   */
  readonly databaseDirectUrl: string | null;
  /** Whether `databaseUrl` knows prepared statements. */
  readonly namedStatements: boolean;
  /**
   * How long a process that is to end still takes calls, and says on `/readyz` that it is leaving:
   * so long may a balancer need to see that.
   */
  readonly drainDelay_ms: number;
}

/**
 * The issuer, when one is named. Its name is compared with that in its tokens, so that a slash at
 * the end counts.
 */
const readOidc = (read: Reader): OidcConfig | null => {
  const issuer = read.url('OIDC_ISSUER', ['https:', 'http:']) && read.text('OIDC_ISSUER');
  const audience = read.text('OIDC_AUDIENCE');
  const jwksUrl = read.url('OIDC_JWKS_URL', ['https:', 'http:']);
  if (issuer !== null && audience === null)
    read.mistakes.push(
      'OIDC_AUDIENCE is required with OIDC_ISSUER: whom the tokens must be meant for',
    );
  if (issuer === null && (audience !== null || jwksUrl !== null))
    read.mistakes.push('OIDC_ISSUER is required with OIDC_AUDIENCE and OIDC_JWKS_URL');
  if (issuer === null || audience === null) return null;
  return {
    issuer,
    audience,
    jwksUrl,
    rolesClaim: read.text('OIDC_ROLES_CLAIM') ?? 'roles',
    merchantClaim: read.text('OIDC_MERCHANT_CLAIM') ?? 'merchant_id',
    platformClaim: read.text('OIDC_PLATFORM_CLAIM') ?? 'platform',
  };
};

/**
 * Reads the configuration of the service, and what others read beside it from the same environment.
 * Throws one error that lists every mistake.
 */
export const readServiceConfig = <Beside extends object>(
  environment: Environment,
  readBeside: (read: Reader) => Beside,
): Config & Beside => {
  const read = new Reader(environment);
  const subgraphUrls: Partial<Record<'payments' | 'payouts' | 'recurring' | 'merchants', string>> =
    {};
  for (const name of ['payments', 'payouts', 'recurring', 'merchants'] as const) {
    const url = read.url(`SUBGRAPH_${name.toUpperCase()}_URL`, ['http:', 'https:']);
    if (url) subgraphUrls[name] = url;
  }
  const databaseUrl = read.withPassword(
    read.url('DATABASE_URL', ['postgres:', 'postgresql:']),
    'DATABASE_PASSWORD',
  );
  const config: Config = {
    port: read.integer('PORT', 4000, 0, 65_535),
    host: read.text('HOST') ?? '127.0.0.1',
    metricsPort:
      read.text('METRICS_PORT') === null ? null : read.integer('METRICS_PORT', 0, 1, 65_535),
    dataDir: read.text('DATA_DIR') ?? '.data',
    databaseUrl,
    redisUrl: read.withPassword(read.urls('REDIS_URL', ['redis:', 'rediss:']), 'REDIS_PASSWORD'),
    publicUrl: read.url('PUBLIC_URL', ['http:', 'https:']),
    operatorToken: read.text('OPERATOR_TOKEN'),
    oidc: readOidc(read),
    graphIntrospection: read.oneOf('GRAPHQL_INTROSPECTION', ['on', 'off'], 'on') === 'on',
    graphiql:
      read.oneOf(
        'GRAPHIQL',
        ['on', 'off'],
        databaseUrl === null && Object.keys(subgraphUrls).length === 0 ? 'on' : 'off',
      ) === 'on',
    secretKey: read.key('SECRET_KEY'),
    secretKeyNext: read.key('SECRET_KEY_NEXT'),
    secretKeyPrevious: read.key('SECRET_KEY_PREVIOUS'),
    subgraphUrls,
    webhookPrivateTargets: read.oneOf(
      'WEBHOOK_PRIVATE_TARGETS',
      ['development', 'allow', 'refuse'],
      databaseUrl ? 'refuse' : 'development',
    ),
    logLevel: read.oneOf(
      'LOG_LEVEL',
      ['trace', 'debug', 'info', 'warn', 'error', 'silent'],
      'info',
    ),
    drain_ms: read.integer('DRAIN_MS', 8_000, 0, 600_000),
    trustedProxies: read.addresses('TRUSTED_PROXIES'),
    rateLimitWait_ms: read.integer('RATE_LIMIT_WAIT_MS', 50, 1, 10_000),
    overload: {
      inFlight_max: read.integer('OVERLOAD_IN_FLIGHT', 1_000, 1, 1_000_000),
      loopDelay_max_ms: read.integer('OVERLOAD_DELAY_MS', 500, 1, 60_000),
    },
    tracing: readTracing(read),
    databasePool: read.integer('DATABASE_POOL', 16, 2, 1_000),
    eventsKept_days: read.integer(
      'RETENTION_EVENTS_DAYS',
      eventsKeptDefault_days,
      eventsKept_min_days,
      3_650,
    ),
    databaseDirectUrl: read.withPassword(
      read.url('DATABASE_DIRECT_URL', ['postgres:', 'postgresql:']),
      'DATABASE_PASSWORD',
    ),
    namedStatements: read.oneOf('DATABASE_NAMED_STATEMENTS', ['on', 'off'], 'on') === 'on',
    drainDelay_ms: read.integer('DRAIN_DELAY_MS', 0, 0, 600_000),
  };
  if (databaseUrl && !config.secretKey)
    read.mistakes.push(
      'SECRET_KEY is required with DATABASE_URL: every process must have the same',
    );
  if (config.databaseDirectUrl && !databaseUrl)
    read.mistakes.push('DATABASE_URL is required with DATABASE_DIRECT_URL');
  if (config.operatorToken !== null && config.operatorToken.length < 16)
    read.mistakes.push('OPERATOR_TOKEN must have at least 16 characters');
  if (config.metricsPort !== null && config.metricsPort === config.port)
    read.mistakes.push('METRICS_PORT must not be PORT');
  const beside = readBeside(read);
  if (read.mistakes.length > 0) throw new ConfigError(read.mistakes);
  return { ...config, ...beside };
};

/** The configuration cannot be used; `mistakes` lists every reason. */
export class ConfigError extends Error {
  readonly mistakes: readonly string[];

  constructor(mistakes: readonly string[]) {
    super(
      `the configuration has ${mistakes.length} mistake(s):\n${mistakes.map((mistake) => `  - ${mistake}`).join('\n')}`,
    );
    this.name = 'ConfigError';
    this.mistakes = mistakes;
  }
}

/**
 * The keys that the service works with, each derived from the one secret key for its one purpose.
 */
export interface Secrets {
  /** Signs the principal header between processes: callers, and the edge. */
  readonly principal: Keys;
  /** Signs the tokens in hosted page addresses. */
  readonly page: Keys;
  /** Encrypts secrets that must be read back. */
  readonly vault: Keys;
  /** The vault's key before the current one: what is sealed with it is to be sealed anew. */
  readonly formerVault: Buffer | null;
  /** Makes fingerprints of card and account numbers for the block lists. */
  readonly fingerprint: Keys;
}

/** The configuration with what an embedded installation makes for itself. */
export interface SettledConfig extends Config {
  readonly publicUrl: string;
  readonly secrets: Secrets;
}

/**
 * Derives the working keys from the secret key (32 bytes), and from those before and after it while
 * it is being changed: what is new is made with the current one, what is there is read with any.
 */
export const deriveSecrets = (
  secretKey: Buffer,
  previous: Buffer | null = null,
  next: Buffer | null = null,
): Secrets => {
  const derive = (from: Buffer, purpose: string): Buffer =>
    Buffer.from(hkdfSync('sha256', from, '', `payment-service/${purpose}`, 32));
  const others = [previous, next].flatMap((key) =>
    key === null || key.equals(secretKey) ? [] : [key],
  );
  const all = (purpose: string): Keys => [
    derive(secretKey, purpose),
    ...others.map((key) => derive(key, purpose)),
  ];
  const former = previous === null || previous.equals(secretKey) ? null : derive(previous, 'vault');
  return {
    principal: all('principal'),
    page: all('page'),
    vault: all('vault'),
    formerVault: former,
    fingerprint: all('fingerprint'),
  };
};
