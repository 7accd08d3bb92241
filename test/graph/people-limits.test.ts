/**
 * What people cancel, and what limits people alone: the role decides, a reason is asked for, and
 * the audit log says who it was.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
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
import { openGraphHarness } from './harness.ts';
import { plant, type Planted } from './planted-rows.ts';

let harness: Awaited<ReturnType<typeof openGraphHarness>>;
let own: Planted;
let other: Planted;
const tables = ['merchant', 'shop', 'token', 'subscription'];
before(async () => {
  harness = await openGraphHarness();
  const { pool } = harness.database;
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

const documents = {
  subscription: `mutation ($id: ID!, $m: ID, $reason: String) { done: subscriptionCancel(id: $id, merchantId: $m, reason: $reason) { ... on SubscriptionCancelled { subscription { status cancelReason } } ... on Refused { code } } }`,
  token: `mutation ($id: ID!, $m: ID, $reason: String) { done: tokenCancel(id: $id, merchantId: $m, reason: $reason) { ... on TokenCancelled { token { status } } ... on Refused { code } } }`,
  refund: `mutation ($id: ID!, $m: ID, $reason: String, $amount: MinorUnits) { done: refundCreate(paymentId: $id, amount: $amount, merchantId: $m, reason: $reason) { ... on RefundCreated { refund { status } } ... on Refused { code } } }`,
  log: 'query ($m: ID, $action: String) { done: auditLog(merchantId: $m, action: $action) { nodes { after } } }',
} as const;

/** What the mutation came to, or the code of the error. */
const ask = async (
  name: keyof typeof documents,
  principal: Principal,
  variables: object,
): Promise<any> => {
  const { data, errors } = (await harness.supergraph.execute(
    { document: parse(documents[name]), variables: { ...variables } },
    { principal, requestId: 'request-1', isInLane: true },
  )) as ExecutionResult<{ done: any }>;
  if (errors) return errors[0]?.extensions['code'];
  const { code, subscription, token, refund, nodes } = data?.done ?? {};
  return code ?? subscription ?? token ?? refund ?? nodes;
};

const entries = async (action: string): Promise<readonly unknown[]> => {
  const { rows } = await harness.database.pool.query(
    `select actor, before ->> 'status' as before,
      (select texts -> 'after' ->> 'reason' from audit_text where entry_id = audit_entry.id) as reason
      from audit_entry where merchant_id = $1 and action = $2 order by id`,
    [own.id('merchant'), action],
  );
  return rows.map(({ actor, before: was, reason }) => [actor, was, reason]);
};

for (const kind of ['subscription', 'token'] as const)
  test(`a ${kind} is cancelled by support of its merchant, with a reason, once in the log`, async () => {
    const [m, theirs] = [own.id('merchant'), other.id('merchant')];
    const id = own.id(kind);
    const reason = 'Asked by telephone';
    assert.equal(await ask(kind, person('viewer'), { id, m, reason }), 'forbidden');
    assert.equal(await ask(kind, person('support'), { id, reason }), 'bad_request');
    assert.equal(await ask(kind, person('support'), { id, m }), 'bad_request');
    assert.equal(await ask(kind, person('support'), { id, m: theirs, reason }), 'not_found');
    assert.equal(await ask(kind, person('admin', theirs), { id, m, reason }), 'not_found');
    assert.equal(await ask(kind, person('admin', theirs), { id, reason }), 'not_found');
    const stranger = { ...key(), merchantId: theirs, shopId: other.id('shop') };
    assert.equal(await ask(kind, stranger, { id }), 'not_found');
    const cancel = (role: Role, of: string | null = null) =>
      ask(kind, person(role, of), { id, m, reason });
    const both = await Promise.all([cancel('support'), cancel('support', m)]);
    assert.deepEqual(
      both.map(({ status }) => status),
      ['cancelled', 'cancelled'],
    );
    assert.equal((await cancel('admin')).status, 'cancelled', 'again is no mistake');
    assert.deepEqual(await entries(`${kind}.cancel`), [['the support', 'active', reason]]);
    const read = await ask('log', person('viewer'), { m, action: `${kind}.cancel` });
    assert.deepEqual(
      JSON.parse(JSON.stringify(read)),
      [{ after: { status: 'cancelled', reason } }],
      'people read it whole',
    );
  });

/** A payment that was paid. */
const paid = async (amount: bigint): Promise<string> => {
  const { database } = harness;
  const banks = openBanks(openSimulator(database), database.pool);
  const now = Temporal.Now.instant().subtract({ seconds: 5 });
  const input = { amount, method: 'cards' } as const;
  const { payment } = granted(await recordPayment(database, noPolicies, key(), { input }, now));
  const of = { merchantId: payment.merchantId, paymentId: payment.id };
  const card = { number: '4111111111111111', expiry: '12/30', cvc: '123', holder: 'A B' };
  const session = { key: of, card, pageUrl: 'https://pay.example/p', now };
  granted(await openSession(database, banks, noPolicies, session));
  const question = { merchantId: of.merchantId, operationId: of.paymentId };
  const later = Temporal.Now.instant();
  const answer = await banks.simulator.ask({ ...question, now: later });
  const done = granted(await applyBankAnswer(database, of, 'simulator', answer, later));
  assert.equal(done.status, 'succeeded');
  return payment.id;
};

test('what people give back of a payment needs a reason beyond a sum, and beyond a larger one an administrator; a key neither', async () => {
  const m = own.id('merchant');
  const id = await paid(400_000_000n);
  const refund = (principal: Principal, amount: number, reason?: string) =>
    ask('refund', principal, { id, m, amount, reason });
  assert.equal(await refund(person('finance'), 1_000_100), 'bad_request');
  assert.equal(await refund(person('finance'), 1_000_100, '  '), 'bad_request');
  assert.equal(await refund(person('finance'), 100_000_100, 'Broken'), 'scope_required');
  assert.equal((await refund(key(), 100_000_100)).status, 'succeeded');
  assert.equal((await refund(person('finance'), 1_000_000)).status, 'succeeded');
  assert.equal(await refund(person('finance'), 100), 'bad_request');
  assert.equal((await refund(person('finance'), 99_000_000, 'Broken')).status, 'succeeded');
  assert.equal(await refund(person('finance'), 100, 'Broken'), 'scope_required');
  assert.equal(await refund(person('admin'), 100), 'bad_request');
  assert.equal((await refund(person('admin'), 100_000_100, 'Broken')).status, 'succeeded');
});

test('people who give back at the same moment have one limit together', async () => {
  const m = own.id('merchant');
  const id = await paid(400_000_000n);
  const done = await Promise.all(
    Array.from({ length: 8 }, () =>
      ask('refund', person('finance'), { id, m, amount: 30_000_000, reason: 'Broken' }),
    ),
  );
  const refused = done.filter((answer) => answer === 'scope_required');
  assert.equal(refused.length, 5, JSON.stringify(done));
});
