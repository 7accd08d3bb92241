/**
 * Webhooks to loopback, as an installation decides by itself: a developer's may, one that others
 * reach or that is live may not.
 */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { askGraph, makeMerchant } from '../support/merchant.ts';
import { startOwn, type ServiceInUse } from '../support/plain-service.ts';
import {
  isLocalAddress,
  openDevelopmentTargets,
} from '../../subgraphs/merchants/webhooks/webhook-target.ts';
import { readConfig } from '../../subgraphs/read-config.ts';
import { startReceiver } from './receiver.ts';
import { comesTo, eventually } from '../support/eventually.ts';

test('only http on loopback is a developer’s address', () => {
  for (const url of [
    'http://127.0.0.1:4000',
    'http://localhost',
    'http://127.8.9.10',
    'http://[::1]:4000',
  ])
    assert.equal(isLocalAddress(url), true, url);
  for (const url of [
    'https://localhost',
    'http://pay.example',
    'http://10.0.0.1:4000',
    'http://localhost.example',
    'http://127.0.0.1.example',
    'http://0.0.0.0',
  ]) {
    assert.equal(isLocalAddress(url), false, url);
  }
});

test('an installation on a database of its own is a developer’s unless it says otherwise, a fleet is not', () => {
  assert.equal(readConfig({}).webhookPrivateTargets, 'development');
  assert.equal(readConfig({ WEBHOOK_PRIVATE_TARGETS: 'allow' }).webhookPrivateTargets, 'allow');
  const fleet = {
    DATABASE_URL: 'postgres://db/payments',
    SECRET_KEY: randomBytes(32).toString('base64'),
  };
  assert.equal(readConfig(fleet).webhookPrivateTargets, 'refuse');
});

test('an installation that others reach allows loopback by its switch alone', async () => {
  const never = () => assert.fail('nothing is asked');
  const deps = { database: { fork: never }, bus: { subscribe: never } };
  for (const setting of ['allow', 'refuse', 'development'] as const) {
    const given = { ...deps, setting, publicUrl: 'https://pay.example' };
    assert.equal((await openDevelopmentTargets(given)).areAllowed(), setting === 'allow', setting);
  }
});

describe('an installation', () => {
  /** Whether an endpoint on loopback is taken. */
  const isTaken = async (service: ServiceInUse): Promise<boolean> => {
    const merchant = await makeMerchant(service);
    return merchant.endpoint('http://127.0.0.1:9/hook').then(
      () => true,
      (refused: unknown) => (assert.match(String(refused), /must be an https URL/), false),
    );
  };

  test('that is a developer’s refuses it from the moment when a merchant is live, and allows it when none is any more', async (context) => {
    const service = await startOwn({ WEBHOOK_PRIVATE_TARGETS: 'development' });
    try {
      const receiver = await startReceiver(context, (response) => response.end());
      const merchant = await makeMerchant(service);
      await merchant.endpoint(receiver.url);
      const cancel = async (): Promise<void> => {
        const { body } = await merchant.call('POST', '/payments', { amount: 100 });
        await merchant.call('POST', `/payments/${body.payment.id}/cancel`);
      };
      const attempts = async (): Promise<(string | null)[]> => {
        const query =
          'query ($m: ID!) { webhookDeliveries(merchantId: $m) { nodes { attemptLog { fault } } } }';
        const { webhookDeliveries } = await askGraph(service, query, { m: merchant.id });
        return webhookDeliveries.nodes.flatMap(({ attemptLog }: any) =>
          attemptLog.map(({ fault }: any) => fault),
        );
      };
      await cancel();
      await eventually(async () => (await attempts()).length === 1, 'the first delivery');
      assert.deepEqual(await attempts(), [null]);
      const { merchantCreate: other } = await askGraph(
        service,
        'mutation { merchantCreate(name: "Live") { id } }',
      );
      const live = (verb: 'Enable' | 'Disable') =>
        askGraph(
          service,
          `mutation ($m: ID!) { merchantLive${verb}(merchantId: $m) { ... on Merchant { id } ... on Refused { code } } }`,
          { m: other.id },
        );
      await live('Enable');
      await comesTo(false, () => isTaken(service));
      await cancel();
      await eventually(
        async () => (await attempts()).includes('target_forbidden'),
        'an attempt that was refused',
      );
      await live('Disable');
      await comesTo(true, () => isTaken(service));
    } finally {
      await service.stop();
    }
  });
});
