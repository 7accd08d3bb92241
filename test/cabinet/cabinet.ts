/**
 * The cabinet as its users reach it: the real merchants subgraph on a migrated PostgreSQL, asked as
 * operators, cabinet users and keys.
 */
import { randomUUID } from 'node:crypto';
import { parse, type ExecutionResult } from 'graphql';
import type { Bus, BusMessages, BusTopic } from '../../subgraphs/platform/bus/bus.ts';
import { TestClocks } from '../../subgraphs/platform/clock/test-clocks.ts';
import { Policies } from '../../subgraphs/platform/policies/policies.ts';
import { localExecutor } from '../../subgraphs/platform/graph/local-executor.ts';
import {
  scopes,
  type KeyPrincipal,
  type OperatorPrincipal,
  type Principal,
  type Role,
} from '../../subgraphs/platform/access/principal.ts';
import { inTransaction } from '../../subgraphs/platform/database/statement.ts';
import { buildSubgraph } from '../../subgraphs/platform/graph/build-subgraph.ts';
import type { WakeLanes } from '../../subgraphs/merchants/webhooks/deliverer.ts';
import { merchantsSubgraph } from '../../subgraphs/merchants/resolvers.ts';
import {
  log,
  openHarness,
  startTestRelay,
  startWorker,
  writeEvent,
  type Clock,
} from '../webhooks/harness.ts';

/** One of the platform's own operators. */
export const operator = (role: Role = 'admin'): OperatorPrincipal => ({
  kind: 'operator',
  subject: 'person-1',
  role,
  merchantId: null,
});

/** A cabinet user of one merchant. */
export const cabinetUser = (merchantId: string, role: Role = 'admin'): OperatorPrincipal => ({
  kind: 'operator',
  subject: 'user-1',
  role,
  merchantId,
});

export const keyOf = ({ merchantId, shopId }: Fixture): KeyPrincipal => ({
  kind: 'key',
  keyId: '00000000-0000-4000-8000-00000000000a',
  merchantId,
  shopId,
  mode: 'test',
  scopes,
});

export const requestId = 'request-1';

/**
 * Opens a database of the test file's own with the merchants subgraph on it, which goes by `now`.
 */
export const openCabinet = async (now = (): Temporal.Instant => Temporal.Now.instant()) => {
  const harness = await openHarness();
  /** What the subgraph published. */
  const received: {
    readonly topics: [BusTopic, BusMessages[BusTopic]][];
    readonly lanes: string[];
  } = {
    topics: [],
    lanes: [],
  };
  let wake: WakeLanes = () => {};
  const bus: Bus = {
    publish: async (topic, message) => void received.topics.push([topic, message]),
    subscribe: () => () => {},
  };
  const schema = buildSubgraph(
    merchantsSubgraph({
      database: harness.database,
      bus,
      policies: new Policies({ pool: harness.pool, bus, fingerprintKey: harness.vaultKey }),
      publicUrl: 'http://console.test',
      issuer: null,
      vaultKey: harness.vaultKey,
      fingerprintKey: harness.vaultKey,
      privateTargets: () => true,
      clocks: new TestClocks({ pool: harness.pool, bus, now }),
      realNow: now,
      wakeClock: () => {},
      wakeLanes: (lanes) => {
        received.lanes.push(...lanes.map(({ lane }) => lane));
        wake(lanes);
      },
    }),
  );
  const executor = localExecutor(schema, (call) => ({ ...call, now }), log);
  /** Runs a document; gives data and errors. */
  const run = (
    text: string,
    variables: object = {},
    principal: Principal = operator(),
  ): Promise<ExecutionResult> =>
    executor.prepare(parse(text))({ ...variables }, { principal, requestId, isInLane: true });
  /** Runs a document and gives its data; throws on errors. */
  const ask = async (
    text: string,
    variables: object = {},
    principal: Principal = operator(),
  ): Promise<any> => {
    const { data, errors } = await run(text, variables, principal);
    if (errors) throw new Error(JSON.stringify(errors));
    return JSON.parse(JSON.stringify(data));
  };
  /** Passes wake-ups on to a worker. */
  const listen = (received: typeof wake): void => void (wake = received);
  return { harness, schema, received, run, ask, listen, close: harness.close };
};
export type Cabinet = Awaited<ReturnType<typeof openCabinet>>;

/** A cabinet that goes by the clock, whose webhooks a real relay and worker deliver. */
export const openDeliveringCabinet = async (clock: Clock): Promise<Cabinet> => {
  const cabinet = await openCabinet(clock.now);
  const worker = await startWorker(cabinet.harness, clock, {
    deadline_ms: 10_000,
    leaseMargin_ms: 5_000,
  });
  cabinet.listen(worker.wake);
  startTestRelay(cabinet.harness, worker.wake);
  return cabinet;
};

/** One merchant with one of everything. */
export interface Fixture {
  readonly merchantId: string;
  readonly shopId: string;
  readonly endpointId: string;
  readonly keyId: string;
  /** A delivery to the endpoint that has failed for good. */
  readonly deliveryId: string;
}

/**
 * Writes an event of the shop with a failed delivery to the endpoint; gives the delivery's id and
 * the event's bytes.
 */
export const writeFailed = async (
  { harness }: Cabinet,
  { merchantId, shopId, endpointId }: Pick<Fixture, 'merchantId' | 'shopId' | 'endpointId'>,
): Promise<{ readonly deliveryId: string; readonly eventId: string; readonly body: string }> => {
  const deliveryId = randomUUID();
  // In one transaction: a relay that sees the event has nothing to add.
  const written = await inTransaction(harness.pool, async (client) => {
    const event = await writeEvent(client, { merchantId, shopId, secret: '' });
    await client.query(
      `insert into webhook_delivery (merchant_id, id, event_id, webhook_event, shop_id, mode, subject_id, endpoint_id, lane, url, status, attempts, created_at)
       select $1, $2, id, 'payment.succeeded', $4, mode, gen_random_uuid(), $5, $6, 'http://127.0.0.1:1/', 'failed', 9, created_at from event where id = $3`,
      [merchantId, deliveryId, event.eventId, shopId, endpointId, endpointId],
    );
    return event;
  });
  return { deliveryId, ...written };
};

/** Makes a merchant with one of everything, through the cabinet. */
export const makeFixture = async (
  cabinet: Cabinet,
  url = 'http://127.0.0.1:1/hook',
  name = 'Tea & Cakes',
): Promise<Fixture> => {
  const { merchantCreate } = await cabinet.ask(
    'mutation ($name: String!) { merchantCreate(name: $name) { id } }',
    { name },
  );
  const m: string = merchantCreate.id;
  const made = await cabinet.ask(
    'mutation ($m: ID!) { shopCreate(merchantId: $m, name: "Shop") { ... on Shop { id } } }',
    { m },
  );
  const s: string = made.shopCreate.id;
  const rest = await cabinet.ask(
    `mutation ($m: ID!, $s: ID!, $url: String!) {
      webhookEndpointCreate(merchantId: $m, shopId: $s, url: $url) { ... on WebhookEndpointCreated { endpoint { id } } }
      apiKeyIssue(merchantId: $m, shopId: $s, mode: test) { ... on ApiKeyIssued { id } } }`,
    { m, s, url },
  );
  const ids = {
    merchantId: m,
    shopId: s,
    endpointId: String(rest.webhookEndpointCreate.endpoint.id),
    keyId: String(rest.apiKeyIssue.id),
  };
  return { ...ids, deliveryId: (await writeFailed(cabinet, ids)).deliveryId };
};
