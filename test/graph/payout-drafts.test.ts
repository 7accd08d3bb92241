/** Who may propose, approve, reject and see payouts of people, over the whole graph. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { parse, type ExecutionResult } from 'graphql';
import { scopes, type Principal, type Role } from '../../subgraphs/platform/access/principal.ts';
import { findKeyHolder } from '../../subgraphs/merchants/find-merchants.ts';
import { digestOf } from '../../subgraphs/merchants/keys/rules.ts';
import { openGraphHarness } from './harness.ts';
import { plant, type Planted } from './planted-rows.ts';

let harness: Awaited<ReturnType<typeof openGraphHarness>>;
let own: Planted;
let other: Planted;
before(async () => {
  harness = await openGraphHarness();
  const { pool } = harness.database;
  const tables = ['merchant', 'shop', 'event', 'webhook_delivery'];
  own = await plant(pool, 'own', { merchant: randomUUID(), shop: randomUUID() }, tables);
  other = await plant(pool, 'other', { merchant: randomUUID(), shop: randomUUID() }, tables);
  await pool.query(
    `insert into balance_delta (merchant_id, id, shop_id, mode, currency, account, amount, hour, moved) values ($1, gen_random_uuid(), $2, 'test', 'RUB', 'merchant', 100000, date_trunc('hour', now()), '{}')`,
    [own.id('merchant'), own.id('shop')],
  );
});
after(() => harness?.close());

const person = (subject: string, role: Role = 'finance', of: string | null = null): Principal => ({
  kind: 'operator',
  subject,
  role,
  merchantId: of,
});

const masked = '+7 *** ***-45-67';
const drafted = `draft { id status isMine createdBy amount recipient { phoneMask bankId } lastRefusal { code } }`;
const decisions = 'decisions { id draft { status payout { id } } refusal { code } }';
const refusedTo = '... on Refused { code message }';
const documents = {
  create: `mutation ($m: ID!, $s: ID!, $phone: String, $batch: ID) { done: payoutDraftCreate(merchantId: $m, shopId: $s, mode: test, reason: "September", batchId: $batch,
    input: { amount: 600, phone: $phone, bankId: "100000000111", fullName: "Petrov Ivan" }) { ... on PayoutDraftCreated { ${drafted} } ${refusedTo} } }`,
  approve: `mutation ($m: ID!, $id: ID!) { done: payoutDraftApprove(merchantId: $m, id: $id) { ... on PayoutDraftApproved { ${drafted} payout { id status recipient { phone } } } ${refusedTo} } }`,
  reject: `mutation ($m: ID!, $id: ID!) { done: payoutDraftReject(merchantId: $m, id: $id, reason: "No") { ... on PayoutDraftRejected { ${drafted} } ${refusedTo} } }`,
  approveAll: `mutation ($m: ID!, $ids: [ID!]!) { done: payoutDraftsApprove(merchantId: $m, ids: $ids) { ... on PayoutDraftsDecided { ${decisions} } ${refusedTo} } }`,
  rejectAll: `mutation ($m: ID!, $ids: [ID!]!, $reason: String = "No") { done: payoutDraftsReject(merchantId: $m, ids: $ids, reason: $reason) { ... on PayoutDraftsDecided { ${decisions} } ${refusedTo} } }`,
  ofBatch: `query ($batch: ID) { done: payoutDrafts(filter: { mode: [test], batchId: $batch }) { nodes { id batchId } } }`,
  quote: `query ($m: ID!, $items: [PayoutQuoteItem!]!) { done: payoutQuote(merchantId: $m, mode: test, items: $items) { fee withheld available remaining } }`,
  read: `query ($m: ID, $id: ID!) { done: payoutDraft(id: $id, merchantId: $m) { id status shop { id name } payout { id status } } }`,
  issue: `mutation ($m: ID!, $s: ID!, $mode: Mode = live, $scopes: [String!]) { done: apiKeyIssue(merchantId: $m, shopId: $s, mode: $mode, scopes: $scopes) { ... on ApiKeyIssued { id secret status } ${refusedTo} } }`,
  rotateKey: `mutation ($m: ID!, $id: ID!, $hours: Int!) { done: apiKeyRotate(merchantId: $m, apiKeyId: $id, overlapHours: $hours) { ... on ApiKeyIssued { id secret status } ${refusedTo} } }`,
  approveKey: `mutation ($m: ID!, $id: ID!) { done: apiKeyApprove(merchantId: $m, apiKeyId: $id) { ... on ApiKey { id status requestedBy approvedBy isMine } ${refusedTo} } }`,
  revokeKey: `mutation ($m: ID!, $id: ID!) { done: apiKeyRevoke(merchantId: $m, apiKeyId: $id) { ... on ApiKey { id status } ${refusedTo} } }`,
  reveal: `mutation ($m: ID!, $id: ID!) { done: payoutRecipientReveal(merchantId: $m, id: $id) { ... on PayoutRecipientRevealed { recipient { phone bankId fullName } } ${refusedTo} } }`,
  again: `mutation ($m: ID!, $s: ID!, $of: ID!, $phone: String = null) { done: payoutDraftCreate(merchantId: $m, shopId: $s, mode: test, recipientOf: $of,
    input: { amount: 700, phone: $phone }) { ... on PayoutDraftCreated { ${drafted} } ${refusedTo} } }`,
  paid: `query ($m: ID) { done: paidRecipients(merchantId: $m, mode: test) { id recipient { phone accountNumber } } }`,
  payouts: `query ($m: ID) { done: payouts(merchantId: $m, filter: { mode: [test] }) { nodes { id recipient { phone accountNumber inn } } } }`,
  payout: `query ($id: ID!) { done: payout(id: $id) { id recipient { phone } } }`,
  event: `query ($m: ID, $s: ID, $id: String!) { done: loggedEvent(merchantId: $m, shopId: $s, mode: test, id: $id) { data } }`,
  delivery: `query ($m: ID!, $id: ID!) { done: webhookDelivery(merchantId: $m, id: $id) { request { body } } }`,
  list: `query ($m: ID, $mine: Boolean) { done: payoutDrafts(merchantId: $m, filter: { mode: [test], isMine: $mine }) { nodes { id } totalCount { count } } }`,
} as const;

const ask = async (
  name: keyof typeof documents,
  principal: Principal,
  variables: object,
): Promise<any> => {
  const { data, errors } = (await harness.supergraph.execute(
    {
      document: parse(documents[name]),
      variables: {
        m: own.id('merchant'),
        s: own.id('shop'),
        phone: '+79161234567',
        ...variables,
      },
    },
    { principal, requestId: 'request-1', isInLane: true },
  )) as ExecutionResult<{ done: any }>;
  return errors ? errors[0]?.extensions['code'] : (data?.done?.code ?? data?.done);
};

test('people of finance propose, approve and reject; lower roles, keys and other merchants’ people do not', async () => {
  const mine = own.id('merchant');
  const key: Principal = {
    kind: 'key',
    keyId: '00000000-0000-4000-8000-00000000000a',
    merchantId: mine,
    shopId: own.id('shop'),
    mode: 'test',
    scopes,
  };
  const stranger = person('boris', 'admin', other.id('merchant'));
  for (const who of [person('v', 'viewer'), person('s', 'support', mine), key])
    assert.equal(await ask('create', who, {}), who === key ? 'scope_required' : 'forbidden');
  assert.equal(await ask('create', stranger, {}), 'not_found');
  assert.equal(await ask('create', person('anna'), { s: other.id('shop') }), 'not_found');
  assert.equal(await ask('create', person('anna'), { phone: '8916' }), 'bad_request');
  const { draft } = await ask('create', person('anna', 'finance', mine), {});
  assert.deepEqual(
    [draft.status, draft.isMine, draft.recipient],
    ['pending', true, { phoneMask: masked, bankId: '100000000111' }],
  );
  const { id } = draft;
  for (const name of ['approve', 'reject'] as const) {
    assert.equal(await ask(name, stranger, { id }), 'not_found');
    const merely = { id, m: other.id('merchant') };
    assert.equal(await ask(name, person('boris', 'admin'), merely), 'not_found');
    assert.equal(await ask(name, person('s', 'support'), { id }), 'forbidden');
    assert.equal(await ask(name, key, { id }), 'scope_required');
  }
  assert.equal(await ask('read', stranger, { id }), 'not_found');
  assert.equal(await ask('read', stranger, { id, m: null }), null);
  assert.deepEqual((await ask('list', stranger, { m: null })).nodes, []);
  // The same person in another session, with another role.
  assert.equal(await ask('approve', person('anna', 'admin'), { id }), 'scope_required');
  const approved = await ask('approve', person('boris', 'admin', mine), { id });
  assert.deepEqual(
    [approved.draft.status, approved.draft.isMine, approved.payout],
    ['approved', false, { id, status: 'pending', recipient: { phone: masked } }],
  );
  const read = await ask('read', person('v', 'viewer'), { id });
  assert.deepEqual([read.shop.id, read.payout.id], [own.id('shop'), id]);
  const listed = await ask('list', person('v', 'viewer'), { m: null });
  assert.deepEqual([listed.nodes, listed.totalCount], [[{ id }], { count: 1 }]);
  for (const [who, mine, count] of [
    ['anna', true, 1],
    ['anna', false, 0],
    ['boris', false, 1],
  ] as const) {
    const { totalCount } = await ask('list', person(who), { m: null, mine });
    assert.equal(totalCount.count, count, `${who} ${mine}`);
  }
  const { rows } = await harness.database.pool.query(
    `select action, actor, role, request_id, after::text from audit_entry where merchant_id = $1 order by id`,
    [mine],
  );
  assert.deepEqual(
    rows.map(({ action, actor, role, request_id }) => [action, actor, role, request_id]),
    [
      ['payout_draft.create', 'anna', 'finance', 'request-1'],
      ['payout_draft.approve', 'boris', 'admin', 'request-1'],
    ],
  );
  assert.doesNotMatch(JSON.stringify(rows), /9161234567|Petrov/, 'the log has masks alone');
  assert.match(rows[0].after, /"fullName": "P\*\*\* I\*\*\*"/);
});

test('drafts of one file are found by their batch, and decided together under the rules of each', async () => {
  const anna = person('anna', 'finance', own.id('merchant'));
  const boris = person('boris', 'finance', own.id('merchant'));
  const batch = randomUUID();
  const ids: string[] = [];
  for (let line = 0; line < 3; line += 1) ids.push((await ask('create', anna, { batch })).draft.id);
  assert.equal(await ask('create', anna, { batch: 'a file' }), 'bad_request');
  const found = await ask('ofBatch', boris, { batch });
  assert.deepEqual(found.nodes.map(({ id }: { id: string }) => id).toSorted(), ids.toSorted());
  const stranger = person('boris', 'admin', other.id('merchant'));
  assert.deepEqual((await ask('ofBatch', stranger, { batch })).nodes, []);
  assert.equal(await ask('ofBatch', boris, { batch: 'a file' }), 'bad_request');

  for (const name of ['approveAll', 'rejectAll'] as const) {
    assert.equal(await ask(name, stranger, { ids }), 'not_found');
    assert.equal(await ask(name, person('s', 'support'), { ids }), 'forbidden');
    for (const wrong of [[], [ids[0], ids[0]], Array.from({ length: 51 }, () => randomUUID())])
      assert.equal(await ask(name, boris, { ids: wrong }), 'bad_request');
    // Another merchant's, named by a person of the platform.
    const { decisions: none } = await ask(name, person('o'), { ids, m: other.id('merchant') });
    assert.deepEqual(
      none,
      ids.map((id) => ({ id, draft: null, refusal: { code: 'not_found' } })),
    );
  }
  const { decisions: mine } = await ask('approveAll', anna, { ids });
  assert.deepEqual(mine[0].refusal, { code: 'scope_required' });
  const [first, ...rest] = ids;
  const no = { ids: [first], reason: '' };
  assert.equal((await ask('rejectAll', boris, no)).decisions[0].refusal?.code, 'bad_request');
  const { decisions: rejected } = await ask('rejectAll', anna, { ids: [first] });
  assert.deepEqual(rejected, [
    { id: first, draft: { status: 'rejected', payout: null }, refusal: null },
  ]);
  const { decisions: decided } = await ask('approveAll', boris, { ids });
  assert.deepEqual(decided, [
    { id: first, draft: { status: 'rejected', payout: null }, refusal: { code: 'not_pending' } },
    ...rest.map((id) => ({ id, draft: { status: 'approved', payout: { id } }, refusal: null })),
  ]);
  assert.deepEqual((await ask('approveAll', boris, { ids })).decisions, decided, 'a second press');
});

test('a quote is for people of the merchant, of its shops alone', async () => {
  const items = [{ shopId: own.id('shop'), method: 'payouts_sbp', amount: 600 }];
  const viewer = person('v', 'viewer', own.id('merchant'));
  const { fee, withheld, available, remaining } = await ask('quote', viewer, { items });
  assert.deepEqual([fee, withheld, remaining], [0, 600, available - 600]);
  const stranger = person('v', 'viewer', other.id('merchant'));
  assert.equal(await ask('quote', stranger, { items }), 'not_found');
  const foreign = items.map((item) => ({ ...item, shopId: other.id('shop') }));
  assert.equal(await ask('quote', viewer, { items: foreign }), 'not_found');
});

test('a recipient is masked for every person wherever they look; finance reveals it, and the log has each look', async () => {
  const mine = own.id('merchant');
  const { pool } = harness.database;
  const { draft } = await ask('create', person('anna', 'finance', mine), { phone: '+79165554433' });
  const { id } = draft;
  const viewer = person('v', 'viewer', mine);
  for (const [who, code] of [
    [viewer, 'forbidden'],
    [person('s', 'support', mine), 'forbidden'],
    [person('clara', 'admin', other.id('merchant')), 'not_found'],
  ] as const)
    assert.equal(await ask('reveal', who, { id }), code);
  assert.equal(await ask('reveal', person('clara'), { id: randomUUID() }), 'not_found');
  const whole = { phone: '+79165554433', bankId: '100000000111', fullName: 'Petrov Ivan' };
  assert.deepEqual((await ask('reveal', person('clara'), { id })).recipient, whole, 'of a draft');

  await ask('approve', person('boris', 'admin', mine), { id });
  await pool.query(
    `update payout set recipient_account = '40817810099910004312', recipient_inn = '770012345678' where id = $1`,
    [id],
  );
  const key: Principal = {
    kind: 'key',
    keyId: '00000000-0000-4000-8000-00000000000a',
    merchantId: mine,
    shopId: own.id('shop'),
    mode: 'test',
    scopes,
  };
  for (const who of [viewer, person('clara', 'admin')]) {
    const { nodes } = await ask('payouts', who, {});
    assert.deepEqual(nodes.find((payout: { id: string }) => payout.id === id).recipient, {
      phone: '+7 *** ***-44-33',
      accountNumber: '***4312',
      inn: '***5678',
    });
  }
  const { recipient } = await ask('payout', key, { id });
  assert.equal(recipient.phone, '+79165554433', 'a program of the merchant needs it');
  assert.deepEqual((await ask('reveal', person('clara'), { id })).recipient, whole, 'of a payout');

  const body = { data: { recipient: { phone: '+79165554433', account_number: null, inn: null } } };
  const event = own.id('event');
  await pool.query('update event set webhook_body = $2 where id = $1', [
    event,
    JSON.stringify({ event: 'payout.succeeded', ...body }),
  ]);
  await pool.query(
    `update webhook_delivery set event_id = event.id, created_at = event.created_at from event where event.id = $1 and webhook_delivery.id = $2`,
    [event, own.id('webhook_delivery')],
  );
  const { data } = await ask('event', viewer, { id: `evt_${event}` });
  assert.equal(data.recipient.phone, '+7 *** ***-44-33');
  assert.equal((await ask('event', key, { id: `evt_${event}` })).data.recipient.phone, whole.phone);
  const delivery = await ask('delivery', viewer, { id: own.id('webhook_delivery') });
  assert.equal(JSON.parse(delivery.request.body).data.recipient.phone, '+7 *** ***-44-33');

  const { rows } = await pool.query(
    `select actor, subject_kind, after::text from audit_entry where action = 'payout.recipient_reveal' and merchant_id = $1 order by id`,
    [mine],
  );
  assert.deepEqual(
    rows.map(({ actor, subject_kind }) => `${actor} ${subject_kind}`),
    ['clara payout_draft', 'clara payout'],
  );
  assert.doesNotMatch(JSON.stringify(rows), /9165554433/);
});

test('a recipient that was paid is paid again by the payout’s id, which shows no phone', async () => {
  const { pool } = harness.database;
  const insert = (
    id: string,
    at: string,
    phone: string | null,
    account: string | null,
    status = 'succeeded',
  ) =>
    pool.query(
      `insert into payout (merchant_id, id, shop_id, terminal_id, mode, amount, currency, method, status, fail_reason, recipient_phone, recipient_account, recipient_bank_id, recipient_bik,
        created_at, completed_at, fee) values ($1, $2, $3, $3, 'test', 100, 'RUB', $4, $5, $6, $7, $8, $9, $10, $11, $11, 0)`,
      [
        own.id('merchant'),
        id,
        own.id('shop'),
        account ? 'payouts_account' : 'payouts_sbp',
        status,
        status === 'failed' ? 'bank_declined' : null,
        phone,
        account,
        phone && '100000000004',
        account && '044525225',
        at,
      ],
    );
  const [older = '', newer = '', account = '', erased = '', failed = ''] = Array.from(
    { length: 5 },
    () => randomUUID(),
  );
  await insert(older, '2099-01-01T00:00:00Z', '+79990000001', null);
  await insert(newer, '2099-01-02T00:00:00Z', '+79990000001', null);
  await insert(account, '2099-01-03T00:00:00Z', null, '40817810099910009999');
  await insert(erased, '2099-01-04T00:00:00Z', null, null);
  await insert(failed, '2099-01-05T00:00:00Z', '+79990000002', null, 'failed');
  const viewer = person('v', 'viewer', own.id('merchant'));
  assert.deepEqual((await ask('paid', viewer, { m: null })).slice(0, 2), [
    { id: account, recipient: { phone: null, accountNumber: '***9999' } },
    { id: newer, recipient: { phone: '+7 *** ***-00-01', accountNumber: null } },
  ]);
  assert.deepEqual(await ask('paid', person('o', 'viewer'), { m: other.id('merchant') }), []);

  const anna = person('anna', 'finance', own.id('merchant'));
  const { draft } = await ask('again', anna, { of: newer, phone: null });
  assert.deepEqual(draft.recipient, { phoneMask: '+7 *** ***-00-01', bankId: '100000000004' });
  const { rows } = await pool.query(
    'select recipient_phone, amount from payout_draft where id = $1',
    [draft.id],
  );
  assert.deepEqual(rows, [{ recipient_phone: '+79990000001', amount: '700' }]);
  for (const [of, phone, code] of [
    [erased, null, 'not_found'],
    [randomUUID(), null, 'not_found'],
    ['nothing', null, 'not_found'],
    [newer, '+79990000003', 'bad_request'],
  ] as const)
    assert.equal(await ask('again', anna, { of, phone }), code);
});

test('a key that pays out, and that one person of the merchant asked for, works once another one has approved it', async () => {
  const mine = own.id('merchant');
  const [anna, boris] = [person('anna', 'admin', mine), person('boris', 'finance', mine)];
  const works = async ({ secret }: { secret: string }): Promise<boolean> =>
    (await findKeyHolder(harness.database.pool, digestOf(secret))) !== null;
  const paying = ['api:payouts:card'];
  for (const mode of ['test', 'live'])
    for (const [who, scopes, status] of [
      [anna, null, 'pending'],
      [anna, paying, 'pending'],
      [anna, ['api:reports:read', 'api:recurrent:charge'], 'active'],
      [person('oleg', 'admin'), null, 'active'],
    ] as const) {
      const issued = await ask('issue', who, { mode, scopes });
      assert.deepEqual([issued.status, await works(issued)], [status, status === 'active']);
    }

  const issued = await ask('issue', anna, { scopes: paying });
  const { id } = issued;
  const stranger = person('boris', 'admin', other.id('merchant'));
  for (const [who, code] of [
    [anna, 'scope_required'],
    // The same person in another session.
    [person('anna', 'admin'), 'scope_required'],
    [person('vera', 'support', mine), 'forbidden'],
    [stranger, 'not_found'],
  ] as const)
    assert.equal(await ask('approveKey', who, { id }), code);
  assert.equal(await works(issued), false);
  const approved = {
    id,
    status: 'active',
    requestedBy: 'anna',
    approvedBy: 'boris',
    isMine: false,
  };
  const all = await Promise.all(Array.from({ length: 5 }, () => ask('approveKey', boris, { id })));
  for (const one of all) assert.deepEqual(one, approved);
  assert.equal(await works(issued), true);
  assert.deepEqual(await ask('approveKey', person('oleg', 'admin'), { id }), approved);

  // One that pays out is replaced by two people, too; the old one works until then.
  const next = await ask('rotateKey', anna, { id, hours: 0 });
  assert.deepEqual([next.status, await works(next), await works(issued)], ['pending', false, true]);
  assert.equal(await ask('rotateKey', stranger, { id, hours: 0 }), 'not_found');
  assert.equal((await ask('approveKey', boris, { id: next.id })).status, 'active');
  assert.deepEqual([await works(next), await works(issued)], [true, false]);
  assert.equal(await ask('rotateKey', anna, { id, hours: 0 }), 'not_pending', 'it has expired');

  const withdrawn = await ask('issue', anna, { scopes: paying });
  assert.equal((await ask('revokeKey', anna, { id: withdrawn.id })).status, 'revoked');
  assert.equal(await ask('approveKey', boris, { id: withdrawn.id }), 'not_pending');
  assert.equal(await works(withdrawn), false);
  const { rows } = await harness.database.pool.query(
    `select distinct actor, after ->> 'requestedBy' as asked, after ->> 'approvedBy' as approved from audit_entry
      where merchant_id = $1 and subject_id = $2 and action = 'api_key.approve' and after is distinct from before`,
    [mine, id],
  );
  assert.deepEqual(rows, [{ actor: 'boris', asked: 'anna', approved: 'boris' }]);
});
