/**
 * What the tests of policies stand on: a migrated PostgreSQL, the bus on it, the policies of two
 * processes, and the two subgraphs that obey and change them.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import assert from 'node:assert/strict';
import { parse } from 'graphql';
import { openBanks } from '../../subgraphs/acquirers/route.ts';
import { openSimulator } from '../../subgraphs/acquirers/simulator/simulator.ts';
import type { Bank } from '../../subgraphs/acquirers/bank.ts';
import { TestClocks } from '../../subgraphs/platform/clock/test-clocks.ts';
import { Policies } from '../../subgraphs/platform/policies/policies.ts';
import { openBus } from '../../subgraphs/platform/queue/bus.ts';
import { localExecutor } from '../../subgraphs/platform/graph/local-executor.ts';
import type { SubgraphExecutor } from '../../subgraphs/platform/graph/subgraph.ts';
import type {
  Call,
  OperatorPrincipal,
  Principal,
  Role,
} from '../../subgraphs/platform/access/principal.ts';
import { buildSubgraph } from '../../subgraphs/platform/graph/build-subgraph.ts';
import { openLog } from '../../subgraphs/platform/tracing/telemetry.ts';
import { merchantsSubgraph } from '../../subgraphs/merchants/resolvers.ts';
import { paymentsSubgraph } from '../../subgraphs/payments/resolvers.ts';
import { startMigratedDatabase } from '../support/migrated.ts';
import { testCustomers } from '../support/customers.ts';

const log = openLog({ logLevel: process.env['TEST_LOG'] === 'debug' ? 'debug' : 'silent' }, 'test');

/** An operator of the platform, or a cabinet user of a merchant. */
export const operator = (role: Role, merchantId: string | null = null): OperatorPrincipal => ({
  kind: 'operator',
  subject: `${role}@example.com`,
  role,
  merchantId,
});

export const finance = operator('finance');
export const admin = operator('admin');

const quiet = {
  issuer: null,
  openings: { note: () => {} },
  wakeClock: () => {},
  wakeRelay: () => {},
  askLater: () => {},
  askNoMore: () => {},
  sendRefundLater: () => {},
  wakeLanes: () => {},
};

/**
 * Asks a subgraph; gives the first field of the answer, or the first error as `{ error, message
 * }`.
 */
const askOf =
  (executors: Readonly<Record<'merchants' | 'payments', SubgraphExecutor>>) =>
  async (
    subgraph: 'merchants' | 'payments',
    principal: Principal,
    document: string,
    variables: Record<string, unknown> = {},
  ): Promise<any> => {
    const { data, errors } = await executors[subgraph].prepare(parse(document))(variables, {
      principal,
      requestId: randomUUID(),
      isInLane: true,
    });
    const [error] = errors ?? [];
    return error
      ? { error: error.extensions?.['code'], message: error.message }
      : Object.values(data ?? {})[0];
  };

export type Harness = Awaited<ReturnType<typeof openHarness>>;

/** Opens the harness. `connectors` serve live mode. */
export const openHarness = async (connectors: (simulator: Bank) => readonly Bank[] = () => []) => {
  const migrated = await startMigratedDatabase();
  const { database, merchant } = migrated;
  const fingerprintKey = randomBytes(32);
  const bus = await openBus({ redisUrl: null, databaseUrl: database.url, log });
  const farBus = await openBus({ redisUrl: null, databaseUrl: database.url, log });
  const policies = new Policies({ pool: database.pool, bus, fingerprintKey });
  /** Those of another process: the payments subgraph's. */
  const farPolicies = new Policies({ pool: database.pool, bus: farBus, fingerprintKey });
  const simulator = openSimulator(database);
  const banks = openBanks(simulator, database.pool, connectors(simulator));
  let now = Temporal.Instant.from('2026-11-21T10:00:00Z');
  const realNow = (): Temporal.Instant => now;
  const contextOf = (call: Call) => ({ ...call, now: realNow });
  const clocks = new TestClocks({ pool: database.pool, bus, now: realNow });
  const shared = {
    publicUrl: 'https://pay.example',
    database,
    privateTargets: () => true,
    clocks,
    ...quiet,
  };
  const merchantsParts = {
    ...shared,
    bus,
    policies,
    fingerprintKey,
    vaultKey: randomBytes(32),
    realNow,
  };
  const paymentsParts = {
    ...shared,
    banks,
    policies: farPolicies,
    customers: testCustomers,
    pageSecret: randomBytes(32),
  };
  const executors = {
    merchants: localExecutor(buildSubgraph(merchantsSubgraph(merchantsParts)), contextOf, log),
    payments: localExecutor(buildSubgraph(paymentsSubgraph(paymentsParts)), contextOf, log),
  };
  return {
    database,
    banks,
    policies,
    farPolicies,
    merchant,
    ask: askOf(executors),
    now: realNow,
    /** Moves the clock on. */
    pass: (duration: Temporal.DurationLike): void => void (now = now.add(duration)),
    /** Rows of a query, as plain values. */
    rows: async (text: string, values: unknown[] = []): Promise<any[]> =>
      (await database.pool.query(text, values)).rows,
    close: async (): Promise<void> => {
      policies.close();
      farPolicies.close();
      await bus.close();
      await farBus.close();
      await migrated.close();
    },
  };
};

/** Asserts that a page's nodes hold these values of a field, in this order. */
export const holds = (page: any, field: string, values: readonly unknown[]): void =>
  assert.deepEqual(page.nodes?.map((node: any) => node[field]) ?? page, values);
