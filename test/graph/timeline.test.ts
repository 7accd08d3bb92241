/** The timeline of a payment: all that is known of its life, for people alone. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { parse } from 'graphql';
import type pg from 'pg';
import { openCallRecorder } from '../../subgraphs/acquirers/calls.ts';
import { openBanks } from '../../subgraphs/acquirers/route.ts';
import { openSimulator } from '../../subgraphs/acquirers/simulator/simulator.ts';
import { noPolicies } from '../support/no-policies.ts';
import {
  scopes,
  type KeyPrincipal,
  type Principal,
} from '../../subgraphs/platform/access/principal.ts';
import { applyBankAnswer } from '../../subgraphs/payments/bank-answers/apply-bank-answer.ts';
import { openSession } from '../../subgraphs/payments/checkout/open-session.ts';
import { openPageOpenings } from '../../subgraphs/payments/checkout/page-openings.ts';
import { recordPayment } from '../../subgraphs/payments/create-payment.ts';
import { granted } from '../support/granted.ts';
import { openGraphHarness } from './harness.ts';
import { plant, type Planted } from './planted-rows.ts';
import { eventually } from '../support/eventually.ts';

let harness: Awaited<ReturnType<typeof openGraphHarness>>;
let own: Planted;
let planted: Planted;
before(async () => {
  harness = await openGraphHarness();
  const { pool } = harness.database;
  const tables = ['merchant', 'shop'];
  own = await plant(pool, 'own', { merchant: randomUUID(), shop: randomUUID() }, tables);
  planted = await plant(pool, 'planted', { merchant: randomUUID(), shop: randomUUID() });
});
after(() => harness?.close());

const key = (): KeyPrincipal => ({
  kind: 'key',
  keyId: '00000000-0000-4000-8000-00000000000a',
  merchantId: own.id('merchant'),
  shopId: own.id('shop'),
  mode: 'test',
  scopes,
});
const person = (merchantId: string | null): Principal => ({
  kind: 'operator',
  subject: 'somebody',
  role: 'finance',
  merchantId,
});

const number = '4111111111111111';

/** A payment that was paid by card; its calls to the bank are written when this ends. */
const paid = async (): Promise<string> => {
  const { database } = harness;
  const recorder = openCallRecorder(database.pool);
  const banks = openBanks(openSimulator(database), database.pool, [], null, recorder);
  const now = Temporal.Now.instant().subtract({ seconds: 5 });
  const input = { amount: 10_000n, method: 'cards' } as const;
  const { payment } = granted(await recordPayment(database, noPolicies, key(), { input }, now));
  const of = { merchantId: payment.merchantId, paymentId: payment.id };
  const card = { number, expiry: '12/30', cvc: '987', holder: 'A B' };
  const session = { key: of, card, pageUrl: 'https://pay.example/p', now };
  granted(await openSession(database, banks, noPolicies, session));
  const later = Temporal.Now.instant().subtract({ seconds: 3 });
  const question = { merchantId: of.merchantId, operationId: of.paymentId, now: later };
  const answer = await banks.simulator.ask(question);
  granted(await applyBankAnswer(database, of, 'simulator', answer, later));
  await recorder.close();
  return payment.id;
};

interface Timeline {
  readonly payment: { readonly timeline: readonly Record<string, unknown>[] } | null;
}

const document =
  parse(`query ($id: ID!, $merchantId: ID) { payment(id: $id, merchantId: $merchantId) { timeline {
  __typename at ... on TimelineCreated { by makerId keyPrefix } ... on TimelineStatus { status } ... on TimelineBankCall { call connector answer amount operationId durationMs reference }
  ... on TimelineRefund { refundStatus: status amount refund { id reason } } ... on TimelinePosting { entry { type amount } }
  ... on TimelineWebhookAttempt { delivery { id } attempt { status } } ... on TimelineAudit { entry { action actor } } } } }`);

const refundDocument = parse(
  `mutation ($id: ID!, $m: ID) { refundCreate(paymentId: $id, amount: 1000, merchantId: $m) { __typename } }`,
);

const read = async (principal: Principal, id: string, merchantId: string | null = null) => {
  const { data, errors } = await harness.supergraph.execute(
    { document, variables: { id, merchantId } },
    { principal, requestId: 'r', isInLane: true },
  );
  if (errors) return String(errors[0]?.extensions['code']);
  const { payment }: Timeline = JSON.parse(JSON.stringify(data));
  return payment?.timeline ?? [];
};

test('a life is shown in its order: statuses, calls to the bank, movements, refunds and who made them', async () => {
  const mine = own.id('merchant');
  const id = await paid();
  await harness.supergraph.execute(
    { document: refundDocument, variables: { id, m: mine } },
    { principal: person(null), requestId: 'r', isInLane: true },
  );
  const timeline = async () => {
    const entries = await read(person(null), id, mine);
    return typeof entries === 'string' ? assert.fail(entries) : entries;
  };
  await eventually(
    async () => (await timeline()).some(({ call }) => call === 'refund'),
    'the refund is on it',
  );
  const shown = await timeline();
  const moments = shown.map(({ at }) => String(at));
  assert.deepEqual(moments, moments.toSorted());
  const words = shown.map((entry) =>
    [
      entry['__typename'],
      entry['status'] ?? entry['call'] ?? entry['refundStatus'],
      entry['answer'],
    ].join(' '),
  );
  for (const expected of [
    'TimelineCreated  ',
    'TimelineStatus pending ',
    'TimelineStatus processing ',
    'TimelineBankCall openSession opened',
    'TimelineBankCall ask approved',
    'TimelineStatus succeeded ',
    'TimelinePosting  ',
    'TimelineRefund pending ',
    'TimelineBankCall refund approved',
    'TimelineRefund succeeded ',
    'TimelineAudit  ',
  ])
    assert.ok(words.includes(expected), `${expected} in ${words.join(', ')}`);
  assert.ok(!JSON.stringify(shown).includes(number));
  // As a word of a text: ids, moments and durations have such digits by chance.
  const texts = shown
    .flatMap((entry) => Object.values(entry))
    .filter((one) => typeof one !== 'number');
  assert.doesNotMatch(JSON.stringify(texts), /\b987\b/);
  assert.deepEqual(await read(person(mine), id), shown);
});

test('it begins with what made the payment: a key by its prefix, a link, a subscription, a saved method', async () => {
  const { pool } = harness.database;
  const [mine, shop] = [own.id('merchant'), own.id('shop')];
  const id = await paid();
  const firstOf = async () => {
    const [first] = await read(person(null), id, mine);
    assert(typeof first === 'object');
    const { at: _, ...rest } = first;
    return rest;
  };
  const made = (by: string, makerId: string, keyPrefix: string | null = null) => ({
    __typename: 'TimelineCreated',
    by,
    makerId,
    keyPrefix,
  });
  assert.deepEqual(await firstOf(), made('key', key().keyId));
  await pool.query(
    `insert into api_key (digest, id, merchant_id, shop_id, mode, prefix, scopes, created_at)
      values ($1, $2, $3, $4, 'test', 'sk_test_tea', '{}', now())`,
    [randomUUID(), key().keyId, mine, shop],
  );
  assert.deepEqual(await firstOf(), made('key', key().keyId, 'sk_test_tea'));
  const [link, token, subscription] = [randomUUID(), randomUUID(), randomUUID()];
  const change = (text: string, ...values: string[]) => pool.query(text, [mine, id, ...values]);
  await change('update payment set made_by_key = null where merchant_id = $1 and id = $2');
  await change('insert into link_payment values ($1, $2, $3)', link);
  assert.deepEqual(await firstOf(), made('link', link));
  await change(
    `update payment set token_id = $3, kind = 'token_charge' where merchant_id = $1 and id = $2`,
    token,
  );
  assert.deepEqual(await firstOf(), made('token', token));
  await change(
    'update payment set subscription_id = $3 where merchant_id = $1 and id = $2',
    subscription,
  );
  assert.deepEqual(await firstOf(), made('subscription', subscription));
});

/** Sends to the pool what it is given, and keeps the texts. */
const watched = (pool: pg.Pool) => {
  const texts: string[] = [];
  const query = (asked: pg.QueryConfig) => {
    texts.push(asked.text);
    return pool.query(asked);
  };
  return { texts, runner: { query } as unknown as pg.PoolClient };
};

const openedAt = async (id: string): Promise<unknown[]> => {
  const entries = await read(person(null), id, own.id('merchant'));
  assert(typeof entries !== 'string');
  return entries
    .filter((entry) => entry['__typename'] === 'TimelinePageOpened')
    .map(({ at }) => at);
};

test('the first opening of the page is on it, of however many processes saw one', async () => {
  const { pool } = harness.database;
  const paymentId = await paid();
  const payment = { merchantId: own.id('merchant'), paymentId };
  const [one, other] = [openPageOpenings(pool), openPageOpenings(pool)];
  const first = Temporal.Instant.from('2026-11-24T10:00:00Z');
  other.note(payment, first.add({ seconds: 5 }));
  one.note(payment, first);
  one.note(payment, first.add({ seconds: 9 }));
  assert.deepEqual(await openedAt(paymentId), [], 'no task waits for it');
  await Promise.all([one.close(), other.close()]);
  assert.deepEqual(await openedAt(paymentId), ['2026-11-24T10:00:00.000Z']);
  const { rows } = await pool.query('select from page_opening where payment_id = $1', [paymentId]);
  assert.equal(rows.length, 2, 'one of each process');
});

test('openings of many pages are written together, and a database that is away stops no page', async () => {
  const { pool } = harness.database;
  const counted = watched(pool);
  const openings = openPageOpenings(counted.runner);
  const [merchantId, now] = [randomUUID(), Temporal.Now.instant()];
  for (let index = 0; index < 1_000; index += 1)
    openings.note({ merchantId, paymentId: randomUUID() }, now);
  const before = counted.texts.length;
  await openings.close();
  const inserts = counted.texts.slice(before).filter((text) => text.includes('page_opening'));
  assert.equal(inserts.length, 2);
  const gone = openPageOpenings(
    Object.assign(Object.create(pool), { query: () => Promise.reject(new Error('gone')) }),
  );
  gone.note({ merchantId, paymentId: randomUUID() }, now);
  await gone.close();
});

test('attempts of webhooks and entries of the audit log are on it', async () => {
  const { pool } = harness.database;
  const [id, mine] = [planted.id('payment'), planted.id('merchant')];
  // Entries are never changed, but here one should have been made otherwise.
  await pool.query(
    `begin; set local session_replication_role = replica; update audit_entry set subject_id = '${id}' where merchant_id = '${mine}';
      update posting set source_kind = 'payment', source_id = '${id}' where merchant_id = '${mine}'; commit`,
  );
  const shown = await read(person(mine), id);
  assert(typeof shown !== 'string');
  const types = new Set(shown.map((entry) => entry['__typename']));
  for (const type of ['Status', 'BankCall', 'WebhookAttempt', 'Posting', 'Audit'])
    assert.ok(types.has(`Timeline${type}`), type);
});

test('a stranger and a key read none, and no document reads many', async () => {
  const id = planted.id('payment');
  assert.deepEqual(await read(person(own.id('merchant')), id), []);
  const ofKey = { ...key(), merchantId: planted.id('merchant'), shopId: planted.id('shop') };
  assert.equal(await read(ofKey, id), 'scope_required');
  const { pool } = harness.database;
  await pool.query(
    `insert into payment select changed.* from payment as original, generate_series(1, 12) as copy(number),
      lateral jsonb_populate_record(original, jsonb_build_object('id', md5('shown' || copy.number)::uuid)) as changed where original.id = $1`,
    [id],
  );
  const list = (first: number) =>
    harness.supergraph.execute(
      {
        document: parse(
          `{ payments(first: ${first}, filter: { mode: [test] }) { nodes { timeline { at } } } }`,
        ),
        variables: {},
      },
      { principal: person(planted.id('merchant')), requestId: 'r', isInLane: true },
    );
  assert.equal((await list(10)).errors, undefined);
  assert.equal((await list(11)).errors?.[0]?.extensions['code'], 'bad_request');
});

test('calls are written in batches, and a database that is away does not stop them', async () => {
  const { pool } = harness.database;
  const counted = watched(pool);
  const recorder = openCallRecorder(counted.runner);
  const call = {
    merchantId: own.id('merchant'),
    subjectId: randomUUID(),
    connector: 'simulator',
    call: 'ask',
    amount: 5n,
    currency: 'RUB',
    answer: 'pending',
    reference: null,
    failureCode: null,
    bankCode: null,
    duration_ms: 3,
    createdAt: Temporal.Now.instant(),
  };
  for (let index = 0; index < 2_000; index += 1) recorder.note(call);
  const before = counted.texts.length;
  await recorder.close();
  const inserts = counted.texts.slice(before).filter((text) => text.includes('bank_call'));
  assert.equal(inserts.length, 4);
  const { rows } = await pool.query('select count(*)::int from bank_call where subject_id = $1', [
    call.subjectId,
  ]);
  assert.deepEqual(rows, [{ count: 2_000 }]);

  const gone = openCallRecorder(
    Object.assign(Object.create(pool), { query: () => Promise.reject(new Error('gone')) }),
  );
  gone.note(call);
  await gone.close();
});

const noteDocument = parse(
  `mutation ($id: ID!, $m: ID, $text: String!, $idempotency: Idempotency) {
    done: paymentNoteAdd(id: $id, merchantId: $m, text: $text, idempotency: $idempotency) {
      ... on PaymentNoteAdded { idempotent note { author text } } ... on Refused { code } } }`,
);
const notesDocument = parse(
  'query ($id: ID!, $m: ID) { payment(id: $id, merchantId: $m) { notes { author text } } }',
);

test('people write notes, at most a hundred on a payment; keys and strangers neither write nor read them', async () => {
  const mine = own.id('merchant');
  const id = await paid();
  const ask = async (principal: Principal, text: string | null, more: object = {}) => {
    const { data, errors } = await harness.supergraph.execute(
      {
        document: text === null ? notesDocument : noteDocument,
        variables: { id, m: mine, text, ...more },
      },
      { principal, requestId: 'r', isInLane: true },
    );
    if (errors) return String(errors[0]?.extensions['code']);
    const { done, payment }: any = JSON.parse(JSON.stringify(data));
    return done?.code ?? done ?? payment.notes;
  };
  const viewer = { ...person(mine), role: 'viewer' } as const;
  const support = { ...person(mine), role: 'support', subject: 'anna' } as const;
  const secret = 'Called: the card 4111 1111 1111 1111 was lost';
  assert.equal(await ask(viewer, 'Hello'), 'forbidden');
  assert.equal(await ask(key(), 'Hello', { m: null }), 'scope_required');
  assert.equal(await ask(person(planted.id('merchant')), 'Hello'), 'not_found');
  assert.equal(await ask(support, ' \n'), 'bad_request');
  assert.equal(await ask(support, 'x'.repeat(2_001)), 'bad_request');
  const idempotency = { key: randomUUID() };
  const written = { author: 'anna', text: 'Called: the card ****1111 was lost' };
  for (const idempotent of [false, true])
    assert.deepEqual(await ask(support, secret, { idempotency }), { idempotent, note: written });
  assert.deepEqual(await ask(viewer, null), [written]);
  assert.equal(await ask(key(), null, { m: null }), 'scope_required');
  const others = Array.from({ length: 104 }, (_, index) => ask(support, `Note ${index}`));
  const refusals = (await Promise.all(others)).filter((one) => one === 'bad_request');
  assert.equal(refusals.length, 5);
  assert.equal((await ask(viewer, null)).length, 100);
  const { rows } = await harness.database.pool.query(
    `select actor, after from audit_entry where action = 'payment.note' and subject_id = $1 and (after->>'number')::int = 1`,
    [id],
  );
  assert.deepEqual(
    rows.map(({ actor, after: { number: written } }) => [actor, written]),
    [['anna', 1]],
  );
  assert.doesNotMatch(JSON.stringify(rows), /Called/);
});

const proposal = 'draft { id status isMine createdBy reason amount }';
const draftDocuments = {
  create: `mutation ($m: ID!, $p: ID!) { done: refundDraftCreate(merchantId: $m, paymentId: $p, amount: 600, reason: "Broken") { ... on RefundDraftCreated { ${proposal} } ... on Refused { code } } }`,
  approve: `mutation ($m: ID!, $id: ID!) { done: refundDraftApprove(merchantId: $m, id: $id) { ... on RefundDraftApproved { ${proposal} refund { id status payment { id } } } ... on Refused { code } } }`,
  reject: `mutation ($m: ID!, $id: ID!) { done: refundDraftReject(merchantId: $m, id: $id, reason: "No") { ... on RefundDraftRejected { ${proposal} } ... on Refused { code } } }`,
  list: `query ($m: ID!, $p: ID!) { done: refundDrafts(merchantId: $m, filter: { mode: [test], paymentId: $p, isMine: false }) { nodes { id payment { id } refund { id } } } }`,
} as const;

test('support proposes a refund and withdraws its own, finance decides others’; keys and strangers do neither', async () => {
  const mine = own.id('merchant');
  const paymentId = await paid();
  const ask = async (name: keyof typeof draftDocuments, principal: Principal, id = '') => {
    const { data, errors } = await harness.supergraph.execute(
      { document: parse(draftDocuments[name]), variables: { m: mine, p: paymentId, id } },
      { principal, requestId: 'r', isInLane: true },
    );
    if (errors) return String(errors[0]?.extensions['code']);
    const { done }: any = JSON.parse(JSON.stringify(data));
    return done.code ?? done;
  };
  const support = (subject: string) => ({ ...person(mine), role: 'support', subject }) as const;
  const stranger = person(planted.id('merchant'));
  assert.equal(await ask('create', { ...person(mine), role: 'viewer' } as Principal), 'forbidden');
  assert.equal(await ask('create', key()), 'scope_required');
  assert.equal(await ask('create', stranger), 'not_found');
  const { draft } = await ask('create', support('anna'));
  assert.deepEqual(
    [draft.status, draft.isMine, draft.createdBy, draft.reason, draft.amount],
    ['pending', true, 'anna', 'Broken', 600],
  );
  const { id } = draft;
  assert.equal(await ask('approve', support('clara'), id), 'forbidden');
  assert.equal(await ask('reject', support('clara'), id), 'scope_required');
  for (const name of ['approve', 'reject'] as const)
    assert.equal(await ask(name, stranger, id), 'not_found');
  const shown = await read(person(mine), paymentId);
  assert.match(JSON.stringify(shown), /refund_draft\.create/);
  const { refund } = await ask('approve', person(mine), id);
  assert.deepEqual([refund.id, refund.payment.id], [id, paymentId]);
  assert.deepEqual((await ask('list', person(mine))).nodes, [
    { id, payment: { id: paymentId }, refund: { id } },
  ]);
  const { draft: withdrawn } = await ask('create', support('anna'));
  const { draft: gone } = await ask('reject', support('anna'), withdrawn.id);
  assert.equal(gone.status, 'rejected');
});
