/** Logs, metrics and request ids. Every response carries a request id, in logs too. */
import { chmodSync, existsSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { type LevelWithSilent, type Logger, pino, stdSerializers } from 'pino';
import {
  collectDefaultMetrics,
  Counter,
  Gauge,
  Histogram,
  Registry,
  type GaugeConfiguration,
} from 'prom-client';
import {
  holdsCardNumber,
  maskCardNumbers,
  maskedDeeply,
  mayHoldCardNumber,
} from '../../rules/card.ts';
import { currentSpan } from './tracing.ts';

export type { Logger } from 'pino';

/** Paths that must never be logged, wherever they appear. */
const redacted = [
  'authorization',
  'cookie',
  'x-psp-signature',
  'secret',
  'cardPan',
  'card_pan',
  'card',
  'cvc',
  'number',
  'token',
];

/**
 * PostgreSQL's details of a refused row hold the row; the driver stores them next to the message.
 */
const ofRows = ['detail', 'where', 'hint', 'internalQuery', 'query', 'parameters'];

const errorWithoutRows = (thrown: unknown): unknown => {
  if (!(thrown instanceof Error)) return thrown;
  const fields = Object.entries(stdSerializers.err(thrown)).filter(
    ([name]) => !ofRows.includes(name),
  );
  return Object.fromEntries(fields);
};

const masked = (line: string): string => {
  try {
    return `${JSON.stringify(maskedDeeply(JSON.parse(line)))}\n`;
  } catch {
    return maskCardNumbers(line);
  }
};

/** A line of the log without card numbers: an error's message may repeat a merchant's free text. */
const maskLine = (line: string): string => (mayHoldCardNumber(line) ? masked(line) : line);

/**
 * A JSON logger with redaction. `role` names the part of the service; a line written within a trace
 * has its `traceId`. Everything goes to `file` when present, and warnings and worse to stderr too;
 * else everything goes to stdout.
 */
export const openLog = (
  config: { readonly logLevel: LevelWithSilent },
  role: string,
  file: string | null = null,
): Logger => {
  const level = config.logLevel;
  const options = {
    level,
    base: { role },
    serializers: { err: errorWithoutRows, error: errorWithoutRows },
    hooks: { streamWrite: maskLine },
    mixin: () => {
      const span = currentSpan();
      return span ? { traceId: span.traceId } : {};
    },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: {
      paths: redacted.flatMap((name) => [`["${name}"]`, `*["${name}"]`, `*.*["${name}"]`]),
      censor: '[redacted]',
    },
  };
  if (file === null || level === 'silent') return pino(options);
  // No other user of the machine can read the log.
  if (existsSync(file)) chmodSync(file, 0o600);
  const toFile = pino.destination({ dest: file, mkdir: true, sync: true, mode: 0o600 });
  return pino(
    options,
    pino.multistream([
      { level, stream: toFile },
      { level: 'warn', stream: process.stderr },
    ]),
  );
};

/** The metrics of one process, in Prometheus' text format at `/metrics`. */
export const metrics = new Registry();
collectDefaultMetrics({ register: metrics });

/** Adds gauges that each scrape reads by their `collect`; returns a function that removes them. */
export const watchGauges = (...gauges: readonly GaugeConfiguration<string>[]): (() => void) => {
  for (const gauge of gauges) metrics.registerMetric(new Gauge({ ...gauge, registers: [] }));
  return () => gauges.forEach(({ name }) => metrics.removeSingleMetric(name));
};

export const httpRequests = new Histogram({
  name: 'http_request_duration_seconds',
  help: 'Duration of HTTP requests by route and status.',
  labelNames: ['route', 'method', 'status'],
  buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  registers: [metrics],
});

export const webhookAttempts = new Counter({
  name: 'webhook_attempts_total',
  help: 'Webhook delivery attempts by result.',
  labelNames: ['result'],
  registers: [metrics],
});

export const jobRuns = new Counter({
  name: 'job_runs_total',
  help: 'Job runs by name and outcome.',
  labelNames: ['job', 'outcome'],
  registers: [metrics],
});

export const jobDuration = new Histogram({
  name: 'job_duration_seconds',
  help: 'Duration of job runs by name.',
  labelNames: ['job'],
  buckets: [0.001, 0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 60],
  registers: [metrics],
});

export const bankCalls = new Histogram({
  name: 'bank_call_duration_seconds',
  help: 'Duration of calls to acquirers by connector, call and outcome: the kind of answer, or threw.',
  labelNames: ['connector', 'call', 'answer'],
  buckets: [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20],
  registers: [metrics],
});

export const internalErrors = new Counter({
  name: 'internal_errors_total',
  help: 'GraphQL calls that a subgraph failed to answer; their HTTP status may be 200.',
  registers: [metrics],
});

export const liveSubscribers = new Gauge({
  name: 'live_subscribers',
  help: 'Open live subscriptions (graphql-ws and SSE).',
  registers: [metrics],
});

const sane = /^[A-Za-z0-9._:-]{1,128}$/;

/** The caller's request id when it is a sane token and could be no card number, else a new one. */
export const requestIdOf = (header: string | string[] | undefined): string =>
  typeof header === 'string' && sane.test(header) && !holdsCardNumber(header)
    ? header
    : randomUUID();
