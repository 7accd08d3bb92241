/**
 * Logs, metrics, request ids, traces, and the buffer of rows that only people look at. Every response
 * carries a request id, in logs too.
 */
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
import { outsideOfLane } from '../access/lane.ts';

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

// Traces: what one call did, through every part of the service. The other parts know only this file
// of tracing. Without an endpoint nothing is opened, and this code costs a comparison.
// Spans hold names from the program's own text, ids, numbers and statuses: never a caller's text,
// never an error's message. Inside a process the current span follows the call; between ours it
// travels as `traceparent` (W3C Trace Context). It is not sent to merchants' receivers or to
// acquirers.

export type SpanKind = 'server' | 'internal' | 'client' | 'producer' | 'consumer';

export type SpanValues = Readonly<Record<string, string | number | boolean>>;

export interface SpanStart {
  readonly kind: SpanKind;
  /** One of few: without ids. */
  readonly name: string;
  readonly values?: SpanValues;
}

/** Where a span belongs. */
interface SpanPlace {
  /** The parent span, here or, by its `traceparent`, elsewhere; null: it begins a trace. */
  readonly below: Span | string | null;
  /** Another span that it has to do with, as its `traceparent`; what is none is left out. */
  readonly beside?: string | undefined;
}

export interface Span {
  readonly traceId: string;
  /** How the span is named to other processes. */
  readonly traceparent: string;
  /** Whether it is sampled. */
  readonly isKept: boolean;
  note(values: SpanValues): void;
  /** Marks it as failed; `why` is the program's own word, such as an error's class or code. */
  fail(why: string): void;
  /** Ends it; one call is enough. */
  end(): void;
}

export interface Tracing {
  begin(start: SpanStart, place: SpanPlace): Span;
  /** Runs `work` with the span as the current one, for all that it begins. */
  within<Result>(span: Span, work: () => Result): Result;
  current(): Span | null;
  /** Sends what is left, for a few seconds at most. */
  close(): Promise<void>;
}

let open: Tracing | null = null;

/** Traces from now on by `tracing`, or stops: one for a process, set before it serves. */
export const traceBy = (tracing: Tracing | null): void => void (open = tracing);

/** What traces this process; null when nothing does. */
export const tracing = (): Tracing | null => open;

/** The span that the call is in; null outside of a trace. */
export const currentSpan = (): Span | null => open?.current() ?? null;

const carried = async <Result>(
  by: Tracing,
  span: Span,
  work: (span: Span) => Promise<Result>,
): Promise<Result> => {
  try {
    return await by.within(span, () => work(span));
  } catch (error) {
    span.fail(error instanceof Error ? error.name : 'thrown');
    throw error;
  } finally {
    span.end();
  }
};

/**
 * Runs `work` in a child of the current span; outside of a sampled trace, just runs it. A rejection
 * marks the span as failed.
 */
export const spanned = <Result>(
  start: SpanStart,
  work: (span: Span | null) => Promise<Result>,
): Promise<Result> => {
  const above = open?.current();
  return open && above?.isKept
    ? carried(open, open.begin(start, { below: above }), work)
    : work(null);
};

/**
 * Runs `work` in a span of the trace that a `traceparent` names: that of a payment, whatever
 * queries it now. The previously current span is linked to it. Without a `traceparent`, or when it
 * is the current trace anyway, this is `spanned`.
 */
export const continued = <Result>(
  traceparent: string | null | undefined,
  start: SpanStart,
  work: (span: Span | null) => Promise<Result>,
): Promise<Result> => {
  const now = open?.current();
  if (!open || !traceparent || (now && traceparent.includes(now.traceId)))
    return spanned(start, work);
  return carried(open, open.begin(start, { below: traceparent, beside: now?.traceparent }), work);
};

// Writes what no call waits for, such as the log of requests: items gather in this process and are
// written in batches about once a second. What a killed process has gathered is lost, and a batch
// that cannot be written is dropped: people only look at these items, and no money depends on them.

/** Items wait so long. */
const flush_ms = 1_000;
/** Items that wait while they cannot be written; further ones are dropped. */
const waiting_max = 10_000;

interface BufferDeps<Item> {
  /** Items of a batch. */
  readonly batch_max: number;
  readonly write: (batch: readonly Item[]) => Promise<unknown>;
  /** Counts what is lost, with the reason where there is one. */
  readonly drop: (items: number, error?: unknown) => void;
}

export const openBuffer = <Item>({ batch_max, write, drop }: BufferDeps<Item>) => {
  const waiting: Item[] = [];
  let timer: NodeJS.Timeout | null = null;
  let writing: Promise<void> = Promise.resolve();

  const writeAll = async (): Promise<void> => {
    while (waiting.length > 0) {
      const batch = waiting.splice(0, batch_max);
      await write(batch).catch((error: unknown) => drop(batch.length, error));
    }
  };
  const flush = (): Promise<void> => {
    timer = null;
    writing = writing.then(writeAll);
    return writing;
  };
  return {
    /** Takes an item; it never waits and never fails. */
    add: (item: Item): void => {
      if (waiting.length >= waiting_max) return drop(1);
      waiting.push(item);
      timer ??= setTimeout(() => void outsideOfLane(flush), flush_ms).unref();
    },
    /** Writes what has gathered. */
    close: (): Promise<void> => {
      if (timer) clearTimeout(timer);
      return flush();
    },
  };
};

export type Buffer<Item> = ReturnType<typeof openBuffer<Item>>;
