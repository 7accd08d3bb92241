/** `psp doctor`: what it finds right, and what it says is wrong. */
import { after, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { askGraph, makeMerchant, openReceiver } from '../support/merchant.ts';
import { openPlainService } from '../support/plain-service.ts';
import { operatorToken } from '../support/service.ts';
import { openPsp } from './run-psp.ts';
import { eventually } from '../support/eventually.ts';
import { setClock } from '../support/test-clock.ts';

const service = await openPlainService();
after(() => service.stop());

interface Finding {
  readonly what: string;
  readonly ok: boolean;
  readonly says: string;
}

/** A shop, and the terminals of a developer who has its key. */
const openShop = async () => {
  const shop = await makeMerchant(service);
  const open = (variables: Readonly<Record<string, string>>) => {
    const psp = openPsp({ PSP_URL: service.rest, PSP_API_KEY: shop.key, ...variables });
    after(psp.remove);
    return psp;
  };
  /** What the doctor finds where these variables are set. */
  const examine = async (variables: Readonly<Record<string, string>>, ...args: string[]) => {
    const { code, out } = await open(variables).run(['doctor', '--json', ...args]);
    const lines = out.trim().split('\n');
    const findings = lines.map((line): Finding => JSON.parse(line));
    const wrong = findings.filter(({ ok }) => !ok);
    assert.equal(code, wrong.length > 0 ? 1 : 0);
    const says = (what: string) => findings.find((one) => one.what === what)?.says ?? '';
    return { names: findings.map(({ what }) => what), wrong, says };
  };
  return { shop, psp: open({}), examine };
};

describe('psp doctor', { concurrency: true }, () => {
  test('checks the key, the clock, the signature and the log', async () => {
    const { shop, examine } = await openShop();
    await shop.call('POST', '/payments', { amount: 100 });
    const { names, wrong, says } = await examine({});
    const reached = ['service', 'version', 'clock', 'key', 'signature'];
    assert.deepEqual([names, wrong], [[...reached, 'ids', 'event log', 'webhooks', 'routes'], []]);
    assert.equal(says('ids'), `merchant ${shop.id}, shop ${shop.shopId}`);
    const signed = await examine({ PSP_SIGNING_SECRET: 'thm_another' });
    assert.deepEqual(signed.names, reached);
    assert.match(signed.wrong[0]?.says ?? '', /^PSP_SIGNING_SECRET is not the shop's/);
    const unknown = await examine({ PSP_API_KEY: 'sk_test_aaaaaa_nothing' });
    assert.match(unknown.wrong[0]?.says ?? '', /psp login/);
  });

  test('says which endpoint fails, and that calls found no acquirer', async (t) => {
    const { shop, psp, examine } = await openShop();
    const [good, bad] = [await openReceiver(), await openReceiver(() => 503)];
    t.after(() => Promise.all([good.close(), bad.close()]));
    await shop.endpoint(good.url, ['payment_cancelled']);
    await shop.endpoint(bad.url, ['payment_cancelled']);
    await psp.json('trigger', 'payment.cancelled');
    await shop.call('POST', '/payments', { amount: 100, method: 'sbp', currency: 'USD' });
    const [endpoint, routes] = await eventually(async () => {
      const { wrong } = await examine({});
      return wrong.length > 1 && wrong;
    }, 'what is wrong');
    assert.deepEqual([endpoint?.what, routes?.what], ['webhooks', 'routes']);
    assert.match(
      endpoint?.says ?? '',
      new RegExp(`^${bad.url} did not take 1 of the last 1: .* 503 `),
    );
    assert.match(routes?.says ?? '', /^1 refused .*method_unsupported/);
  });

  test('says that nothing continues while the test clock of the shop is frozen', async (t) => {
    const { shop, psp, examine } = await openShop();
    const at = '2027-03-01T12:00:00.000Z';
    await setClock(service, shop, 'Create', `, at: "${at}"`);
    const { wrong } = await examine({});
    assert.deepEqual([wrong.length, wrong[0]?.what], [1, 'test clock']);
    assert.match(wrong[0]?.says ?? '', new RegExp(`frozen at ${at}`));
    const triggering = psp.start('trigger', 'payment.succeeded');
    t.after(() => triggering.kill('SIGKILL'));
    let said = '';
    triggering.stderr?.on('data', (part) => (said += String(part)));
    await eventually(() => said.includes(`frozen at ${at}`), 'the remark');
  });

  test('says what a shop has still to do before it goes live', async () => {
    const { shop, psp, examine } = await openShop();
    const left = async () => (await examine({}, '--live')).wrong.map(({ what }) => what);
    const others = ['payment.succeeded', 'payment.refunded', 'delivered webhooks'];
    assert.deepEqual(
      (await left()).toSorted(),
      ['payment.failed', 'shop', 'live routes', ...others].toSorted(),
    );
    await shop.call('POST', '/payments', { amount: 100 });
    await psp.json('trigger', 'payment.failed');
    assert.deepEqual(await left(), [...others, 'signed requests', 'live mode', 'live routes']);
    const enable = 'mutation ($m: ID!) { merchantLiveEnable(merchantId: $m) { __typename } }';
    await askGraph(service, enable, { m: shop.id });
    assert.ok(!(await left()).includes('live mode'));
  });

  test('names the routes of live mode to a person alone', async () => {
    const { shop, examine } = await openShop();
    await shop.call('POST', '/payments', { amount: 100 });
    const routes = async (token: string) => {
      const { wrong, says } = await examine({ PSP_OPERATOR_TOKEN: token }, '--live');
      return [!wrong.some(({ what }) => what === 'live routes'), says('live routes')] as const;
    };
    const [taken, why] = await routes('nothing');
    assert.deepEqual([taken, why.startsWith('the routes: ')], [false, true], why);
    assert.deepEqual(await routes(operatorToken), [
      false,
      'no acquirer takes payments: ask the operator',
    ]);
    const route = `mutation ($m: ID!, $s: ID!) { bankRouteSet(merchantId: $m, shopId: $s,
      operation: payment, method: sbp, connector: "somebank") { __typename } }`;
    await askGraph(service, route, { m: shop.id, s: shop.shopId });
    assert.deepEqual(await routes(operatorToken), [true, 'payment by sbp']);
  });
});
