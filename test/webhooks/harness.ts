/**
 * What the webhook tests stand on: a migrated PostgreSQL, shops with endpoints, the outbox, and the
 * real relay, queue and workers.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { migrate, openDatabase } from '../../subgraphs/platform/database/orm.ts';
import {
  eventRow,
  insertEvents,
  type OutboxEvent,
} from '../../subgraphs/platform/events/outbox.ts';
import type { Runner } from '../../subgraphs/platform/database/statement.ts';
import { migrateQueues } from '../../subgraphs/platform/queue/queue-stores.ts';
import { openQueues } from '../../subgraphs/platform/queue/queues.ts';
import { joinSweeps } from '../../subgraphs/platform/queue/run-job.ts';
import { type Relay, startRelay } from '../../subgraphs/platform/events/relay.ts';
import type { StreamedEvent, WebhookEvent } from '../../subgraphs/rules/event.ts';
import type { Bus, WebhookLane } from '../../subgraphs/platform/bus/bus.ts';
import { openLog } from '../../subgraphs/platform/tracing/telemetry.ts';
import { seal } from '../../subgraphs/platform/access/keys.ts';
import type { DeliveryLimits } from '../../subgraphs/merchants/webhooks/deliveries.ts';
import type { SignatureFormat } from '../../subgraphs/merchants/webhooks/rules.ts';
import { Deliverer, webhookJobs } from '../../subgraphs/merchants/webhooks/deliverer.ts';
import { entities } from '../../subgraphs/entities.ts';
import { startTestDatabase } from '../support/database.ts';

export const log = openLog(
  { logLevel: process.env['TEST_LOG'] === 'debug' ? 'debug' : 'silent' },
  'test',
);

export interface Shop {
  readonly merchantId: string;
  readonly shopId: string;
  /** The shop-level `whs_` secret. */
  readonly secret: string;
}

export interface Endpoint {
  readonly id: string;
  readonly secret: string;
}

const makeSecret = (): string => `whs_${randomBytes(16).toString('hex')}`;

export type Harness = Awaited<ReturnType<typeof openHarness>>;

/** Opens a database of the test file's own. `vaultKey` seals the secrets in it. */
export const openHarness = async (vaultKey = randomBytes(32)) => {
  const postgres = await startTestDatabase({ migrated: true });
  const database = await openDatabase({
    url: postgres.url,
    entities,
    pool: 30,
  });
  await migrate(database);
  await migrateQueues(postgres.url);
  const { pool } = database;
  const open: (() => Promise<void>)[] = [];

  return {
    database,
    /** What is closed before the database is, also when a test failed before it did so itself. */
    open,
    pool,
    vaultKey,
    addShop: async (merchantId: string = randomUUID()): Promise<Shop> => {
      const shop = { merchantId, shopId: randomUUID(), secret: makeSecret() };
      await pool.query(
        `insert into shop (merchant_id, id, name, terminal_id, terminal_name, webhook_secret_sealed, created_at) values ($1, $2, 'Shop', gen_random_uuid(), 'Shop', $3, now())`,
        [merchantId, shop.shopId, seal(vaultKey, shop.secret)],
      );
      return shop;
    },
    addEndpoint: async (
      shop: Shop,
      url: string,
      events: readonly WebhookEvent[] = [],
      signature: SignatureFormat = 'v2',
    ): Promise<Endpoint> => {
      const endpoint = { id: randomUUID(), secret: makeSecret() };
      await pool.query(
        `insert into webhook_endpoint (merchant_id, id, shop_id, url, events, secret_sealed, signature, active, created_at) values ($1, $2, $3, $4, $5, $6, $7, true, now())`,
        [
          shop.merchantId,
          endpoint.id,
          shop.shopId,
          url,
          events,
          seal(vaultKey, endpoint.secret),
          signature,
        ],
      );
      return endpoint;
    },
    close: async () => {
      await Promise.all(open.map((close) => close()));
      await database.close();
      await postgres.stop();
    },
  };
};

export interface Written {
  readonly eventId: string;
  readonly body: string;
}

/**
 * Writes an event to the outbox as a business transaction does; gives its id and its frozen body.
 */
export const writeEvent = async (
  runner: Runner,
  shop: Shop,
  about: Partial<OutboxEvent['webhook']> & { readonly data?: unknown } = {},
): Promise<Written> => {
  const webhook = {
    event: 'payment.succeeded',
    url: null,
    data: { description: 'Кофе, 100 ₽ "с собой"' },
    ...about,
  } as const;
  const event: OutboxEvent = {
    merchantId: shop.merchantId,
    shopId: shop.shopId,
    mode: 'test',
    subjectId: randomUUID(),
    stream: { kind: 'payment.status_changed', payload: { status: 'succeeded' } },
    webhook,
    at: Temporal.Now.instant(),
  };
  const { rows } = await runner.query<{ id: string; webhook_body: string }>(
    `${insertEvents('$1', 'select 1')} returning id, webhook_body`,
    [JSON.stringify([eventRow(event)])],
  );
  const [row] = rows;
  if (!row) throw new Error('the event was not written');
  return { eventId: row.id, body: row.webhook_body };
};

/** A clock that a test can put forward. */
export class Clock {
  #ahead = Temporal.Duration.from({ seconds: 0 });
  readonly now = (): Temporal.Instant => Temporal.Now.instant().add(this.#ahead);

  advance(duration: Temporal.DurationLike): void {
    this.#ahead = this.#ahead.add(duration);
  }
}

/** Starts a worker: a deliverer and the sweep, as a process with the role `worker` has them. */
export const startWorker = async (
  harness: Harness,
  clock: Clock = new Clock(),
  limits?: DeliveryLimits,
) => {
  const queues = await openQueues({
    redisUrl: null,
    databaseUrl: harness.database.url,
    log,
    jobs: [],
  });
  const { pool } = harness.database;
  const deliverer = new Deliverer({
    pool,
    vaultKey: harness.vaultKey,
    privateTargets: () => true,
    log,
    now: clock.now,
    ...(limits ? { limits } : {}),
  });
  const wake = (lanes: readonly WebhookLane[]): void => deliverer.wake(lanes);
  const own = webhookJobs({ pool, now: clock.now, wake });
  await queues.work(joinSweeps({ pool, now: clock.now, log, queues }, own));
  const close = async (): Promise<void> => {
    await queues.close();
    // What hangs is not waited for: its receiver ends with the test.
    void deliverer.close();
  };
  harness.open.push(close);
  return { wake, close };
};

/** What is known of an event's deliveries and of the queue: the message of a wait that failed. */
export const describeDeliveries = async ({ pool }: Harness, eventId: string): Promise<string> => {
  const { rows } = await pool.query(
    `select now(), (select json_agg(delivery) from webhook_delivery as delivery where event_id = $1) as deliveries,
      (select json_agg(dead_letter) from dead_letter) as dead, (select json_agg(scheduler) from bullmq.scheduler) as schedules,
      (select json_agg(json_build_object('id', id, 'state', state, 'due_ms', process_at_ms)) from bullmq.job) as jobs,
      (select json_agg(json_build_object('query', query, 'state', state, 'waits for', wait_event)) from pg_stat_activity
        where datname = current_database()) as sessions`,
    [eventId],
  );
  return JSON.stringify(rows[0], null, 2);
};

/**
 * Starts a relay that calls `wake` with lanes. What it publishes is in `published`, in order, relay
 * after relay when they share the array.
 */
export const startTestRelay = (
  harness: Harness,
  wake: (lanes: readonly WebhookLane[]) => void,
  published: StreamedEvent[] = [],
): Relay => {
  const relay = startRelay({
    pool: harness.pool,
    bus: new RecordingBus(published),
    log,
    wake,
  });
  harness.open.push(() => relay.stop());
  return relay;
};

/** The relay's side of the bus: it keeps what is published, and sends no hints. */
class RecordingBus implements Bus {
  readonly #published: StreamedEvent[];

  constructor(published: StreamedEvent[]) {
    this.#published = published;
  }

  publish: Bus['publish'] = async (topic, message) => {
    if (topic === 'events' && message !== null && 'events' in message)
      this.#published.push(...message.events);
  };

  subscribe: Bus['subscribe'] = () => () => {};
}
