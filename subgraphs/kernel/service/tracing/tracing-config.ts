/**
 * Where traces go: OpenTelemetry's standard variables, as far as they concern this
 * service. The rest of the exporter's own (TLS, timeout, compression) it reads itself.
 */

import type { Reader } from '../config/read-variables.ts';

export interface TracingConfig {
  /** Where spans are posted to, by OTLP over HTTP in JSON. */
  readonly url: string;
  /** Headers of the posts: they may hold a secret. */
  readonly headers: Readonly<Record<string, string>>;
  readonly serviceName: string;
  /** Further attributes of where the spans come from. */
  readonly resource: Readonly<Record<string, string>>;
  /**
   * The part of new traces that is kept, 0 to 1. What another process of the service decided is
   * followed.
   */
  readonly ratio: number;
  /** How long spans are gathered before they are sent. */
  readonly gather_ms: number;
}

/** `a=b,c=d` with percent-encoded values, as the standard has it. */
const readPairs = (read: Reader, name: string): Readonly<Record<string, string>> => {
  const pairs: Record<string, string> = {};
  for (const pair of (read.text(name) ?? '').split(',').filter((part) => part.trim() !== '')) {
    const [key, value] = [
      pair.slice(0, pair.indexOf('=')).trim(),
      pair.slice(pair.indexOf('=') + 1).trim(),
    ];
    try {
      if (key === '') throw new URIError();
      pairs[key] = decodeURIComponent(value);
    } catch {
      // The values may be secrets: they are not repeated.
      read.mistakes.push(
        `${name} must be name=value pairs with commas between them, values percent-encoded`,
      );
      return {};
    }
  }
  return pairs;
};

const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

const readRatio = (read: Reader): number => {
  const sampler = read.oneOf('OTEL_TRACES_SAMPLER', samplers, 'parentbased_always_on');
  if (sampler.endsWith('always_off')) return 0;
  if (sampler.endsWith('always_on')) return 1;
  const ratio = Number(read.text('OTEL_TRACES_SAMPLER_ARG') ?? '1');
  if (ratio >= 0 && ratio <= 1) return ratio;
  read.mistakes.push('OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1');
  return 1;
};

/** Where traces go; null, which is the default: nowhere. An endpoint turns them on. */
export const readTracing = (read: Reader): TracingConfig | null => {
  const base = read.url('OTEL_EXPORTER_OTLP_ENDPOINT', ['http:', 'https:']);
  const exact = read.url('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', ['http:', 'https:']);
  const disabled = read.oneOf('OTEL_SDK_DISABLED', ['true', 'false'], 'false') === 'true';
  const exporter = read.oneOf('OTEL_TRACES_EXPORTER', ['otlp', 'none'], 'otlp');
  const url = exact ?? (base && `${base}/v1/traces`);
  const config = {
    headers: {
      ...readPairs(read, 'OTEL_EXPORTER_OTLP_HEADERS'),
      ...readPairs(read, 'OTEL_EXPORTER_OTLP_TRACES_HEADERS'),
    },
    serviceName: read.text('OTEL_SERVICE_NAME') ?? 'payment-service',
    resource: readPairs(read, 'OTEL_RESOURCE_ATTRIBUTES'),
    ratio: readRatio(read),
    gather_ms: read.integer('OTEL_BSP_SCHEDULE_DELAY', 5_000, 1, 600_000),
  };
  return url === null || disabled || exporter === 'none' ? null : { url, ...config };
};
