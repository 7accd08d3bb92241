import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { parse } from 'graphql';
import { pino } from 'pino';
import participants from '../../subgraphs/acquirers/sbp-banks.json' with { type: 'json' };
import type { Bank } from '../../subgraphs/acquirers/bank.ts';
import { localExecutor } from '../../subgraphs/platform/graph/local-executor.ts';
import type { Principal } from '../../subgraphs/platform/access/principal.ts';
import { buildSubgraph } from '../../subgraphs/platform/graph/build-subgraph.ts';
import { payoutsSubgraph } from '../../subgraphs/payouts/resolvers.ts';
import { noPolicies } from '../support/no-policies.ts';
import { openHarness, start, type Harness } from './harness.ts';

let harness: Harness;
before(async () => void (harness = await openHarness()));
after(() => harness.migrated.close());

const admin: Principal = { kind: 'operator', subject: 'person-1', role: 'admin', merchantId: null };
const refresh =
  'mutation { answer: sbpBanksRefresh(connector: "simulator") { ... on SbpBanksRefreshed { named changed } ... on Refused { code message } } }';

/** The subgraph as one process has it, with a bank that answers as `changed` says. */
const open = (changed: Partial<Bank> = {}) => {
  const policies = { current: async () => noPolicies, announce: async () => {}, close: () => {} };
  const parts = {
    ...harness.withBank(changed),
    clocks: { timeOf: () => start },
    policies,
    wakeRelay: () => {},
    wakeSenders: () => {},
  };
  const executor = localExecutor(
    buildSubgraph(payoutsSubgraph(parts)),
    (call) => ({ ...call, now: () => start }),
    pino({ level: 'silent' }),
  );
  return async (document: string, principal: Principal = admin): Promise<any> => {
    const { data, errors } = await executor.prepare(parse(document))(
      {},
      { principal, requestId: 'r', isInLane: true },
    );
    return errors ? { code: errors[0]?.extensions['code'] } : data?.['answer'];
  };
};

test('the directory has every participant, sorted by name; an acquirer’s list adds to it and renames, and the change is in the audit log', async () => {
  const list = [
    { memberId: '100000000111', name: 'Аааа Банк', nameEn: 'Renamed' },
    { memberId: '999999999990', name: 'Яяяя Банк', nameEn: 'New' },
  ];
  const ask = open({ listSbpBanks: async () => list });
  const reading = '{ answer: sbpBanks { memberId name nameEn } }';
  const first: { memberId: string; name: string }[] = await ask(reading);
  assert.ok(participants.length > 150 && first.length === participants.length);
  const collator = new Intl.Collator('ru', { sensitivity: 'base', numeric: true });
  assert.ok(
    first.every(
      ({ name }, place) => place === 0 || collator.compare(first[place - 1]?.name ?? '', name) <= 0,
    ),
  );

  assert.deepEqual({ ...(await ask(refresh)) }, { named: 2, changed: 2 });
  const after: { memberId: string; name: string }[] = await ask(reading);
  assert.equal(after.length, participants.length + 1);
  assert.deepEqual(
    [after.at(0)?.memberId, after.at(-1)?.name.startsWith('Я')],
    ['100000000111', true],
  );
  assert.deepEqual(
    { ...(await ask(refresh)) },
    { named: 2, changed: 0 },
    'the same list changes nothing',
  );
  assert.deepEqual(await open()(reading), after, 'another process reads the same');
  const { rows } = await harness.pool.query(
    "select actor, action, subject_id, after from audit_entry where action = 'sbp_banks.refresh' order by at, id",
  );
  assert.equal(rows.length, 2);
  assert.deepEqual(rows[0], {
    actor: 'person-1',
    action: 'sbp_banks.refresh',
    subject_id: 'simulator',
    after: { named: 2, changed: 2 },
  });
});

test('a list that did not come or cannot be right changes nothing; only the platform’s administrators refresh', async () => {
  const one = { memberId: '100000000111', name: 'X', nameEn: 'X' };
  for (const list of [[], [{ ...one, memberId: '12' }], [{ ...one, name: '' }]])
    assert.equal((await open({ listSbpBanks: async () => list })(refresh)).code, 'router_error');
  assert.equal(
    (await open({ listSbpBanks: () => Promise.reject(new Error('down')) })(refresh)).code,
    'router_error',
  );
  assert.equal(
    (await open()(refresh.replace('"simulator"', '"nobody"'))).code,
    'route_not_configured',
  );
  assert.equal(
    (await open()(refresh, { ...admin, merchantId: start.toString() })).code,
    'forbidden',
  );
  assert.equal((await open()(refresh, { ...admin, role: 'finance' })).code, 'forbidden');
  assert.deepEqual(
    (await harness.pool.query("select 1 from audit_entry where action = 'sbp_banks.refresh'")).rows
      .length,
    2,
  );
});
