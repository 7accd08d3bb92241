/**
 * What tracing costs: the same service on the same database, with no traces, with all of them, and
 * with one of a hundred, in the same rounds.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createRequest } from '../payment-requests.ts';
import { connections, measureBoth, type Bench } from '../plan.ts';
import { comparisonRows, type Row } from '../report.ts';
import { serverSubject } from '../subject.ts';
import { busyMerchant, startBeside, type Fixture } from '../fixture.ts';

/** A collector that takes everything and keeps nothing. */
const openSink = async (stack: AsyncDisposableStack): Promise<string> => {
  const server = createServer(
    (request, response) => void request.resume().once('end', () => response.end('{}')),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stack.defer(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
};

/** Creating payments, traced and not. */
export const traceRows = async (fixture: Fixture, bench: Bench): Promise<readonly Row[]> => {
  await using stack = new AsyncDisposableStack();
  const collector = await openSink(stack);
  const start = (settings: Readonly<Record<string, string>>) =>
    startBeside(fixture, { OTEL_EXPORTER_OTLP_ENDPOINT: collector, ...settings }, stack);
  const subjectOf = async (name: string, service: Fixture['service']) => {
    const { key } = await busyMerchant(service);
    return serverSubject(
      { name, ...service, requests: [createRequest(key)], postgres: fixture.postgres },
      bench.load,
    );
  };
  const off = await subjectOf('no traces', fixture.service);
  const all = await subjectOf('every trace', await start({}));
  const few = await subjectOf(
    'one trace of a hundred',
    await start({
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.01',
    }),
  );
  const { many, one } = await measureBoth([off, all, few], bench, 'tracing');
  return [
    ...comparisonRows(
      { what: 'create, every call traced', subject: all, baseline: off, aim: null },
      many,
      one,
      connections,
    ),
    ...comparisonRows(
      { what: 'create, one call of a hundred traced', subject: few, baseline: off, aim: null },
      many,
      one,
      connections,
    ),
  ];
};
