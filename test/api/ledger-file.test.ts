import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { GraphQLError } from 'graphql';
import { openSmallEdge, type SmallEdge } from './small-edge.ts';
import { eventually } from '../support/eventually.ts';

interface Asked {
  readonly first: number;
  readonly after: string | null;
}

const header = 'id,type,amount,currency,description,payment_id,payout_id,created_at\r\n';

/** What the ledger answers next. */
let next: (asked: Asked) => unknown;
let asked: Asked[] = [];
let edge: SmallEdge;
before(async () => {
  edge = await openSmallEdge({
    'Query.ledgerFile': (args) => {
      const { first, after: cursor } = { first: 0, after: null, ...args };
      asked.push({ first, after: cursor });
      return next({ first, after: cursor });
    },
  });
});
after(() => edge.close());

const part = (text: string, endCursor: string | null) => ({
  text,
  rows: 1,
  pageInfo: { hasNextPage: endCursor !== null, endCursor },
});

const ask = (query = '', method = 'GET'): Promise<Response> => {
  asked = [];
  return fetch(`${edge.url}/v1/public/ledger?format=csv${query}`, {
    method,
    headers: { authorization: 'Bearer test' },
  });
};

describe('the ledger as a file', () => {
  test('has a header row and the lines of every part', async () => {
    next = ({ after: cursor }) =>
      cursor === 'two' ? part('second\r\n', null) : part('first\r\n', 'two');
    const response = await ask();
    assert.match(response.headers.get('content-type') ?? '', /^text\/csv/);
    assert.equal(await response.text(), `${header}first\r\nsecond\r\n`);
    assert.deepEqual(asked, [
      { first: 2_500, after: null },
      { first: 2_500, after: 'two' },
    ]);
  });

  test('ends with the page when limit is given', async () => {
    next = () => part('first\r\n', 'two');
    assert.equal(await (await ask('&limit=1')).text(), `${header}first\r\n`);
    assert.deepEqual(asked, [{ first: 1, after: null }]);
  });

  test('is an envelope when the first part is refused', async () => {
    next = () => {
      throw new GraphQLError('the cursor is damaged', { extensions: { code: 'bad_request' } });
    };
    assert.equal((await ask('&cursor=x')).status, 400);
  });

  test('breaks off when a later part fails, so that a part is not taken for the whole', async () => {
    next = ({ after: cursor }) => {
      if (cursor !== null) throw new Error('lost');
      return part('first\r\n', 'two');
    };
    await assert.rejects(ask().then((response) => response.text()));
  });

  test('is not read for a HEAD request', async () => {
    next = () => part('first\r\n', 'two');
    const response = await ask('', 'HEAD');
    assert.deepEqual(
      [response.status, response.headers.get('content-type')],
      [200, 'text/csv; charset=utf-8; header=present'],
    );
    assert.equal(asked.length, 1);
  });
});

describe('a client that reads slower than the ledger is written', () => {
  const parts = 400;
  const megabyte = 'x'.repeat(1_000_000);
  const open = async (): Promise<IncomingMessage> => {
    asked = [];
    next = ({ after: cursor }) =>
      part(megabyte, Number(cursor) + 1 < parts ? String(Number(cursor) + 1) : null);
    const [response] = (await once(
      get(`${edge.url}/v1/public/ledger?format=csv`, { headers: { authorization: 'Bearer test' } }),
      'response',
    )) as [IncomingMessage];
    return response;
  };

  /** How many parts have been read once no more are. */
  const untilStill = async (): Promise<number> => {
    let seen = -1;
    let since = 0;
    await eventually(() => {
      since = asked.length === seen ? since + 1 : 0;
      seen = asked.length;
      return since >= 6;
    }, 'a standstill');
    return seen;
  };

  test('is not read ahead for: what the sockets hold, and two parts', async () => {
    const response = await open();
    const held = await untilStill();
    assert.ok(
      held >= 2 && held < 40,
      `${held} of ${parts} parts were read for a client that reads nothing`,
    );
    let bytes = 0;
    for await (const chunk of response) bytes += Buffer.byteLength(chunk as Buffer);
    assert.equal(bytes, header.length + parts * megabyte.length);
    assert.equal(asked.length, parts);
  });

  test('and hangs up in the middle ends the reading', async () => {
    const response = await open();
    response.once('data', () => response.destroy());
    response.on('error', () => {});
    await once(response, 'close');
    const read = await untilStill();
    assert.ok(read < 40, `${read} of ${parts} parts were read for a client that is gone`);
  });
});
