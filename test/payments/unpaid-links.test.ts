/** A link whose payments wait for their buyers in large numbers. */
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import type pg from 'pg';
import { unpaid_max } from '../../subgraphs/payments/links/pay-link.ts';
import { newRowId } from '../../subgraphs/platform/database/statement.ts';
import { linkKeyIn, pay } from '../support/buyer.ts';
import { openPool } from '../support/database.ts';
import { makeMerchant } from '../support/merchant.ts';
import { openPlainService, type ServiceInUse } from '../support/plain-service.ts';

let service: ServiceInUse;
let pool: pg.Pool;
before(async () => {
  service = await openPlainService();
  pool = openPool(service.databaseUrl, 2);
});
after(async () => {
  await pool?.end();
  await service?.stop();
});

/** The page of a payment that a buyer begins at a link, where the form has this key or none. */
const goOn = async (url: string, amount: string, key?: string): Promise<string> => {
  const form = { amount, ...(key === undefined ? {} : { idempotency_key: key }) };
  const answer = await fetch(url, {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams(form),
  });
  assert.equal(answer.status, 303, await answer.text());
  return new URL(answer.headers.get('location') ?? '', url).href;
};

test('a link has so many unpaid payments of an amount; beyond that a buyer gets the oldest page', async () => {
  const merchant = await makeMerchant(service);
  const made = await merchant.call('POST', '/links', { uses: null, method: 'sbp' });
  const { url } = made.body.link;
  const own = linkKeyIn(await (await fetch(url)).text());
  const first = await goOn(url, '5.00');
  // As many as may wait, but for one, each made a moment after the first.
  const like = (table: string, changed: string): string =>
    `insert into ${table} select (jsonb_populate_record(${table}, jsonb_build_object(${changed}))).*
      from ${table}, made where ${table}.merchant_id = $1`;
  await pool.query(
    `with made as materialized (select id, n + 1 as n from unnest($2::uuid[]) with ordinality as each (id, n)),
      noted as (${like('link_payment', `'payment_id', made.id`)})
      ${like('payment', `'id', made.id, 'public_id', 'P-0' || n`)}`,
    [merchant.id, Array.from({ length: unpaid_max - 2 }, () => newRowId())],
  );
  const count = async (): Promise<number> =>
    (await pool.query('select 1 from link_payment where merchant_id = $1', [merchant.id])).rows
      .length;
  const mine = await goOn(url, '5.00', own);
  assert.notEqual(mine, first, 'one more may be made');
  assert.equal(await count(), unpaid_max);
  const crowd = await Promise.all(Array.from({ length: 5 }, () => goOn(url, '5.00')));
  assert.deepEqual(new Set(crowd), new Set([first]));
  assert.equal(await goOn(url, '5.00', own), mine, 'a form has its own payment');
  assert.notEqual(await goOn(url, '6.00'), first, 'another amount is another page');
  assert.equal(await count(), unpaid_max + 1);
  await pay(first);
  assert.notEqual(
    await goOn(url, '5.00'),
    first,
    'a payment that one buyer has begun is not given to another',
  );
  assert.equal(await count(), unpaid_max + 2);
});
