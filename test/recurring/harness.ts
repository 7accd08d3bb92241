/**
 * What the tests of tokens stand on: a migrated PostgreSQL, the payments subgraph as recurring
 * billing asks it, a clock that the test moves.
 */
import { randomBytes } from 'node:crypto';
import assert from 'node:assert/strict';
import type { Bank } from '../../subgraphs/acquirers/bank.ts';
import { openBanks } from '../../subgraphs/acquirers/route.ts';
import { openSimulator } from '../../subgraphs/acquirers/simulator/simulator.ts';
import { readBalances } from '../../subgraphs/ledger/balance.ts';
import type { PolicyLists } from '../../subgraphs/platform/policies/policies.ts';
import { noPolicies } from '../support/no-policies.ts';
import { isRefusal } from '../../subgraphs/rules/refusal.ts';
import { localExecutor } from '../../subgraphs/platform/graph/local-executor.ts';
import type { KeyPrincipal } from '../../subgraphs/platform/access/principal.ts';
import { buildSubgraph } from '../../subgraphs/platform/graph/build-subgraph.ts';
import { openLog } from '../../subgraphs/platform/tracing/telemetry.ts';
import { pageOfLedger } from '../../subgraphs/merchants/ledger/read-ledger.ts';
import { askBank } from '../../subgraphs/payments/bank-answers/ask-bank.ts';
import { confirmSimulator } from '../../subgraphs/payments/checkout/prepare-checkout.ts';
import { openSession } from '../../subgraphs/payments/checkout/open-session.ts';
import { openPageOpenings } from '../../subgraphs/payments/checkout/page-openings.ts';
import { openShownPayments } from '../../subgraphs/payments/parts.ts';
import { paymentsSubgraph } from '../../subgraphs/payments/resolvers.ts';
import { openPayments } from '../../subgraphs/recurring/ask-payments.ts';
import { createToken } from '../../subgraphs/recurring/tokens/bind-token.ts';
import { chargeToken } from '../../subgraphs/recurring/tokens/charge-token.ts';
import type { Token } from '../../subgraphs/recurring/entities.ts';
import { loadTokens } from '../../subgraphs/recurring/find-recurring.ts';
import {
  consumePayments,
  type OnPaymentsMoved,
} from '../../subgraphs/recurring/consume-payments.ts';
import type { TokenInput } from '../../subgraphs/recurring/rules/token.ts';
import { settleTokens } from '../../subgraphs/recurring/payment-listeners.ts';
import { startMigratedDatabase } from '../support/migrated.ts';
import { granted } from '../support/granted.ts';
import { testCustomers } from '../support/customers.ts';

export const log = openLog(
  { logLevel: process.env['TEST_LOG'] === 'debug' ? 'debug' : 'silent' },
  'test',
);

const card = { number: '4111111111111111', expiry: '12/30', cvc: '123', holder: 'A B' };

/** What a call was refused with; fails when it was not. */
export const refusedWith = (result: object): string =>
  isRefusal(result) ? result.code : assert.fail('it was not refused');

/** The clock of a harness. */
interface Clock {
  now: Temporal.Instant;
}

type Fixture = Awaited<ReturnType<typeof openFixture>>;

/** The database with payments on it, asked as recurring billing asks. */
const openFixture = async (
  clock: Clock,
  connectors: (simulator: Bank) => readonly Bank[],
  lists: PolicyLists,
) => {
  const migrated = await startMigratedDatabase();
  const { database } = migrated;
  const simulator = openSimulator(database);
  const banks = openBanks(simulator, database.pool, connectors(simulator));
  const now = (): Temporal.Instant => clock.now;
  const quiet = {
    openings: openPageOpenings(database.pool),
    privateTargets: () => true,
    wakeRelay: () => {},
    askLater: () => {},
    askNoMore: () => {},
    sendRefundLater: () => {},
  };
  const policies = { current: async () => lists, announce: async () => {}, close: () => {} };
  const pages = { publicUrl: 'https://pay.example', pageSecret: randomBytes(32) };
  const subgraph = paymentsSubgraph({
    database,
    banks,
    policies,
    clocks: { timeOf: now, stands: async () => false },
    customers: testCustomers,
    ...pages,
    ...quiet,
  });
  const executor = localExecutor(buildSubgraph(subgraph), (call) => ({ ...call, now }), log);
  const payments = openPayments(executor);
  return {
    ...migrated,
    banks,
    lists,
    executor,
    payments,
    parts: { database, customers: testCustomers, payments },
  };
};

const bindingOf = ({ merchantId, bindingPaymentId }: Token) => ({
  merchantId,
  paymentId: bindingPaymentId ?? assert.fail('it has no binding'),
});

/** The buyer continues to the bank, and confirms there. */
const payAt = async (
  { database, banks, lists }: Fixture,
  clock: Clock,
  token: Token,
  approve: boolean,
) => {
  const key = bindingOf(token);
  const pageUrl = 'https://pay.example/p';
  granted(
    await openSession(database, banks, lists, {
      key,
      card: token.method === 'cards' ? card : null,
      pageUrl,
      now: clock.now,
    }),
  );
  if (token.mode === 'test')
    return granted(
      await confirmSimulator(
        { database, banks, shown: openShownPayments() },
        key,
        { approve, coded: true },
        clock.now,
      ),
    );
  // A live buyer confirms by himself, a moment later.
  clock.now = clock.now.add({ seconds: 5 });
  return granted(await askBank(database, banks, key, clock.now));
};

/** Numbers the events as the relay does, without sending them on. */
const numberEvents = ({ database: { pool } }: Fixture) =>
  pool.query(`update event set sequence = numbered.sequence from (select merchant_id, id, nextval('event_sequence_seq') as sequence
    from (select merchant_id, id from event where sequence is null order by position) as oldest) as numbered
    where event.merchant_id = numbered.merchant_id and event.id = numbered.id`);

/** The merchant's balance and available money, and the rows of its ledger, oldest first. */
const readBooks = async ({ database: { pool } }: Fixture, key: KeyPrincipal) => {
  const [row] = await readBalances(pool, key.merchantId, key.mode, 'RUB');
  const page = granted(await pageOfLedger(pool, key, { first: 200, columns: {} }));
  const ledger = page.nodes.toReversed().map(({ type, amount }) => `${type} ${amount}`);
  return { balance: row?.balance ?? 0n, available: row?.available ?? 0n, ledger };
};

export type Harness = Awaited<ReturnType<typeof openHarness>>;

/** Opens the harness. `connectors` serve live mode; `lists` are the operator's. */
export const openHarness = async (
  connectors: (simulator: Bank) => readonly Bank[] = () => [],
  lists: PolicyLists = noPolicies,
) => {
  const clock: Clock = { now: Temporal.Instant.from('2026-11-21T10:00:00Z') };
  const fixture = await openFixture(clock, connectors, lists);
  const { parts, payments } = fixture;
  const { pool } = fixture.database;
  const call = () => ({ now: clock.now, requestId: 'test' });
  const claim = (key: string | undefined) => (key === undefined ? null : { key });
  const create = (key: KeyPrincipal, input: TokenInput, idempotency?: string) =>
    createToken(parts, key, { input, idempotency: claim(idempotency) }, call());
  const read = async ({ merchantId, id }: Token): Promise<Token> =>
    (await loadTokens(pool, [{ merchantId, id }]))[0] ?? assert.fail('the token is gone');
  const pay = (token: Token, approve = true) => payAt(fixture, clock, token, approve);
  const follow = async (
    listeners: readonly OnPaymentsMoved[] = [settleTokens],
  ): Promise<number> => {
    await numberEvents(fixture);
    return consumePayments({ pool, payments, listeners, now: () => clock.now, log });
  };
  return {
    ...fixture,
    call,
    create,
    read,
    pay,
    follow,
    keyOf: bindingOf,
    number: () => numberEvents(fixture),
    books: (key: KeyPrincipal) => readBooks(fixture, key),
    /** Moves the clock; gives the moment. */
    pass: (time: Temporal.DurationLike): Temporal.Instant => (clock.now = clock.now.add(time)),
    /** A token that may be charged. */
    active: async (key: KeyPrincipal, input: Partial<TokenInput> = {}): Promise<Token> => {
      const { token } = granted(await create(key, { customerRef: 'c-1', ...input }));
      await pay(token);
      while ((await follow()) > 0);
      const bound = await read(token);
      assert.equal(bound.status, 'active');
      return bound;
    },
    charge: (key: KeyPrincipal, token: Token, amount: bigint, idempotency?: string) =>
      chargeToken(
        parts,
        key,
        {
          tokenId: token.id,
          amount,
          orderId: null,
          description: null,
          idempotency: claim(idempotency),
        },
        call(),
      ),
  };
};
