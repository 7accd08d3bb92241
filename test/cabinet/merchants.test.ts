import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { countStatements } from '../support/count-statements.ts';
import { cabinetUser, keyOf, makeFixture, openCabinet, operator, type Cabinet } from './cabinet.ts';

let cabinet: Cabinet;
before(async () => void (cabinet = await openCabinet()));
after(() => cabinet.close());

describe('merchants', () => {
  const list =
    'query ($text: String, $after: String) { merchants(first: 2, name: $text, after: $after) { nodes { id name } pageInfo { hasNextPage endCursor } } }';

  test('are found by a part of the name or id, whatever its case, and paged newest first', async () => {
    const names = ['Kiosk 50%', 'kiosk two', 'KIOSK three', 'Bakery'];
    for (const name of names) await makeFixture(cabinet, undefined, name);
    const found: string[] = [];
    for (let after: string | null = null, more = true; more;) {
      const { merchants } = await cabinet.ask(list, { text: 'kiOSk', after });
      found.push(...merchants.nodes.map(({ name }: any) => name));
      after = merchants.pageInfo.endCursor;
      more = merchants.pageInfo.hasNextPage;
    }
    assert.deepEqual(found, ['KIOSK three', 'kiosk two', 'Kiosk 50%']);
    assert.deepEqual((await cabinet.ask(list, { text: '0%' })).merchants.nodes.length, 1);
    assert.deepEqual((await cabinet.ask(list, { text: '%%' })).merchants.nodes, []);
    const { merchantId } = await makeFixture(cabinet, undefined, 'Cellar');
    for (const part of [merchantId, merchantId.slice(9, 23).toUpperCase()]) {
      const { merchants } = await cabinet.ask(list, { text: ` ${part} ` });
      assert.deepEqual(merchants.nodes, [{ id: merchantId, name: 'Cellar' }]);
    }
    const { errors } = await cabinet.run(list, { text: 'a'.repeat(201) });
    assert.equal(errors?.[0]?.extensions['code'], 'bad_request');
  });

  test('are to a cabinet user its own alone', async () => {
    const fixture = await makeFixture(cabinet);
    const { merchants } = await cabinet.ask(list, {}, cabinetUser(fixture.merchantId, 'viewer'));
    assert.deepEqual(
      merchants.nodes.map(({ id }: any) => id),
      [fixture.merchantId],
    );
    assert.equal(
      (await cabinet.run(list, {}, keyOf(fixture))).errors?.[0]?.extensions['code'],
      'scope_required',
    );
  });

  test('are let into live mode and out of it, and every process is told to forget their keys', async () => {
    const { merchantId: m } = await makeFixture(cabinet);
    for (const [mutation, enabled] of [
      ['merchantLiveEnable', true],
      ['merchantLiveEnable', true],
      ['merchantLiveDisable', false],
    ] as const) {
      cabinet.received.topics.length = 0;
      const answer = await cabinet.ask(
        `mutation ($m: ID!) { ${mutation}(merchantId: $m) { ... on Merchant { liveEnabled } } }`,
        { m },
      );
      assert.deepEqual(answer[mutation], { liveEnabled: enabled });
      assert.deepEqual(cabinet.received.topics, [['keys', { merchantId: m }]]);
    }
    cabinet.received.topics.length = 0;
    await cabinet.ask(
      'mutation { merchantLiveEnable(merchantId: "9d7b2c44-3f0e-4d2f-8f35-0e6a3f5b7c11") { __typename } }',
    );
    assert.deepEqual(cabinet.received.topics, []);
  });

  const profile = 'profile { legalName inn contactEmail contactPhone siteUrl offerUrl } ';
  const set = `mutation ($m: ID!, $p: MerchantProfileInput!) { answer: merchantProfileSet(merchantId: $m, profile: $p) { ... on Merchant { ${profile} } ... on Refused { code message } } }`;
  const whole = {
    legalName: 'ООО «Чайная»',
    inn: '7707083893',
    contactEmail: 'help@tea.example',
    contactPhone: '+74951234567',
    siteUrl: 'https://tea.example',
    offerUrl: 'https://tea.example/offer',
  };

  test('have the legal name, contacts, site and offer that the platform gave them', async () => {
    const { merchantId: m } = await makeFixture(cabinet);
    const { answer } = await cabinet.ask(set, { m, p: { ...whole, legalName: ' ООО «Чайная» ' } });
    assert.deepEqual(answer.profile, whole);
    const cleared = await cabinet.ask(set, { m, p: { inn: '500100732259', siteUrl: '  ' } });
    const nothing = Object.fromEntries(Object.keys(whole).map((field) => [field, null]));
    assert.deepEqual(cleared.answer.profile, { ...nothing, inn: '500100732259' });
    const { auditLog } = await cabinet.ask(
      'query ($m: ID!) { auditLog(merchantId: $m, action: "merchant.profile_set") { nodes { before after } } }',
      { m },
    );
    assert.deepEqual(auditLog.nodes[0].before, whole);
    const own = await cabinet.run(set, { m, p: whole }, cabinetUser(m, 'admin'));
    assert.equal(own.errors?.[0]?.extensions['code'], 'forbidden');
  });

  test('are refused a profile with a wrong field, which is named', async () => {
    const { merchantId: m } = await makeFixture(cabinet);
    const wrong = {
      legalName: 'x'.repeat(301),
      inn: '7707083894',
      contactEmail: 'help@tea',
      contactPhone: '8 495 123-45-67',
      siteUrl: 'javascript:alert(1)',
      offerUrl: 'tea.example/offer',
    };
    for (const [field, value] of Object.entries(wrong)) {
      const { answer } = await cabinet.ask(set, { m, p: { ...whole, [field]: value } });
      assert.equal(answer.code, 'bad_request', field);
      assert.match(answer.message, new RegExp(`^${field}: `));
    }
    for (const inn of ['500100732258', '500100732359', '77070838931'])
      assert.equal((await cabinet.ask(set, { m, p: { inn } })).answer.code, 'bad_request', inn);
  });

  test('and shops have names with something in them, of at most 200 characters', async () => {
    const { merchantId, shopId } = await makeFixture(cabinet);
    const merchant = `merchantId: "${merchantId}"`;
    for (const name of ['', '  ', 'x'.repeat(201)]) {
      const calls = [
        `merchantRename(${merchant}`,
        `shopCreate(${merchant}`,
        `shopRename(${merchant}, shopId: "${shopId}"`,
      ];
      for (const call of calls) {
        const { answer } = await cabinet.ask(
          `mutation { answer: ${call}, name: "${name}") { ... on Refused { code } } }`,
        );
        assert.equal(answer.code, 'bad_request', call);
      }
      const { errors } = await cabinet.run(`mutation { merchantCreate(name: "${name}") { id } }`);
      assert.equal(errors?.[0]?.extensions['code'], 'bad_request');
    }
  });
});

describe('shops', () => {
  const shop = `query ($m: ID!, $s: ID!) { shop(merchantId: $m, id: $s) { name terminalName merchant { name } webhookEndpoints { id url active signature } } }`;

  test('are renamed, their terminal only when it is named', async () => {
    const { merchantId: m, shopId: s } = await makeFixture(cabinet);
    const rename = (names: string): Promise<any> =>
      cabinet.ask(
        `mutation ($m: ID!, $s: ID!) { shopRename(merchantId: $m, shopId: $s, ${names}) { ... on Shop { name terminalName } } }`,
        { m, s },
      );
    assert.deepEqual((await rename('name: "One"')).shopRename, {
      name: 'One',
      terminalName: 'Shop',
    });
    assert.deepEqual((await rename('name: "Two", terminalName: "Till"')).shopRename, {
      name: 'Two',
      terminalName: 'Till',
    });
  });

  test('are read with their endpoints by operators and the own cabinet; a key sees its own, without endpoints', async () => {
    const [fixture, other] = [await makeFixture(cabinet), await makeFixture(cabinet)];
    const ids = { m: fixture.merchantId, s: fixture.shopId };
    const seen = await cabinet.ask(shop, ids, operator('viewer'));
    assert.deepEqual(seen.shop.webhookEndpoints, [
      { id: fixture.endpointId, url: 'http://127.0.0.1:1/hook', active: true, signature: 'v2' },
    ]);
    assert.deepEqual(await cabinet.ask(shop, ids, cabinetUser(fixture.merchantId, 'viewer')), seen);
    assert.equal(
      (await cabinet.run(shop, ids, cabinetUser(other.merchantId))).data?.['shop'],
      null,
    );
    const name = 'query ($m: ID!, $s: ID!) { shop(merchantId: $m, id: $s) { name } }';
    assert.equal((await cabinet.ask(name, ids, keyOf(fixture))).shop.name, 'Shop');
    assert.equal(
      (await cabinet.ask(name, ids, keyOf({ ...fixture, shopId: other.shopId }))).shop,
      null,
    );
    assert.equal((await cabinet.run(name, ids, keyOf(other))).data?.['shop'], null);
    assert.equal(
      (await cabinet.run(shop, ids, keyOf(fixture))).errors?.[0]?.extensions['code'],
      'scope_required',
    );
  });

  test('of many merchants with their endpoints cost a constant number of statements', async () => {
    for (let index = 0; index < 12; index += 1) await makeFixture(cabinet);
    const counted = countStatements(cabinet.harness.pool);
    const statements = async (first: number): Promise<number> => {
      const before = counted.texts.length;
      await cabinet.ask(
        `{ merchants(first: ${first}) { nodes { name shops { name webhookEndpoints { url } } } } }`,
      );
      return counted.texts.length - before;
    };
    const few = await statements(2);
    assert.ok(few >= 3, `saw only ${few} statements`);
    assert.equal(await statements(12), few);
  });
});
