/**
 * Configuration: read once from the environment, checked completely, with all mistakes reported
 * together. Secrets come from the environment or from a file (`<NAME>_FILE`), never from an
 * argument.
 */
import { hkdfSync } from 'node:crypto';
import * as v from 'valibot';
import { eventsKeptDefault_days, eventsKept_min_days } from '../../rules/retention.ts';
import type { Keys } from '../access/keys.ts';
import {
  exactUrl,
  integer,
  keyInBase64,
  networks,
  oneOf,
  onOff,
  origins,
  Reader,
  text,
  url,
  urls,
  withPassword,
  type Environment,
  type SettingTable,
} from './read-variables.ts';

/** What an installation sets; docs/operations.md explains each variable to operators. */
const serviceSettings = {
  /** TCP port of the public surface; 0 picks a free one. */
  port: ['PORT', integer(0, 65_535), '4000'],
  host: ['HOST', text, '127.0.0.1'],
  /**
   * TCP port of metrics and health, which then leave the public port's `/metrics`; null: they stay
   * there.
   */
  metricsPort: ['METRICS_PORT', integer(1, 65_535)],
  /** The data directory of an embedded installation. */
  dataDir: ['DATA_DIR', text, '.data'],
  /** Null: the embedded PostgreSQL in `dataDir`. */
  databaseUrl: ['DATABASE_URL', url('postgres:', 'postgresql:')],
  /**
   * Address of PostgreSQL itself where `databaseUrl` is a transaction pooler: for migrations,
   * LISTEN and session locks. Null: the same.
   */
  databaseDirectUrl: ['DATABASE_DIRECT_URL', url('postgres:', 'postgresql:')],
  databasePassword: ['DATABASE_PASSWORD', text],
  /** Connections to PostgreSQL of this process's pool. */
  databasePool: ['DATABASE_POOL', integer(2, 1_000), '16'],
  /** Whether `databaseUrl` knows prepared statements. */
  namedStatements: ['DATABASE_NAMED_STATEMENTS', onOff, 'on'],
  /**
   * One server, or comma-separated nodes of a cluster. Null: BullMQ and the bus run on PostgreSQL.
   */
  redisUrl: ['REDIS_URL', urls('redis:', 'rediss:')],
  redisPassword: ['REDIS_PASSWORD', text],
  /** Retention of events, deliveries, attempts, calls to banks and page openings. */
  eventsKept_days: [
    'RETENTION_EVENTS_DAYS',
    integer(eventsKept_min_days, 3_650),
    String(eventsKeptDefault_days),
  ],
  /** 32 bytes; null: generated and stored in `dataDir` (embedded only). */
  secretKey: ['SECRET_KEY', keyInBase64],
  /**
   * The next secret key and the previous one: both can read existing values. Null except during a
   * key change.
   */
  secretKeyNext: ['SECRET_KEY_NEXT', keyInBase64],
  secretKeyPrevious: ['SECRET_KEY_PREVIOUS', keyInBase64],
  /**
   * Base address that buyers and merchants see, without a trailing slash; null: http://host:port.
   */
  publicUrl: ['PUBLIC_URL', url('http:', 'https:')],
  /** Addresses and CIDR blocks of proxies whose `X-Forwarded-For` is trusted. */
  trustedProxies: ['TRUSTED_PROXIES', networks, ''],
  /** How long a request waits for the store of the rate limiter before it passes unlimited. */
  rateLimitWait_ms: ['RATE_LIMIT_WAIT_MS', integer(1, 10_000), '50'],
  /** Whether the graph shows its schema to its callers (introspection). */
  graphIntrospection: ['GRAPHQL_INTROSPECTION', onOff, 'on'],
  /** Origins that may call `/graphql` from a browser, and open its sockets. */
  graphqlOrigins: ['GRAPHQL_ORIGINS', origins, ''],
  /** Whether `/graphql` is a page in a browser. On by default only with the embedded database. */
  graphiql: ['GRAPHIQL', onOff],
  /**
   * Whether webhooks may use http and loopback; `development`: while the public address is http on
   * loopback and no merchant is live.
   */
  webhookPrivateTargets: ['WEBHOOK_PRIVATE_TARGETS', oneOf('development', 'allow', 'refuse')],
  logLevel: ['LOG_LEVEL', oneOf('trace', 'debug', 'info', 'warn', 'error', 'silent'), 'info'],
  /** How long a drain may take before the process gives up. */
  drain_ms: ['DRAIN_MS', integer(0, 600_000), '8000'],
  /**
   * How long an ending process still accepts calls while `/readyz` reports that it is leaving: a
   * balancer needs this time to notice.
   */
  drainDelay_ms: ['DRAIN_DELAY_MS', integer(0, 600_000), '0'],
  /**
   * Bootstrap operator token; null: generated, stored and printed where the database is embedded.
   */
  operatorToken: ['OPERATOR_TOKEN', text],
} satisfies SettingTable;

/** The issuer of the tokens of operators and cabinet users, when one is named. */
const readOidc = (reader: Reader) => {
  const { issuer, audience, ...claims } = reader.read({
    /** Exactly as its tokens name it: a trailing slash counts. */
    issuer: ['OIDC_ISSUER', exactUrl('https:', 'http:')],
    /** Whom the tokens must be meant for. */
    audience: ['OIDC_AUDIENCE', text],
    /** The address of its keys; null: as in its discovery document. */
    jwksUrl: ['OIDC_JWKS_URL', url('https:', 'http:')],
    /** The claim with the roles: its name, or its path with dots. */
    rolesClaim: ['OIDC_ROLES_CLAIM', text, 'roles'],
    /** The claim that narrows a person to one merchant. */
    merchantClaim: ['OIDC_MERCHANT_CLAIM', text, 'merchant_id'],
    /** The claim that lets a person see all merchants, when it is `true`. */
    platformClaim: ['OIDC_PLATFORM_CLAIM', text, 'platform'],
  });
  if (issuer !== null && audience === null)
    reader.mistakes.push(
      'OIDC_AUDIENCE is required with OIDC_ISSUER: whom the tokens must be meant for',
    );
  if (issuer === null && (audience !== null || claims.jwksUrl !== null))
    reader.mistakes.push('OIDC_ISSUER is required with OIDC_AUDIENCE and OIDC_JWKS_URL');
  return issuer === null || audience === null ? null : { issuer, audience, ...claims };
};
export type OidcConfig = NonNullable<ReturnType<typeof readOidc>>;

/** How people log in to the console at the issuer; null: no such login. */
const readConsoleLogin = (reader: Reader, oidc: OidcConfig | null) => {
  const { clientId, clientSecret } = reader.read({
    /** What the issuer knows the console as. */
    clientId: ['OIDC_CLIENT_ID', text],
    /** Null: a public client, protected by PKCE alone. */
    clientSecret: ['OIDC_CLIENT_SECRET', text],
  });
  if (oidc === null && (clientId !== null || clientSecret !== null))
    reader.mistakes.push('OIDC_ISSUER is required with OIDC_CLIENT_ID and OIDC_CLIENT_SECRET');
  return oidc === null || clientId === null ? null : { clientId, clientSecret };
};
export type ConsoleLogin = NonNullable<ReturnType<typeof readConsoleLogin>>;

/** Where alerts go besides the console. */
const readAlertChannels = (reader: Reader) => {
  const { webhookUrl, webhookSecret, smtpUrl, from, to } = reader.read({
    webhookUrl: ['ALERT_WEBHOOK_URL', url('http:', 'https:')],
    /** Signs what is posted there. */
    webhookSecret: ['ALERT_WEBHOOK_SECRET', text],
    /** With the name and the password of the server's user, when it has one. */
    smtpUrl: ['ALERT_SMTP_URL', url('smtp:', 'smtps:')],
    from: ['ALERT_EMAIL_FROM', text],
    /** Addresses, separated by commas. */
    to: ['ALERT_EMAIL_TO', text],
  });
  if ((webhookUrl === null) !== (webhookSecret === null))
    reader.mistakes.push('ALERT_WEBHOOK_URL and ALERT_WEBHOOK_SECRET are set together');
  if (new Set([smtpUrl, from, to].map((value) => value === null)).size > 1)
    reader.mistakes.push('ALERT_SMTP_URL, ALERT_EMAIL_FROM and ALERT_EMAIL_TO are set together');
  return {
    webhook:
      webhookUrl === null || webhookSecret === null
        ? null
        : { url: webhookUrl, secret: webhookSecret },
    mail: smtpUrl === null || from === null || to === null ? null : { smtpUrl, from, to },
  };
};
export type AlertChannels = ReturnType<typeof readAlertChannels>;

// The destination of traces: OpenTelemetry's standard variables, as far as they concern this
// service. The exporter itself reads the rest of its own (TLS, timeout, compression).

const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

/** `a=b,c=d` with percent-encoded values, as the standard has it. */
const pairs = v.pipe(
  text,
  v.rawTransform<string, Readonly<Record<string, string>>>(({ dataset, addIssue, NEVER }) => {
    const read: Record<string, string> = {};
    for (const pair of dataset.value.split(',').filter((part) => part.trim() !== '')) {
      const equals = pair.indexOf('=');
      const name = pair.slice(0, Math.max(equals, 0)).trim();
      try {
        if (name === '') throw new URIError();
        read[name] = decodeURIComponent(pair.slice(equals + 1).trim());
      } catch {
        // The values may be secrets: do not repeat them.
        addIssue({
          message: `must be name=value pairs with commas between them, values percent-encoded`,
        });
        return NEVER;
      }
    }
    return read;
  }),
);

const isPart = v.check((ratio: number) => ratio >= 0 && ratio <= 1, 'must be a number from 0 to 1');

/**
 * The sampled part of new traces, 0 to 1. The decision of another process of the service applies.
 */
const readRatio = (reader: Reader, sampler: string): number => {
  if (sampler.endsWith('always_off')) return 0;
  if (sampler.endsWith('always_on')) return 1;
  const ratio = v.pipe(text, v.transform(Number), isPart);
  return reader.read({ ratio: ['OTEL_TRACES_SAMPLER_ARG', ratio, '1'] }).ratio;
};

/** The destination of traces; null, the default: none. An endpoint turns them on. */
const readTracing = (reader: Reader) => {
  const read = reader.read({
    base: ['OTEL_EXPORTER_OTLP_ENDPOINT', url('http:', 'https:')],
    exact: ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', url('http:', 'https:')],
    disabled: ['OTEL_SDK_DISABLED', oneOf('true', 'false'), 'false'],
    exporter: ['OTEL_TRACES_EXPORTER', oneOf('otlp', 'none'), 'otlp'],
    commonHeaders: ['OTEL_EXPORTER_OTLP_HEADERS', pairs, ''],
    ownHeaders: ['OTEL_EXPORTER_OTLP_TRACES_HEADERS', pairs, ''],
    serviceName: ['OTEL_SERVICE_NAME', text, 'payment-service'],
    resource: ['OTEL_RESOURCE_ATTRIBUTES', pairs, ''],
    sampler: ['OTEL_TRACES_SAMPLER', oneOf(...samplers), 'parentbased_always_on'],
    delay_ms: ['OTEL_BSP_SCHEDULE_DELAY', integer(1, 600_000), '5000'],
  });
  const ratio = readRatio(reader, read.sampler);
  const address = read.exact ?? (read.base && `${read.base}/v1/traces`);
  if (address === null || read.disabled === 'true' || read.exporter === 'none') return null;
  const { serviceName, resource, delay_ms } = read;
  return {
    /** Where spans are posted to, by OTLP over HTTP in JSON. */
    url: address,
    /** Headers of the posts: they may hold a secret. */
    headers: { ...read.commonHeaders, ...read.ownHeaders },
    serviceName,
    /** Further attributes of where the spans come from. */
    resource,
    ratio,
    /** How long spans are batched before they are sent. */
    delay_ms,
  };
};
export type TracingConfig = NonNullable<ReturnType<typeof readTracing>>;

const readOwn = (reader: Reader) => {
  const { databasePassword, redisPassword, ...settings } = reader.read(serviceSettings);
  /** Where each subgraph that is not in this process listens. */
  const subgraphUrls = reader.read({
    payments: ['SUBGRAPH_PAYMENTS_URL', url('http:', 'https:')],
    payouts: ['SUBGRAPH_PAYOUTS_URL', url('http:', 'https:')],
    recurring: ['SUBGRAPH_RECURRING_URL', url('http:', 'https:')],
    merchants: ['SUBGRAPH_MERCHANTS_URL', url('http:', 'https:')],
  });
  const oidc = readOidc(reader);
  const embedded = settings.databaseUrl === null;
  const whole = embedded && Object.values(subgraphUrls).every((address) => address === null);
  return {
    ...settings,
    databaseUrl: withPassword(settings.databaseUrl, databasePassword),
    databaseDirectUrl: withPassword(settings.databaseDirectUrl, databasePassword),
    redisUrl: withPassword(settings.redisUrl, redisPassword),
    graphiql: settings.graphiql ?? whole,
    webhookPrivateTargets: settings.webhookPrivateTargets ?? (embedded ? 'development' : 'refuse'),
    subgraphUrls,
    /** The load that a public process accepts before it answers 503. */
    overload: reader.read({
      inFlight_max: ['OVERLOAD_IN_FLIGHT', integer(1, 1_000_000), '1000'],
      loopDelay_max_ms: ['OVERLOAD_DELAY_MS', integer(1, 60_000), '500'],
    }),
    /** Null: no issuer's tokens are accepted. */
    oidc,
    consoleLogin: readConsoleLogin(reader, oidc),
    alertChannels: readAlertChannels(reader),
    /** The destination of traces; null: no tracing. */
    tracing: readTracing(reader),
  };
};
export type Config = Readonly<ReturnType<typeof readOwn>>;

/**
 * Reads the configuration of the service, and the other settings of the same environment. Throws
 * one error that lists every mistake.
 */
export const readServiceConfig = <Extra extends object>(
  environment: Environment,
  readExtra: (reader: Reader) => Extra,
): Config & Extra => {
  const reader = new Reader(environment);
  const { mistakes } = reader;
  const config = readOwn(reader);
  const { databaseUrl, databaseDirectUrl, secretKey, operatorToken, metricsPort, port } = config;
  if (databaseUrl && !secretKey)
    mistakes.push('SECRET_KEY is required with DATABASE_URL: every process must have the same');
  if (databaseDirectUrl && !databaseUrl)
    mistakes.push('DATABASE_URL is required with DATABASE_DIRECT_URL');
  if (operatorToken !== null && operatorToken.length < 16)
    mistakes.push('OPERATOR_TOKEN must have at least 16 characters');
  if (metricsPort === port) mistakes.push('METRICS_PORT must not be PORT');
  const extra = readExtra(reader);
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  return { ...config, ...extra };
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

/** The configuration with what an embedded installation makes for itself. */
export interface SettledConfig extends Config {
  readonly publicUrl: string;
  readonly secrets: Secrets;
}

/**
 * Derives the working keys from the secret key (32 bytes), and from the next and previous ones
 * during a key change: the current one creates new values, any of them reads existing ones.
 */
export const deriveSecrets = (
  secretKey: Buffer,
  previous: Buffer | null = null,
  next: Buffer | null = null,
) => {
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
    /** Signs the principal header between processes: callers, and the edge. */
    principal: all('principal'),
    /** Signs the tokens in hosted page addresses. */
    page: all('page'),
    /** Seals the addresses of customers' pages. */
    customer: all('customer'),
    /** Encrypts secrets that must be read back. */
    vault: all('vault'),
    /** The previous vault key: texts sealed with it must be resealed. */
    formerVault: former,
    /** Seals the state of a login at the issuer, in a cookie. */
    console: all('console'),
    /** Makes fingerprints of card and account numbers for the block lists. */
    fingerprint: all('fingerprint'),
  };
};

/** The keys that the service works with, each for its one purpose. */
export type Secrets = Readonly<ReturnType<typeof deriveSecrets>>;
