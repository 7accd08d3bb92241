/**
 * Tracing by OpenTelemetry: spans are batched and posted to a collector by OTLP over HTTP. Loaded
 * only where traces have a destination.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import {
  diag,
  DiagLogLevel,
  ROOT_CONTEXT,
  SpanKind as Kind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Context,
  type SpanContext,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { holdsCardNumber, maskCardNumbers } from '../../rules/card.ts';
import type { Logger, Span, SpanKind, SpanValues, Tracing } from './telemetry.ts';
import type { TracingConfig } from '../config/config.ts';

const kinds: Readonly<Record<SpanKind, Kind>> = {
  server: Kind.SERVER,
  internal: Kind.INTERNAL,
  client: Kind.CLIENT,
  producer: Kind.PRODUCER,
  consumer: Kind.CONSUMER,
};

const zeros = /^0+$/;

/** The span that a `traceparent` names; null when it names none. */
const readTraceparent = (text: string): SpanContext | null => {
  const [, traceId = '', spanId = '', flags = ''] =
    /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(text) ?? [];
  if (traceId === '' || zeros.test(traceId) || zeros.test(spanId)) return null;
  return {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16) & TraceFlags.SAMPLED,
    isRemote: true,
  };
};

/** External ids enter our traces as a link, unless they could be a card number. */
const readStrangers = (text: string): SpanContext | null => {
  const named = readTraceparent(text);
  const couldBeCard = (id: string): boolean => /^\d+$/.test(id) || holdsCardNumber(id);
  return named && (couldBeCard(named.traceId) || couldBeCard(named.spanId)) ? null : named;
};

/** Spans hold nothing that a caller wrote; should one, it has no card number. */
const maskedValues = (values: SpanValues = {}): SpanValues =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      typeof value === 'string' ? maskCardNumbers(value) : value,
    ]),
  );

const writeTraceparent = ({ traceId, spanId, traceFlags }: SpanContext): string =>
  `00-${traceId}-${spanId}-0${traceFlags & TraceFlags.SAMPLED}`;

const openProvider = (
  { url, headers, serviceName, resource, ratio, delay_ms }: TracingConfig,
  role: string,
): TracerProvider =>
  new TracerProvider({
    resource: resourceFromAttributes({
      'service.instance.id': randomUUID(),
      ...resource,
      'service.name': serviceName,
      'psp.role': role,
    }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: new OTLPTraceExporter({ url, headers: { ...headers } }),
        scheduledDelayMillis: delay_ms,
      }),
    ],
  });

/** How long an ending process waits for the delivery of its last spans. */
const closePatience_ms = 3_000;

/**
 * Opens tracing; `role` is the part of the service this process is. An unavailable collector costs
 * the spans and a line in the log, nothing else. The tracer is our own and not OpenTelemetry's
 * global one, so that no package adds its own spans with callers' texts.
 */
export const openTracing = (config: TracingConfig, role: string, log: Logger): Tracing => {
  const logFailure = (message: string): void =>
    log.warn({ why: message.slice(0, 300) }, 'the collector did not accept spans');
  const silent = (): void => {};
  diag.setLogger(
    { error: logFailure, warn: silent, info: silent, debug: silent, verbose: silent },
    DiagLogLevel.ERROR,
  );
  const provider = openProvider(config, role);
  const tracer = provider.getTracer('payment-service');
  const current = new AsyncLocalStorage<Span>();
  /** What spans below a span begin in. */
  const contexts = new WeakMap<Span, Context>();
  const contextOf = (below: Span | string | null): Context => {
    if (below === null) return ROOT_CONTEXT;
    if (typeof below !== 'string') return contexts.get(below) ?? ROOT_CONTEXT;
    const named = readTraceparent(below);
    return named ? trace.setSpanContext(ROOT_CONTEXT, named) : ROOT_CONTEXT;
  };
  return {
    begin: ({ kind, name, values }, { below, beside }) => {
      const context = contextOf(below);
      const named = beside === undefined ? null : readStrangers(beside);
      const begun = tracer.startSpan(
        name,
        {
          kind: kinds[kind],
          attributes: { ...maskedValues(values) },
          ...(named ? { links: [{ context: named }] } : {}),
        },
        context,
      );
      const ids = begun.spanContext();
      const span: Span = {
        traceId: ids.traceId,
        traceparent: writeTraceparent(ids),
        isKept: (ids.traceFlags & TraceFlags.SAMPLED) !== 0,
        note: (attributes) => void begun.setAttributes({ ...maskedValues(attributes) }),
        fail: (why) =>
          void begun
            .setStatus({ code: SpanStatusCode.ERROR })
            .setAttribute('error.type', maskCardNumbers(why)),
        end: () => {
          if (begun.isRecording()) begun.end();
        },
      };
      contexts.set(span, trace.setSpan(context, begun));
      return span;
    },
    within: (span, work) => current.run(span, work),
    current: () => current.getStore() ?? null,
    close: async () => {
      await provider.forceFlush({ timeoutMillis: closePatience_ms }).catch(() => {});
      await Promise.race([
        provider.shutdown().catch(() => {}),
        new Promise((resolve) => setTimeout(resolve, closePatience_ms).unref()),
      ]);
    },
  };
};
