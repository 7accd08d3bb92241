import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { clientOf } from '../../subgraphs/platform/database/orm-connections.ts';
import { access } from '../../subgraphs/platform/access/access.ts';
import { changeEntities, type AuditedAction } from '../../subgraphs/platform/database/audit.ts';
import {
  cabinetUser,
  keyOf,
  makeFixture,
  openCabinet,
  operator,
  requestId,
  type Cabinet,
} from './cabinet.ts';
import { documentOf, examples, operatorMutations } from './examples.ts';

let cabinet: Cabinet;
before(async () => void (cabinet = await openCabinet()));
after(() => cabinet.close());

const entries = async (): Promise<readonly Record<string, unknown>[]> =>
  (await cabinet.harness.pool.query('select * from audit_entry order by at, id')).rows;
const isPlatforms = (name: string): boolean => access[`Mutation.${name}`]?.platform === true;

/**
 * What kept the call from being made: the code of an error or of a refusal; null when nothing did.
 */
const obstacleTo = async (
  name: string,
  document: string,
  principal: Parameters<Cabinet['run']>[2],
): Promise<unknown> => {
  const { data, errors } = await cabinet.run(document, {}, principal);
  if (errors) return errors[0]?.extensions['code'];
  const answer: any = data?.[name];
  return answer.__typename === 'Refused' ? answer.code : null;
};

/** What a person keeps for itself: test/cabinet/saved-views.test.ts. */
const isOwn = (name: string): boolean => name.startsWith('savedView');

/** What does several things leaves an entry of each. */
const entriesOf: Readonly<Record<string, number>> = { merchantOnboard: 4 };

describe('every mutation of the cabinet', () => {
  test('has an example here', () => {
    const names = operatorMutations(cabinet);
    assert.ok(names.length >= 20, `saw only ${names.length}`);
    assert.deepEqual(Object.keys(examples).toSorted(), names.toSorted());
  });

  test('leaves an audit entry that says who did what to what, without secrets', async () => {
    for (const name of operatorMutations(cabinet)) {
      const fixture = await makeFixture(cabinet);
      const document = await documentOf(cabinet, name, fixture);
      const before = await entries();
      assert.equal(await obstacleTo(name, document, operator()), null, name);
      const fresh = (await entries()).slice(before.length);
      assert.equal(fresh.length, entriesOf[name] ?? 1, `${name} left ${fresh.length} entries`);
      for (const entry of fresh) {
        assert.deepEqual(
          { actor: entry['actor'], role: entry['role'], request: entry['request_id'] },
          { actor: 'person-1', role: 'admin', request: requestId },
        );
        assert.match(String(entry['action']), /^[a-z_]+\.[a-z_]+$/);
        assert.ok(entry['subject_kind'] && entry['subject_id'], name);
        assert.ok(
          entry['before'] !== null || entry['after'] !== null,
          `${name} says nothing of what changed`,
        );
        if (!isPlatforms(name) && !isOwn(name))
          assert.equal(entry['merchant_id'], fixture.merchantId, name);
      }
    }
    assert.doesNotMatch(
      JSON.stringify(await entries()),
      /(whs|thm)_\w{8}|sk_(test|live)_\w{6}_|v1\.[0-9a-f]{8}\.|[0-9a-f]{64}/,
    );
  });

  test("is for the merchant's own cabinet or the platform's operators alone, and one that is refused leaves no entry", async () => {
    const [fixture, other] = [await makeFixture(cabinet), await makeFixture(cabinet)];
    for (const name of operatorMutations(cabinet).filter((mutation) => !isOwn(mutation))) {
      const document = await documentOf(cabinet, name, fixture);
      const before = await entries();
      assert.equal(
        await obstacleTo(name, document, cabinetUser(other.merchantId)),
        isPlatforms(name) ? 'forbidden' : 'not_found',
        name,
      );
      assert.equal(
        await obstacleTo(name, document, cabinetUser(fixture.merchantId, 'viewer')),
        'forbidden',
        name,
      );
      assert.equal(await obstacleTo(name, document, operator('viewer')), 'forbidden', name);
      assert.equal(await obstacleTo(name, document, keyOf(fixture)), 'scope_required', name);
      assert.equal((await entries()).length, before.length);
    }
  });

  test("is open to the merchant's own admin, save what is the platform's", async () => {
    for (const name of operatorMutations(cabinet).filter((mutation) => !isOwn(mutation))) {
      const fixture = await makeFixture(cabinet);
      assert.equal(
        await obstacleTo(
          name,
          await documentOf(cabinet, name, fixture),
          cabinetUser(fixture.merchantId),
        ),
        isPlatforms(name) ? 'forbidden' : null,
        name,
      );
    }
  });

  test('refuses what is not there with not_found', async () => {
    const named = new Set<string>();
    for (const id of ['9d7b2c44-3f0e-4d2f-8f35-0e6a3f5b7c11', 'no-uuid']) {
      const fixture = { merchantId: id, shopId: id, endpointId: id, keyId: id, deliveryId: id };
      // The examples of these need what they name to be there.
      for (const name of operatorMutations(cabinet).filter(
        (mutation) => !/Remove$|^settlement/.test(mutation),
      )) {
        const document = await documentOf(cabinet, name, fixture);
        if (!document.includes(id)) continue;
        assert.equal(await obstacleTo(name, document, operator()), 'not_found', `${name} of ${id}`);
        named.add(name);
      }
    }
    assert.ok(named.size >= 20, `saw only ${named.size}`);
  });
});

describe('the log', () => {
  test('cannot be changed, shortened or emptied, not even by the owner of the table', async () => {
    await makeFixture(cabinet);
    for (const statement of [
      "update audit_entry set actor = 'nobody'",
      'delete from audit_entry',
      'truncate audit_entry',
    ]) {
      await assert.rejects(cabinet.harness.pool.query(statement), /append-only/, statement);
    }
  });

  test('has no entry of a change that failed, and the change none of its own', async () => {
    const fixture = await makeFixture(cabinet);
    const count = (await entries()).length;
    const action: AuditedAction = {
      action: 'merchant.rename',
      merchantId: fixture.merchantId,
      id: fixture.merchantId,
    };
    const acting = { principal: operator(), requestId, now: () => Temporal.Now.instant() };
    const failing = changeEntities(cabinet.harness.database, acting, action, async (em) => {
      const client = await clientOf(em);
      await client.query("update merchant set name = 'Lost' where id = $1", [fixture.merchantId]);
      throw new Error('the disk is full');
    });
    await assert.rejects(failing, /the disk is full/);
    const { merchant } = await cabinet.ask('query ($m: ID!) { merchant(id: $m) { name } }', {
      m: fixture.merchantId,
    });
    assert.equal(merchant.name, 'Tea & Cakes');
    assert.equal((await entries()).length, count);
  });

  test('writes what looks like a secret as [secret]', async () => {
    const { merchantId } = await makeFixture(cabinet);
    const secrets = [
      'whs_ABCDEFGHJKLMNPQRSTUVWXYZabcdefgh',
      'thm_ABCDEFGHJKLMNPQRSTUVWXYZabcdefgh',
      'sk_live_ABCDEF_0123456789abcdef',
      'ab'.repeat(32),
    ];
    const action: AuditedAction = {
      action: 'merchant.rename',
      merchantId,
      id: merchantId,
    };
    const acting = { principal: operator(), requestId, now: () => Temporal.Now.instant() };
    await changeEntities(cabinet.harness.database, acting, action, async (_em, notes) => {
      notes.after = { received: secrets, amount: 5n };
      return {};
    });
    const { auditLog } = await cabinet.ask(
      'query ($m: ID!) { auditLog(merchantId: $m, first: 1) { nodes { after } } }',
      { m: merchantId },
    );
    assert.deepEqual(auditLog.nodes, [
      { after: { received: secrets.map(() => '[secret]'), amount: 5 } },
    ]);
  });

  const page = `query ($m: ID, $after: String, $action: String, $actor: String) {
    auditLog(merchantId: $m, first: 2, after: $after, action: $action, actor: $actor) { nodes { id action before after } pageInfo { hasNextPage endCursor } } }`;

  test('is read in pages, newest first, by action and by actor', async () => {
    const { merchantId: m } = await makeFixture(cabinet);
    await cabinet.ask(
      'mutation ($m: ID!) { merchantRename(merchantId: $m, name: "Coffee") { __typename } }',
      { m },
    );
    const actions: string[] = [];
    for (let after: string | null = null, more = true; more;) {
      const { auditLog } = await cabinet.ask(page, { m, after });
      actions.push(...auditLog.nodes.map(({ action }: { action: string }) => action));
      after = auditLog.pageInfo.endCursor;
      more = auditLog.pageInfo.hasNextPage;
    }
    assert.deepEqual(actions, [
      'merchant.rename',
      'api_key.issue',
      'webhook_endpoint.create',
      'shop.create',
      'merchant.create',
    ]);
    const { auditLog } = await cabinet.ask(page, {
      m,
      action: 'merchant.rename',
      actor: 'person-1',
    });
    assert.equal(auditLog.nodes.length, 1);
    assert.deepEqual(auditLog.nodes[0].before.name, 'Tea & Cakes');
    assert.deepEqual(auditLog.nodes[0].after.name, 'Coffee');
    assert.deepEqual((await cabinet.ask(page, { m, actor: 'nobody' })).auditLog.nodes, []);
  });

  test("shows a cabinet user its own merchant's entries, and the platform's operators everybody's", async () => {
    const [one, two] = [await makeFixture(cabinet), await makeFixture(cabinet)];
    const all = 'query ($m: ID) { auditLog(merchantId: $m, first: 200) { nodes { merchantId } } }';
    const merchantsSeen = async (
      principal: Parameters<Cabinet['run']>[2],
    ): Promise<Set<string>> => {
      const { auditLog } = await cabinet.ask(all, {}, principal);
      return new Set(auditLog.nodes.map(({ merchantId }: { merchantId: string }) => merchantId));
    };
    assert.deepEqual(
      await merchantsSeen(cabinetUser(one.merchantId, 'viewer')),
      new Set([one.merchantId]),
    );
    const seen = await merchantsSeen(operator('viewer'));
    assert.ok(seen.has(one.merchantId) && seen.has(two.merchantId));
    const { errors } = await cabinet.run(all, { m: two.merchantId }, cabinetUser(one.merchantId));
    assert.equal(errors?.[0]?.extensions['code'], 'not_found');
  });
});
