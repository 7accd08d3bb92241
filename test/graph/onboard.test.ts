/** Onboarding: a merchant that can be tried at once, and the audit log narrowed to one thing. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { parse } from 'graphql';
import type { Principal, Role } from '../../subgraphs/platform/access/principal.ts';
import { openGraphHarness } from './harness.ts';

let harness: Awaited<ReturnType<typeof openGraphHarness>>;
before(async () => void (harness = await openGraphHarness()));
after(() => harness?.close());

const person = (role: Role, merchantId: string | null = null): Principal => ({
  kind: 'operator',
  subject: `the ${role}`,
  role,
  merchantId,
});

const ask = async (text: string, principal: Principal, variables: object = {}): Promise<any> => {
  const { data, errors } = await harness.supergraph.execute(
    { document: parse(text), variables: { ...variables } },
    { principal, requestId: 'request-1', isInLane: true },
  );
  return errors ? errors[0]?.extensions['code'] : JSON.parse(JSON.stringify(data));
};

const onboard = `mutation ($name: String!, $url: String) { made: merchantOnboard(name: $name, shopName: "Tea", webhookUrl: $url) {
  ... on MerchantOnboarded { merchant { id liveEnabled } shop { id name merchantId webhookEndpoints { url } } apiKey { secret } endpoint { endpoint { id } secret } }
  ... on Refused { code } } }`;
const auditLog = `query ($merchantId: ID, $subjectId: String, $since: DateTime, $until: DateTime) {
  log: auditLog(merchantId: $merchantId, subjectId: $subjectId, since: $since, until: $until) { nodes { action actor requestId subjectId } } }`;

const merchants = async (): Promise<number> => {
  const { rows } = await harness.database.pool.query('select count(*)::int from merchant');
  return rows[0].count;
};

test('an admin of the platform onboards a merchant with a shop, a test key and an endpoint, audited', async () => {
  const url = 'https://shop.example/hook';
  const { made } = await ask(onboard, person('admin'), { name: 'Tea house', url });
  assert.equal(made.merchant.liveEnabled, false);
  assert.deepEqual(made.shop.webhookEndpoints, [{ url }]);
  assert.match(made.apiKey.secret, /^sk_test_/);
  assert.match(made.endpoint.secret, /^whs_/);
  const merchantId: string = made.merchant.id;
  const { log } = await ask(auditLog, person('admin'), { merchantId });
  assert.deepEqual(
    log.nodes.map((node: any) => [node.action, node.actor, node.requestId]).toReversed(),
    ['merchant.create', 'shop.create', 'api_key.issue', 'webhook_endpoint.create'].map((action) => [
      action,
      'the admin',
      'request-1',
    ]),
  );

  const ofShop = await ask(auditLog, person('admin'), { merchantId, subjectId: made.shop.id });
  assert.deepEqual(
    ofShop.log.nodes.map((node: any) => node.action),
    ['shop.create'],
  );
  const until = Temporal.Now.instant().subtract({ hours: 1 }).toString();
  const early = await ask(auditLog, person('admin'), { merchantId, until });
  assert.deepEqual(early.log.nodes, []);
  const late = await ask(auditLog, person('admin'), { merchantId, since: until });
  assert.equal(late.log.nodes.length, 4);
  assert.equal(await ask(auditLog, person('admin'), { subjectId: made.shop.id }), 'bad_request');
  const other = person('admin', randomUUID());
  assert.equal(await ask(auditLog, other, { merchantId, subjectId: made.shop.id }), 'not_found');
});

test('without an address there is no endpoint; what is refused makes nothing', async () => {
  const { made } = await ask(onboard, person('admin'), { name: 'Cakes' });
  assert.equal(made.endpoint, null);
  const before = await merchants();
  for (const wrong of [{ name: '' }, { name: 'Cakes', url: 'no address' }])
    assert.equal((await ask(onboard, person('admin'), wrong)).made.code, 'bad_request');
  assert.equal(await ask(onboard, person('finance'), { name: 'Cakes' }), 'forbidden');
  assert.equal(await ask(onboard, person('admin', made.merchant.id), { name: 'C' }), 'forbidden');
  assert.equal(await merchants(), before);
});
