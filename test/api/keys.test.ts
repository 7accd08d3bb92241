import { after, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { issueKey, revokeKey, send } from '../support/cabinet.ts';
import { askGraph, makeMerchant } from '../support/merchant.ts';
import { openPlainService } from '../support/plain-service.ts';
import type { Service } from '../support/service.ts';
import { comesTo, eventually } from '../support/eventually.ts';

const service = await openPlainService();
after(() => service.stop());

const statusOf = async (rest: string, key: string): Promise<number> =>
  (await send({ url: `${rest}/v1/public/banks/sbp`, key })).status;

interface ListedKey {
  readonly id: string;
  readonly prefix: string;
  readonly mode: string;
  readonly scopes: readonly string[];
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
  readonly revokedAt: string | null;
}

/** The keys of the merchant's first shop, in pages of `first`. */
const listKeys = async (
  at: Pick<Service, 'graph'>,
  merchantId: string,
  first = 50,
): Promise<ListedKey[]> => {
  const keys: ListedKey[] = [];
  for (let after: string | null = null, more = true; more;) {
    const query = `query ($m: ID!, $first: Int!, $after: String) { merchant(id: $m) { shops { apiKeys(first: $first, after: $after) {
      nodes { id prefix mode scopes createdAt lastUsedAt revokedAt } pageInfo { hasNextPage endCursor } } } } }`;
    const answer: any = await askGraph(at, query, { m: merchantId, first, after });
    const page = answer.merchant.shops[0].apiKeys;
    keys.push(...page.nodes);
    after = page.pageInfo.endCursor;
    more = page.pageInfo.hasNextPage;
  }
  return keys;
};

describe('a shop’s keys', () => {
  test('are many, each with its mode and scopes, and are listed newest first without their secrets', async () => {
    const merchant = await makeMerchant(service);
    const narrow = await issueKey(service, merchant, 'test', ['api:balance:read']);
    const live = await issueKey(service, merchant, 'live');
    assert.match(live.secret, /^sk_live_[A-Za-z0-9]{6}_[A-Za-z0-9]{32}$/);
    assert.deepEqual(
      await Promise.all([merchant.key, narrow.secret].map((key) => statusOf(service.rest, key))),
      [200, 200],
    );
    for (const pageSize of [1, 2, 50]) {
      const listed = await listKeys(service, merchant.id, pageSize);
      assert.deepEqual(
        listed.map(({ id, mode, prefix, revokedAt }) => [id, mode, prefix, revokedAt]).slice(0, 2),
        [
          [live.id, 'live', live.secret.slice(0, 14), null],
          [narrow.id, 'test', narrow.secret.slice(0, 14), null],
        ],
        `in pages of ${pageSize}`,
      );
      assert.equal(listed.length, 3);
      assert.deepEqual(listed[1]?.scopes, ['api:balance:read']);
      assert(!JSON.stringify(listed).includes(narrow.secret.slice(15)));
    }
  });

  test('are not for keys to read or to change', async () => {
    const merchant = await makeMerchant(service);
    const read = askGraph(
      service,
      'query ($m: ID!) { merchant(id: $m) { shops { apiKeys { nodes { id } } } } }',
      { m: merchant.id },
      merchant.key,
    );
    await assert.rejects(read, /scope_required/);
    const revoke =
      'mutation ($m: ID!, $k: ID!) { apiKeyRevoke(merchantId: $m, apiKeyId: $k) { __typename } }';
    await assert.rejects(
      askGraph(service, revoke, { m: merchant.id, k: merchant.id }, merchant.key),
      /not for API keys/,
    );
    const note = 'mutation ($m: ID!) { apiKeyUseNote(used: [{ merchantId: $m, keyId: $m }]) }';
    for (const bearer of [merchant.key, undefined])
      await assert.rejects(
        askGraph(service, note, { m: merchant.id }, bearer),
        /Cannot query field/,
      );
  });

  test('wrong scopes are refused, and no key is made', async () => {
    const merchant = await makeMerchant(service);
    await assert.rejects(
      issueKey(service, merchant, 'test', ['api:everything']),
      /bad_request: scopes: expected some of api:reports:read/,
    );
    assert.equal((await listKeys(service, merchant.id)).length, 1);
  });
});

describe('a revoked key', () => {
  test('is 401 at once, and the shop’s others work on', async () => {
    const merchant = await makeMerchant(service);
    const other = await issueKey(service, merchant);
    assert.equal(await statusOf(service.rest, other.secret), 200);
    const revoked = await revokeKey(service, merchant, other.id);
    assert.match(revoked.revokedAt, /Z$/);
    await comesTo(401, () => statusOf(service.rest, other.secret));
    assert.equal(await statusOf(service.rest, merchant.key), 200);
    const again = await revokeKey(service, merchant, other.id);
    assert.equal(again.revokedAt, revoked.revokedAt, 'revoking again changed the moment');
    const [listed] = await listKeys(service, merchant.id);
    assert.deepEqual([listed?.id, listed?.revokedAt], [other.id, revoked.revokedAt]);
  });

  test('stands in the audit log, from its issue to its end, without its secret', async () => {
    const merchant = await makeMerchant(service);
    const key = await issueKey(service, merchant);
    await revokeKey(service, merchant, key.id);
    const query =
      'query ($m: ID!) { auditLog(merchantId: $m) { nodes { action actor subjectId before after } } }';
    const { auditLog } = await askGraph(service, query, { m: merchant.id });
    const about = auditLog.nodes.filter(
      ({ subjectId }: { subjectId: string }) => subjectId === key.id,
    );
    assert.deepEqual(
      about.map(({ action, actor }: { action: string; actor: string }) => [action, actor]),
      [
        ['api_key.revoke', 'operator-token'],
        ['api_key.issue', 'operator-token'],
      ],
    );
    assert.deepEqual(
      [about[0].before.revokedAt, typeof about[0].after.revokedAt],
      [null, 'string'],
    );
    assert(!JSON.stringify(auditLog).includes(key.secret.slice(15)));
  });

  test('that is none, or another merchant’s, is not found', async () => {
    const merchant = await makeMerchant(service);
    const key = await issueKey(service, merchant);
    const other = await makeMerchant(service);
    for (const id of ['8c5e0c9a-2f5d-4f67-9a51-3a9b1c7f6e11', 'none'])
      assert.equal((await revokeKey(service, merchant, id)).code, 'not_found');
    assert.equal((await revokeKey(service, other, key.id)).code, 'not_found');
    assert.equal(await statusOf(service.rest, key.secret), 200);
  });
});

test('a live key is 403 live_not_enabled until live mode is on', async () => {
  const merchant = await makeMerchant(service);
  const live = await issueKey(service, merchant, 'live');
  const ask = () => send({ url: `${service.rest}/v1/public/balance`, key: live.secret });
  assert.deepEqual([(await ask()).status, (await ask()).code], [403, 'live_not_enabled']);
  const viaGraph = await send({
    url: `${service.graph}/graphql?query={__typename}`,
    key: live.secret,
    headers: { 'apollo-require-preflight': '1' },
  });
  assert.deepEqual([viaGraph.status, viaGraph.code], [403, 'live_not_enabled']);
});

test('a key’s last use is kept, a few seconds later', async () => {
  const merchant = await makeMerchant(service);
  const unused = await issueKey(service, merchant);
  const before = Date.now() - 1;
  assert.equal(await statusOf(service.rest, merchant.key), 200);
  const lastUsedAt = await eventually(async () => {
    const [newest, used] = await listKeys(service, merchant.id);
    assert.deepEqual([newest?.id, newest?.lastUsedAt], [unused.id, null]);
    return used?.lastUsedAt;
  }, 'the last use');
  const used_ms = Date.parse(lastUsedAt);
  assert(used_ms >= before && used_ms <= Date.now(), lastUsedAt);
});
