/**
 * The destination of traces: OpenTelemetry's standard variables, as far as they concern this
 * service. The exporter itself reads the rest of its own (TLS, timeout, compression).
 */
import { check, pipe, rawTransform, transform } from 'valibot';
import { integer, oneOf, text, url, type Reader } from './read-variables.ts';

const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

/** `a=b,c=d` with percent-encoded values, as the standard has it. */
const pairs = pipe(
  text,
  rawTransform<string, Readonly<Record<string, string>>>(({ dataset, addIssue, NEVER }) => {
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

const isPart = check((ratio: number) => ratio >= 0 && ratio <= 1, 'must be a number from 0 to 1');

/**
 * The sampled part of new traces, 0 to 1. The decision of another process of the service applies.
 */
const readRatio = (reader: Reader, sampler: string): number => {
  if (sampler.endsWith('always_off')) return 0;
  if (sampler.endsWith('always_on')) return 1;
  const ratio = pipe(text, transform(Number), isPart);
  return reader.read({ ratio: ['OTEL_TRACES_SAMPLER_ARG', ratio, '1'] }).ratio;
};

/** The destination of traces; null, the default: none. An endpoint turns them on. */
export const readTracing = (reader: Reader) => {
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
