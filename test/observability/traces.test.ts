/** Traces as a collector gets them, and the logs of the same scenario. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { noRedis } from '../support/redis.ts';
import { startService, type Service, type Size } from '../support/service.ts';
import { startCollector, type CollectedSpan, type Collector } from './collector.ts';
import { live, type Lived } from './scenario.ts';
import { eventually } from '../support/eventually.ts';
import { size } from '../support/size.ts';

const ofCaller = '4bf92f3577b34da6a3ce929d0e0e4736';

/**
 * What must be in the trace of a payment, from the call that makes it to its webhook; the rest of a
 * life may be beside it.
 */
const stations = [
  'POST /v1/public/payments',
  'operation CreatePayment',
  'subgraph paymentCreate',
  'sql payments/create-payment',
  'open session',
  'bank openSession',
  'sql acquirers/simulator/confirm-operations',
  'ask bank',
  'sql payments/store-payment',
  'webhook',
];

for (const topology of size<readonly Size[]>(['one'], ['one', 'separate'])) {
  describe(
    `a scenario on ${topology === 'one' ? 'one process' : 'separate processes'}`,
    { skip: topology === 'separate' && noRedis },
    () => {
      const dataDir = mkdtempSync(join(tmpdir(), 'payments-traced-'));
      let collector: Collector;
      let service: Service | undefined;
      let printed = '';
      let lived: Lived;
      let spans: readonly CollectedSpan[];
      before(async () => {
        collector = await startCollector();
        const settings = {
          OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
          OTEL_BSP_SCHEDULE_DELAY: '200',
          OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
        };
        const started = (service = await startService(topology, {
          ...settings,
          LOG_LEVEL: 'debug',
          DATA_DIR: dataDir,
        }));
        lived = await live(started, `00-${ofCaller}-00f067aa0ba902b7-01`);
        await eventually(
          () => collector.spans().filter(({ name }) => name === 'webhook').length >= 3,
          'the spans of the webhooks',
        );
        await started.stop();
        spans = collector.spans();
        const outputs = started.processes.map(({ output }) => output()).join('\n');
        printed = topology === 'one' ? readFileSync(join(dataDir, 'service.log'), 'utf8') : outputs;
      });
      after(async () => {
        await service?.stop();
        await collector.close();
        rmSync(dataDir, { recursive: true, force: true });
      });

      /** The traces of calls that made something. */
      const traceOf = (made: string): readonly CollectedSpan[] => {
        const starts = spans.filter(
          ({ name, values }) =>
            name === made && String(values.get('http.response.status_code')) === '201',
        );
        const traces = new Set(starts.map(({ traceId }) => traceId));
        return spans.filter(({ traceId }) => traces.has(traceId));
      };

      test("a payment and its webhook are one trace, begun by us beside the caller's own, whole, and told by the parts that did it", async () => {
        assert.deepEqual([...collector.paths], ['POST /v1/traces']);
        const trace = traceOf('POST /v1/public/payments');
        assert.equal(new Set(trace.map(({ traceId }) => traceId)).size, 1);
        const names = trace.map(({ name }) => name);
        assert.deepEqual(
          stations.filter((name) => !names.includes(name)),
          [],
          names.join(', '),
        );
        const known = new Set(trace.map(({ spanId }) => spanId));
        const first = trace.filter(({ parentSpanId }) => !known.has(parentSpanId));
        assert.deepEqual(
          first.map(({ name, parentSpanId, links }) => [name, parentSpanId, links]),
          [['POST /v1/public/payments', '', [ofCaller]]],
        );
        const roles = new Set(trace.map(({ role }) => role));
        for (const role of topology === 'one'
          ? ['all']
          : ['rest-facade', 'subgraph payments', 'worker'])
          assert.ok(roles.has(role), role);
        assert.equal(
          names.filter((name) => name === 'webhook').length,
          2,
          'that it is paid, and that some of it was given back',
        );
      });

      test('a trace is stored before a worker can see the row that it belongs to', () => {
        const makes = ['sql payments/create-payment', 'sql payout.open', 'sql refund.open'];
        const traces = [...Map.groupBy(spans, ({ traceId }) => traceId).values()];
        for (const made of makes) {
          const makers = traces
            .map((trace) => trace.map(({ name }) => name))
            .filter((names) => names.includes(made));
          assert.ok(makers.length > 0, made);
          for (const names of makers)
            assert.ok(
              names.slice(0, names.indexOf(made)).includes('sql subject_trace.insert'),
              `${made} in ${names.join(', ')}`,
            );
        }
      });

      test('a payout continues in its trace when a worker sends it, and so does its webhook', () => {
        const trace = traceOf('POST /v1/public/payouts');
        const names = trace.map(({ name }) => name);
        for (const name of ['subgraph payoutCreate', 'send payout', 'bank pay', 'webhook'])
          assert.ok(names.includes(name), `${name} in ${names.join(', ')}`);
        assert.equal(new Set(trace.map(({ traceId }) => traceId)).size, 3, 'three payouts');
      });

      test('a refund has its trace, and the bank is called in it', () => {
        const names = traceOf('POST /v1/public/payments/:id/refund').map(({ name }) => name);
        for (const name of [
          'subgraph refundCreate',
          'sql refund.open',
          'send refund',
          'bank refund',
        ])
          assert.ok(names.includes(name), `${name} in ${names.join(', ')}`);
      });

      test('nothing of cards, people or secrets is in the spans, and nothing of traces in the webhooks', () => {
        const text = collector.raw();
        assert.ok(text.length > 10_000);
        for (const [what, secret] of Object.entries(lived.secrets))
          assert.ok(!text.includes(secret), `${what} is in a span`);
        assert.ok(lived.webhookHeaders.includes('x-psp-event-id'));
        assert.ok(!lived.webhookHeaders.includes('traceparent'));
      });

      test("each line of the logs is JSON, those of a call have its request and trace ids, and none has a secret or anybody's data", () => {
        const lines = printed.split('\n').filter((line) => line.startsWith('{'));
        const entries: readonly Record<string, unknown>[] = lines.map((line) => JSON.parse(line));
        const requests = entries.filter(({ msg }) => msg === 'request');
        assert.ok(requests.length > 10, `saw only ${requests.length} requests`);
        const traces = new Set(spans.map(({ traceId }) => traceId));
        const received = requests.filter(
          ({ route, requestId }) =>
            typeof requestId === 'string' && String(route).startsWith('/v1/public/pa'),
        );
        assert.ok(received.length >= 6, `saw only ${received.length} calls`);
        for (const { traceId } of received)
          assert.ok(traces.has(String(traceId)), `the trace ${String(traceId)}`);
        for (const [what, secret] of Object.entries(lived.secrets))
          assert.ok(!printed.includes(secret), `${what} is in the logs`);
      });
    },
  );
}
