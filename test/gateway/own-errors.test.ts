/**
 * What goes wrong is logged once, where it was made, with its cause and the request's id: in the
 * gateway, or in a subgraph of another process.
 */
import { after, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { fastify } from 'fastify';
import { parse, type ExecutionResult } from 'graphql';
import { pino } from 'pino';
import { remoteExecutor } from '../../gateway/remote-subgraph.ts';
import { openSupergraph } from '../../gateway/supergraph.ts';
import { serveSubgraph, subgraphPath } from '../../subgraphs/platform/graph/serve-subgraph.ts';
import type { SubgraphExecutor } from '../../subgraphs/platform/graph/subgraph.ts';
import { localExecutor } from '../../subgraphs/platform/graph/local-executor.ts';
import { generatedExecutors } from './generated-subgraphs.ts';
import { key, lines as subgraphLines, log as subgraphLog, schema } from './merchants-subgraph.ts';

const supergraphSdl = readFileSync(
  join(import.meta.dirname, '../../schema/supergraph.graphql'),
  'utf8',
);
const call = { principal: key, requestId: 'req-of-the-test', isInLane: true };

/** A log whose lines can be read. */
const openLines = () => {
  const lines: string[] = [];
  const sink = new Writable({
    write: (chunk, _encoding, next) => {
      lines.push(String(chunk));
      next();
    },
  });
  return { lines, log: pino({ level: 'warn' }, sink) };
};

/** A payments subgraph that answers whatever it is asked with this. */
const answering = (data: unknown): SubgraphExecutor => ({
  prepare: () => async () => JSON.parse(JSON.stringify({ data })) as ExecutionResult,
});

describe('an error of the gateway’s own making is logged with its cause', () => {
  const text = '{ payment(id: "p") { id merchant { id name } shop { id name } } }';
  const payment = {
    __typename: 'Payment',
    merchantId: 'm',
    id: 'p',
    merchant: { __typename: 'Merchant', id: 'm' },
    shop: { __typename: 'Shop', merchantId: 'm', id: 's' },
  };

  test('on the stock executor, and when the document is compiled', async () => {
    const { lines, log } = openLines();
    const executors = {
      ...generatedExecutors({ seed: 1, faults: 0 }),
      payments: answering({ payment }),
      merchants: answering({ _entities: 'no list' }),
    };
    const supergraph = await openSupergraph({ supergraphSdl, executors, log });
    const document = parse(text);
    for (const run of ['stock', 'seen', 'compiled']) {
      lines.length = 0;
      const { errors } = await supergraph.execute({ document, variables: {} }, call);
      assert(errors && errors.length > 0);
      const own = lines.filter((line) => line.includes('the gateway could not answer'));
      assert.equal(own.length, errors.length, `${run}: ${lines.join('')}`);
      for (const line of own)
        assert.match(line, /Expected .{0,2}data\._entities.*"requestId":"req-of-the-test"/);
    }
  });

  test('and so is that of a named operation, as REST runs it', async () => {
    const { lines, log } = openLines();
    const executors = {
      ...generatedExecutors({ seed: 1, faults: 0 }),
      merchants: answering({ rates: 'no list' }),
    };
    const supergraph = await openSupergraph({ supergraphSdl, executors, log });
    const { errors } = await supergraph.operation('ListRates').run({}, call);
    assert.equal(errors?.length, 1);
    assert.match(
      lines.join(''),
      /a subgraph gave no list for field Query\.rates.*"requestId":"req-of-the-test"/,
    );
  });

  test('and what was meant for the client is not', async () => {
    const { lines, log } = openLines();
    const supergraph = await openSupergraph({
      supergraphSdl,
      executors: generatedExecutors({ seed: 1, faults: 0 }),
      log,
    });
    const { errors } = await supergraph.execute(
      {
        document: parse('query ($n: Int!) { payments(first: $n) { nodes { id } } }'),
        variables: { n: 'x' },
      },
      call,
    );
    assert.equal(errors?.length, 1);
    assert.deepEqual(lines, []);
  });
});

describe('an error of a subgraph in another process', () => {
  const keys = { shared: randomBytes(32), service: null };
  const app = fastify();
  serveSubgraph(app, {
    name: 'merchants',
    executor: localExecutor(
      schema,
      (asked) => ({ ...asked, now: () => Temporal.Instant.fromEpochMilliseconds(0) }),
      subgraphLog,
    ),
    keys,
    log: subgraphLog,
  });
  after(() => app.close());

  test('is logged there with its cause, and not once more here', async (t) => {
    const { lines, log } = openLines();
    const address = await app.listen({ host: '127.0.0.1', port: 0 });
    const merchants = remoteExecutor(address + subgraphPath('merchants'), keys, log);
    t.after(() => merchants.close());
    const supergraph = await openSupergraph({
      supergraphSdl,
      executors: { ...generatedExecutors({ seed: 1, faults: 0 }), merchants },
      log,
    });
    subgraphLines.length = 0;
    const { errors } = await supergraph.execute(
      { document: parse('{ rates { rateBps } }'), variables: {} },
      call,
    );
    assert.deepEqual(
      errors?.map(({ message }) => message),
      ['internal error'],
    );
    assert.match(
      subgraphLines.join(''),
      /password=hunter2 at 10\.0\.0\.1.*"requestId":"req-of-the-test"/,
    );
    assert.deepEqual(lines, []);
  });
});
