/** A list that is longer than an answer may be is refused, and not read to its end. */
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { parse } from 'graphql';
import { scopes, type KeyPrincipal } from '../../subgraphs/platform/access/principal.ts';
import { openGraphHarness } from './harness.ts';
import { plant } from './planted-rows.ts';

const tokens = 4_000;
const refunds = 45_000;

let harness: Awaited<ReturnType<typeof openGraphHarness>>;
let principal: KeyPrincipal;
let paymentId: string;

/** Copies the merchant's row of a table so many times. */
const copy = (merchantId: string, table: string, count: number): Promise<unknown> =>
  harness.database.pool.query(
    `insert into ${table} select changed.* from ${table} as original, generate_series(1, $2) as copy(number),
       lateral jsonb_populate_record(original, jsonb_build_object('id', md5('${table}' || copy.number)::uuid)) as changed
     where original.merchant_id = $1`,
    [merchantId, count],
  );

before(async () => {
  harness = await openGraphHarness();
  const plot = await plant(harness.database.pool, 'long', {
    merchant: randomUUID(),
    shop: randomUUID(),
  });
  const merchantId = plot.id('merchant');
  principal = {
    kind: 'key',
    keyId: '00000000-0000-4000-8000-00000000000a',
    merchantId,
    shopId: plot.id('shop'),
    mode: 'test',
    scopes,
  };
  paymentId = plot.id('payment');
  await copy(merchantId, 'token', tokens - 1);
  await copy(merchantId, 'subscription', tokens - 1);
  await copy(merchantId, 'refund', refunds - 1);
});
after(() => harness?.close());

const ask = async (query: string) => {
  const { counted, supergraph } = harness;
  const before_rows = counted.rows;
  const { data, errors } = await supergraph.execute(
    { document: parse(query), variables: {} },
    { principal, requestId: 'r', isInLane: true },
  );
  return {
    data,
    codes: errors?.map(({ extensions }) => extensions['code']),
    read: counted.rows - before_rows,
  };
};

describe('a list that is longer than an answer may be', () => {
  const wide = 'id customerRef status method createdAt shop { name }';
  for (const list of ['tokens', 'billingSubscriptions']) {
    test(`of ${list} is refused`, async () => {
      const { codes } = await ask(`{ ${list} { ${wide} } }`);
      assert.deepEqual(codes, ['query_too_complex']);
    });

    test(`of ${list} is whole where few of its fields are asked for`, async () => {
      const { data, codes } = await ask(`{ list: ${list} { id } }`);
      assert.equal(codes, undefined);
      const whole: unknown = data?.['list'];
      assert.equal(Array.isArray(whole) && whole.length, tokens);
    });
  }

  test('of a payment’s refunds is read as far as the answer has room, and refused', async (t) => {
    const { codes, read } = await ask(`{ payment(id: "${paymentId}") { refunds { id } } }`);
    t.diagnostic(`${read} rows`);
    assert.deepEqual(codes, ['query_too_complex']);
    assert.ok(read > 1_000 && read < refunds, `${read} rows were read`);
  });
});
