/**
 * Two whole installations behind one address, as docs/operations.md describes cells: a real HAProxy on the
 * sample `cells.cfg` finds the cell of a call by its key's text, and that of a page by its host.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { Agent, getGlobalDispatcher, setGlobalDispatcher } from 'undici';
import { freePort } from '../support/free-port.ts';
import { digestOf } from '../../subgraphs/merchants/keys/rules.ts';
import { payByCard } from '../support/buyer.ts';
import { startTestDatabase } from '../support/database.ts';
import { askGraph, callRest, makeMerchant, type Merchant } from '../support/merchant.ts';
import { startService, type Service } from '../support/service.ts';
import { startHaproxy, type Haproxy } from './outside.ts';
import { eventually } from '../support/eventually.ts';

interface Cell {
  readonly name: string;
  /** Its PUBLIC_URL: a host of its own at the one address. */
  readonly url: string;
  readonly service: Service;
  readonly databaseUrl: string;
  readonly merchant: Merchant;
}

// The hosts of the sample are no names here: all of them are the one address.
const usual = getGlobalDispatcher();
const connect = {
  lookup: (_: string, __: object, found: any) => found(null, [{ address: '127.0.0.1', family: 4 }]),
};
setGlobalDispatcher(new Agent({ connect }));

const skip = process.env['HAPROXY'] ? false : 'haproxy is not installed';

describe('two cells behind one address', { skip }, () => {
  const stack = new AsyncDisposableStack();
  const maps = mkdtempSync(join(tmpdir(), 'payments-cells-'));
  const keyMap = join(maps, 'cell-keys.map');
  let cells: readonly [Cell, Cell];
  let haproxy: Haproxy;
  /** Where merchants call, whichever cell is theirs. */
  let api: string;

  const startCell = async (name: string, port: number): Promise<Cell> => {
    const database = await startTestDatabase({ migrated: true });
    stack.defer(() => database.stop());
    const url = `http://${name}.pay.example:${port}`;
    const service = await startService('one', {
      DATABASE_URL: database.url,
      SECRET_KEY: randomBytes(32).toString('base64'),
      PUBLIC_URL: url,
      TRUSTED_PROXIES: '127.0.0.1',
    });
    stack.defer(() => service.stop());
    return { name, url, service, databaseUrl: database.url, merchant: await makeMerchant(service) };
  };
  /** The lines of a cell's keys, as docs/operations.md has them from its database. */
  const linesOf = async ({ databaseUrl, name }: Cell): Promise<string> => {
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    const text = `select digest || ' ${name}' as line from api_key where revoked_at is null`;
    const { rows } = await client.query<{ line: string }>(text).finally(() => client.end());
    return rows.map(({ line }) => `${line}\n`).join('');
  };

  before(async () => {
    const port = await freePort();
    api = `http://api.pay.example:${port}`;
    cells = await Promise.all([startCell('cell-1', port), startCell('cell-2', port)]);
    const hosts = cells.map(({ name }) => `${name}.pay.example ${name}\n`).join('');
    writeFileSync(join(maps, 'cell-hosts.map'), hosts);
    writeFileSync(keyMap, (await Promise.all(cells.map(linesOf))).join(''));
    const addresses = new Map([
      ['bind *:8080', `bind 127.0.0.1:${port}`],
      ['/etc/haproxy', maps],
      ...cells.map(({ name, service }) => [`${name}:8080`, new URL(service.rest).host] as const),
    ]);
    haproxy = await startHaproxy(port, addresses, 'cells.cfg');
    await eventually(async () => (await haproxy.whoIsUp()).length === 2, 'both cells');
  });
  after(async () => {
    await haproxy?.stop();
    await stack.disposeAsync();
    rmSync(maps, { recursive: true, force: true });
    setGlobalDispatcher(usual);
  });

  const callOf = ({ merchant: { key } }: Cell, method: string, path: string, body?: object) =>
    callRest({ rest: api, key }, method, path, body);
  const isHere = ({ service, merchant: { key } }: Cell, path: string): Promise<boolean> =>
    callRest({ rest: service.rest, key }, 'GET', path).then(({ status }) => status === 200);

  test('a key finds its cell from its own text, for creates, reads and streams', async () => {
    for (const [index, cell] of cells.entries()) {
      const made = await callOf(cell, 'POST', '/payments', { amount: 1_000 });
      assert.equal(made.status, 201, JSON.stringify(made.body));
      const path = `/payments/${made.body.payment.id}`;
      assert.equal(await isHere(cell, path), true, `in ${cell.name}`);
      assert.equal((await callOf(cell, 'GET', path)).status, 200);
      const other = cells[index === 0 ? 1 : 0];
      assert.equal((await callOf(other, 'GET', path)).status, 404, 'not in the other one');
      assert.ok(made.body.payment_url.startsWith(cell.url), made.body.payment_url);
      const headers = { authorization: `Bearer ${cell.merchant.key}` };
      const stream = await fetch(`${api}/v1/public/events`, { headers });
      assert.equal(stream.status, 200);
      await stream.body?.cancel();
      const { id, shopId, key } = cell.merchant;
      const query = 'query ($m: ID!, $s: ID!) { shop(merchantId: $m, id: $s) { id } }';
      const asked = await askGraph({ graph: api }, query, { m: id, s: shopId }, key);
      assert.equal(asked.shop.id, shopId);
    }
  });

  test('the hosted page and a payment link find their cell by their own address', async () => {
    for (const cell of cells) {
      const { body } = await callOf(cell, 'POST', '/payments', { amount: 1_000, method: 'cards' });
      assert.equal((await fetch(body.payment_url)).status, 200);
      await payByCard(body.payment_url);
      const path = `/payments/${body.payment.id}`;
      const isPaid = async (): Promise<boolean> =>
        (await callOf(cell, 'GET', path)).body.status === 'succeeded';
      await eventually(isPaid, `a payment in ${cell.name}`);
      const link = (await callOf(cell, 'POST', '/links', { description: 'Tea', amount: 2_000 }))
        .body.link;
      assert.ok(link.url.startsWith(`${cell.url}/pay/l/`), link.url);
      assert.equal((await fetch(link.url)).status, 200);
      const pressed = await fetch(link.url, {
        method: 'POST',
        redirect: 'manual',
        body: new URLSearchParams(),
      });
      assert.equal(pressed.status, 303, await pressed.text());
      assert.equal(
        (await fetch(new URL(pressed.headers.get('location') ?? '', link.url))).status,
        200,
      );
      const elsewhere = link.url.replace(cell.url, cells.find((c) => c !== cell)?.url ?? '');
      assert.equal((await fetch(elsewhere)).status, 404);
    }
  });

  test('a new key of the second cell works as soon as its line is in the map', async () => {
    const [, cell] = cells;
    const { key } = await makeMerchant({ rest: cell.url, graph: cell.url });
    const read = () => callRest({ rest: api, key }, 'GET', '/balance');
    assert.equal((await read()).status, 401);
    await haproxy.command(`add map ${keyMap} ${digestOf(key)} ${cell.name}`);
    assert.equal((await read()).status, 200);
  });

  test('operators read both, each at its own host; what is inside is not served', async () => {
    const query = '{ merchants(first: 50) { nodes { id } } }';
    const found = await Promise.all(cells.map(({ url }) => askGraph({ graph: url }, query)));
    for (const [index, { merchant }] of cells.entries()) {
      const holders = found.map(({ merchants }) =>
        merchants.nodes.some((m: any) => m.id === merchant.id),
      );
      assert.deepEqual(holders, [index === 0, index === 1]);
    }
    for (const { url } of cells)
      for (const path of ['/metrics', '/readyz', '/%6detrics'])
        assert.equal((await fetch(`${url}${path}`)).status, 404);
  });

  test('the loss of one cell is felt by its merchants alone', async () => {
    const [first, second] = cells;
    await second.service.stop();
    await eventually(async () => (await haproxy.whoIsUp()).length === 1, 'the loss');
    assert.equal((await callOf(second, 'GET', '/balance')).status, 503);
    assert.equal((await callOf(first, 'POST', '/payments', { amount: 1_000 })).status, 201);
  });
});
