/**
 * Who a person is and what they may do; captures, cancellations and refunds by people: the role
 * decides, the merchant is theirs, and the audit log says who it was.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { parse, type ExecutionResult } from 'graphql';
import { openBanks } from '../../subgraphs/acquirers/route.ts';
import { openSimulator } from '../../subgraphs/acquirers/simulator/simulator.ts';
import { noPolicies } from '../support/no-policies.ts';
import {
  scopes,
  type KeyPrincipal,
  type Principal,
  type Role,
} from '../../subgraphs/platform/access/principal.ts';
import { applyBankAnswer } from '../../subgraphs/payments/bank-answers/apply-bank-answer.ts';
import { openSession } from '../../subgraphs/payments/checkout/open-session.ts';
import { recordPayment } from '../../subgraphs/payments/create-payment.ts';
import { granted } from '../support/granted.ts';
import { enums } from '../../schema/generated/enums.ts';
import { access } from '../../subgraphs/platform/access/access.ts';
import { openGraphHarness } from './harness.ts';
import { plant, type Planted } from './planted-rows.ts';
import { randomUUID } from 'node:crypto';

let harness: Awaited<ReturnType<typeof openGraphHarness>>;
let own: Planted;
let other: Planted;
before(async () => {
  harness = await openGraphHarness();
  const { pool } = harness.database;
  const tables = ['merchant', 'shop'];
  own = await plant(pool, 'own', { merchant: randomUUID(), shop: randomUUID() }, tables);
  other = await plant(pool, 'other', { merchant: randomUUID(), shop: randomUUID() }, tables);
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
const person = (role: Role, merchantId: string | null = null): Principal => ({
  kind: 'operator',
  subject: `the ${role}`,
  role,
  merchantId,
});

/** A payment whose money the bank holds. */
const authorized = async (): Promise<string> => {
  const { database } = harness;
  const banks = openBanks(openSimulator(database), database.pool);
  const now = Temporal.Now.instant().subtract({ seconds: 5 });
  const input = { amount: 10_000n, method: 'cards', capture: 'manual' } as const;
  const { payment } = granted(await recordPayment(database, noPolicies, key(), { input }, now));
  const of = { merchantId: payment.merchantId, paymentId: payment.id };
  const card = { number: '4111111111111111', expiry: '12/30', cvc: '123', holder: 'A B' };
  const session = { key: of, card, pageUrl: 'https://pay.example/p', now };
  granted(await openSession(database, banks, noPolicies, session));
  const question = { merchantId: of.merchantId, operationId: of.paymentId };
  const later = Temporal.Now.instant();
  const answer = await banks.simulator.ask({ ...question, now: later });
  const held = granted(await applyBankAnswer(database, of, 'simulator', answer, later));
  assert.equal(held.status, 'authorized');
  return payment.id;
};

const documents = {
  capture: `mutation ($id: ID!, $m: ID) { done: paymentCapture(id: $id, amount: 4000, merchantId: $m) { ... on PaymentCaptured { payment { status amountCaptured } } ... on Refused { code } } }`,
  cancel: `mutation ($id: ID!, $m: ID) { done: paymentCancel(id: $id, merchantId: $m) { ... on PaymentCancelled { payment { status } } ... on Refused { code } } }`,
  refund: `mutation ($id: ID!, $m: ID) { done: refundCreate(paymentId: $id, amount: 1000, merchantId: $m) { ... on RefundCreated { refund { status amount } } ... on Refused { code } } }`,
} as const;

/** What the mutation came to, or the code of the error. */
const ask = async (
  name: keyof typeof documents,
  principal: Principal,
  id: string,
  m: string | null = null,
): Promise<unknown> => {
  const { data, errors } = (await harness.supergraph.execute(
    { document: parse(documents[name]), variables: { id, m } },
    { principal, requestId: 'request-1', isInLane: true },
  )) as ExecutionResult<{ done: any }>;
  if (errors) return errors[0]?.extensions['code'];
  return data?.done.code ?? data?.done.payment ?? data?.done.refund;
};

test('finance captures and refunds, support cancels; a lower role is refused and nothing happens', async () => {
  const [mine, theirs] = [own.id('merchant'), other.id('merchant')];
  const [first, second] = [await authorized(), await authorized()];
  for (const [role, name] of [
    ['viewer', 'capture'],
    ['viewer', 'refund'],
    ['support', 'capture'],
  ] as const)
    assert.equal(await ask(name, person(role), first, mine), 'forbidden', `${role} ${name}`);
  assert.equal(await ask('cancel', person('viewer'), first, mine), 'forbidden');
  assert.equal(await ask('capture', person('finance'), first), 'bad_request');
  assert.equal(await ask('capture', person('finance'), first, theirs), 'not_found');
  assert.equal(await ask('capture', person('finance', theirs), first), 'not_found');
  assert.equal(await ask('cancel', person('admin', theirs), first, mine), 'not_found');
  assert.deepEqual(await ask('capture', person('finance'), first, mine), {
    status: 'succeeded',
    amountCaptured: 4_000,
  });
  assert.equal(await ask('refund', person('support', mine), first), 'forbidden');
  assert.deepEqual(await ask('refund', person('finance', mine), first), {
    status: 'succeeded',
    amount: 1_000,
  });
  assert.deepEqual(await ask('cancel', person('support', mine), second, mine), {
    status: 'cancelled',
  });
  const third = await authorized();
  assert.deepEqual(await ask('cancel', key(), third), { status: 'cancelled' });
  const { rows } = await harness.database.pool.query(
    `select action, actor, role, request_id from audit_entry where merchant_id = $1 order by id`,
    [mine],
  );
  assert.deepEqual(
    rows.map(({ action, actor, role, request_id }) => [action, actor, role, request_id]),
    [
      ['payment.capture', 'the finance', 'finance', 'request-1'],
      ['refund.create', 'the finance', 'finance', 'request-1'],
      ['payment.cancel', 'the support', 'support', 'request-1'],
      ['payment.cancel', key().keyId, 'key', 'request-1'],
    ],
  );
});

const isForPeople = ([field, row]: readonly [string, (typeof access)[string]]): boolean =>
  row.operator !== undefined && (field.startsWith('Mutation.') || row.platform === true);

test('the permissions are what the access table keeps from some people', () => {
  const asked = Object.entries(access).filter(isForPeople);
  const fields = asked.flatMap(([field]) =>
    field.startsWith('Subscription.') ? [] : [field.replace(/^\w+\./, '')],
  );
  assert(fields.length > 50);
  assert.deepEqual(enums.Permission.toSorted(), fields.toSorted());
});

const viewerDocument = parse(
  '{ viewer { subject role merchantId merchant { id name } permissions { name granted leastRole platformOnly } } }',
);

const viewerFor = async (principal: Principal) => {
  const { data, errors } = (await harness.supergraph.execute(
    { document: viewerDocument, variables: {} },
    { principal, requestId: 'request-2', isInLane: true },
  )) as ExecutionResult<{ viewer: any }>;
  return data?.viewer ?? errors?.[0]?.extensions['code'];
};

test('a person reads who they are and what they may; a key is no person', async () => {
  const everyone = await viewerFor(person('admin'));
  assert.deepEqual(
    [everyone.subject, everyone.role, everyone.merchantId, everyone.merchant],
    ['the admin', 'admin', null, null],
  );
  const grants = (viewer: any): readonly string[] =>
    viewer.permissions.flatMap((permission: any) => (permission.granted ? [permission.name] : []));
  assert.deepEqual(grants(everyone), enums.Permission);

  const cabinet = await viewerFor(person('finance', own.id('merchant')));
  assert.equal(cabinet.merchant.id, own.id('merchant'));
  assert(grants(cabinet).includes('refundCreate'));
  assert(!grants(cabinet).includes('settlementRecord'));
  const [settlement] = cabinet.permissions.filter((one: any) => one.name === 'settlementRecord');
  assert.deepEqual([settlement.leastRole, settlement.platformOnly], ['finance', true]);

  assert.deepEqual(
    grants(await viewerFor(person('viewer'))).filter(
      (name) => !name.match(/s$|^savedView|^bankHealth$/),
    ),
    [],
    'a viewer changes nothing but what is its own',
  );
  assert.equal((await viewerFor(person('viewer', randomUUID()))).merchant, null);
  assert.equal((await viewerFor(person('viewer', 'no id'))).merchant, null);
  assert.equal(await viewerFor(key()), 'scope_required');
});

test('support makes a link of its own merchant alone, and a live one only when live mode is on', async () => {
  const [mine, theirs] = [own.id('merchant'), other.id('merchant')];
  const makeLink = async (m: string, mode: 'test' | 'live'): Promise<unknown> => {
    const text = `mutation ($m: ID!, $s: ID!, $mode: Mode) { done: linkCreate(merchantId: $m, shopId: $s, mode: $mode, input: { amount: 1000 }) {
      __typename ... on Refused { code } } }`;
    const { data, errors } = (await harness.supergraph.execute(
      { document: parse(text), variables: { m, s: own.id('shop'), mode } },
      { principal: person('support', mine), requestId: 'request-2', isInLane: true },
    )) as ExecutionResult<{ done: any }>;
    return errors?.[0]?.extensions['code'] ?? data?.done.code ?? data?.done.__typename;
  };
  const { pool } = harness.database;
  await pool.query('update merchant set live_enabled = false where id = $1', [mine]);
  assert.equal(await makeLink(mine, 'live'), 'live_not_enabled');
  assert.equal(await makeLink(mine, 'test'), 'PaymentLinkCreated');
  assert.equal(await makeLink(theirs, 'test'), 'not_found');
  await pool.query('update merchant set live_enabled = true where id = $1', [mine]);
  assert.equal(await makeLink(mine, 'live'), 'PaymentLinkCreated');
});
