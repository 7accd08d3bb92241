/**
 * The time for each caller: time is an argument, and a shop in test mode may have its own clock
 * (docs/architecture.md#time). The list of merchants with clocks is in memory, so that other
 * merchants' calls do not query the database; a clock's time is read on each use, because another
 * process may have just advanced it.
 */
import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import type { Mode } from '../../rules/mode.ts';
import { outsideOfLane } from '../access/lane.ts';
import type { Call } from '../access/principal.ts';
import type { Bus } from '../bus/bus.ts';
import { instant } from '../database/instant.ts';
import { run, type Runner, type Statement, type Row } from '../database/statement.ts';
import type { SubgraphContext } from '../graph/subgraph.ts';

/** Something of a merchant whose time is asked for. */
type Timed =
  | {
      readonly kind: 'shop';
      readonly merchantId: string;
      readonly shopId: string;
      readonly mode: Mode;
    }
  | {
      readonly kind: 'payment' | 'refund' | 'payout' | 'subscription';
      readonly merchantId: string;
      readonly id: string;
    };

interface TestClocksDeps {
  readonly pool: Runner;
  readonly bus: Bus;
  /** The real time. */
  readonly now: () => Temporal.Instant;
}

/**
 * Beyond this age the list of merchants with clocks is read again in the background; beyond
 * `stale_max_ms` the work waits for it. A message on the bus makes both prompt.
 */
const kept_max_ms = 500;
const stale_max_ms = 1_000;

/**
 * SQL: what a clock shows at the real moment in the parameter. It stands while it is frozen and on
 * its way.
 */
export const shownAt = (parameter: string): string =>
  `case when test_clock.frozen or test_clock.target_at is not null then test_clock.clock_at else test_clock.clock_at + (${parameter}::timestamptz - test_clock.set_at) end`;

const standing = `(test_clock.frozen or test_clock.target_at is not null) as stands`;

const owners: Statement = {
  name: 'test_clock.owners',
  text: 'select distinct merchant_id as "merchantId" from test_clock',
};
const ofShop: Statement = {
  name: 'test_clock.of_shop',
  text: `select ${shownAt('$3')} as at, ${standing}, target_at as "targetAt" from test_clock where merchant_id = $1 and shop_id = $2`,
};
const ofRow = (table: string): Statement => ({
  name: `test_clock.of_${table}`,
  text: `select ${shownAt('$3')} as at, ${standing} from ${table} as timed
    join test_clock on test_clock.merchant_id = $1 and test_clock.shop_id = timed.shop_id
    where timed.merchant_id = $1 and timed.id = $2 and timed.mode = 'test'`,
});
const ofRows = {
  payment: ofRow('payment'),
  refund: ofRow('refund'),
  payout: ofRow('payout'),
  subscription: ofRow('subscription'),
};

interface Shown {
  readonly at: Temporal.Instant;
  readonly stands: boolean;
}

/** What a shop's clock shows at a real moment, and where it is advancing to; null without a clock. */
export const findClock = async (
  runner: Runner,
  { merchantId, shopId }: Pick<TestClock, 'merchantId' | 'shopId'>,
  real: Temporal.Instant,
): Promise<(Shown & Pick<TestClock, 'targetAt'>) | null> => {
  type Found = Shown & Pick<TestClock, 'targetAt'>;
  return (await run<Found>(runner, ofShop, [merchantId, shopId, real]))[0] ?? null;
};

/**
 * What a shop's clock shows at a real moment; that moment itself when the shop has no clock any
 * more.
 */
export const shownTo = async (
  runner: Runner,
  shop: Pick<TestClock, 'merchantId' | 'shopId'>,
  real: Temporal.Instant,
): Promise<Temporal.Instant> => (await findClock(runner, shop, real))?.at ?? real;

/** The clocks as this process knows them. Nothing is read until a time is asked for. */
export class TestClocks {
  readonly #pool: Runner;
  readonly #bus: Bus;
  readonly #now: () => Temporal.Instant;
  readonly close: () => void;
  #owners: ReadonlySet<string> = new Set();
  /** When the list was last asked for, by performance.now(), which asking that was, and its end. */
  #askedAt_ms = -Infinity;
  #asked = 0;
  /** The generation of the list, and the minimum generation since a clock was made or removed. */
  #ownersOf = 0;
  #neededOf = 1;
  #asking: Promise<void> = Promise.resolve();

  constructor({ pool, bus, now }: TestClocksDeps) {
    this.#pool = pool;
    this.#bus = bus;
    this.#now = now;
    this.close = bus.subscribe('clocks', () => this.#forget());
  }

  /**
   * The moment it is for something: its shop's clock in test mode, else the real time. A promise
   * only for merchants that have a clock.
   */
  timeOf(timed: Timed): Temporal.Instant | Promise<Temporal.Instant> {
    if (timed.kind === 'shop' && timed.mode === 'live') return this.#now();
    const age_ms = performance.now() - this.#askedAt_ms;
    if (age_ms > kept_max_ms) this.#ask();
    // Each call waits for one reading at most, however often clocks are made meanwhile.
    if (age_ms > stale_max_ms || this.#isOutdated)
      return this.#asking.then(() => this.#timeOf(timed));
    return this.#timeOf(timed);
  }

  /** Whether that time stands: the shop's clock is frozen, or on its way to another moment. */
  async stands(timed: Timed): Promise<boolean> {
    if (this.#isOutdated) await this.timeOf(timed);
    if (!this.#owners.has(timed.merchantId)) return false;
    return (await this.#find(timed, this.#now()))?.stands ?? false;
  }

  /** Notifies every process that a clock was made or removed. Called after the commit. */
  announce(): Promise<void> {
    // The process that changed a clock answers by it from now on.
    this.#forget();
    return this.#bus.publish('clocks', null);
  }

  /** Until the list is read again, the previous one answers no call. */
  #forget(): void {
    this.#askedAt_ms = -Infinity;
    this.#neededOf = this.#asked + 1;
  }

  get #isOutdated(): boolean {
    return this.#ownersOf < this.#neededOf;
  }

  #ask(): void {
    this.#askedAt_ms = performance.now();
    this.#asked += 1;
    // The list is shared by all callers, so it waits for no caller's turn.
    this.#asking = outsideOfLane(() => this.#read(this.#asked));
    // The callers that wait for the list get the error; the next call reads it again.
    this.#asking.catch(() => this.#forget());
  }

  async #read(asked: number): Promise<void> {
    const rows = await run<{ merchantId: string }>(this.#pool, owners, []);
    // An older query that ends later sets nothing.
    if (asked < this.#ownersOf) return;
    this.#owners = new Set(rows.map(({ merchantId }) => merchantId));
    this.#ownersOf = asked;
  }

  #timeOf(timed: Timed): Temporal.Instant | Promise<Temporal.Instant> {
    return this.#owners.has(timed.merchantId) ? this.#shown(timed) : this.#now();
  }

  async #shown(timed: Timed): Promise<Temporal.Instant> {
    const real = this.#now();
    return (await this.#find(timed, real))?.at ?? real;
  }

  /** What the shop's clock shows; undefined when it has none. */
  async #find(timed: Timed, real: Temporal.Instant): Promise<Shown | undefined> {
    const [statement, id] =
      timed.kind === 'shop' ? [ofShop, timed.shopId] : [ofRows[timed.kind], timed.id];
    const [row] = await run<Shown>(this.#pool, statement, [timed.merchantId, id, real]);
    return row;
  }
}

/** The real time, as the parts of a process are given it. */
export const realNow = (): Temporal.Instant => Temporal.Now.instant();

/** Opens the contexts of calls, at the caller's time; `now` is the real time. */
export const openContextOf =
  ({ clocks, now }: { readonly clocks: TestClocks; readonly now: () => Temporal.Instant }) =>
  (call: Call): SubgraphContext | Promise<SubgraphContext> => {
    const time = timeOfCaller(clocks, call);
    if (!(time instanceof Promise)) return { ...call, now };
    return time.then((at) => ({ ...call, now: () => at }));
  };

/** The caller's time; null: the real time. */
const timeOfCaller = (
  clocks: TestClocks,
  { principal }: Call,
): Temporal.Instant | Promise<Temporal.Instant> | null => {
  switch (principal.kind) {
    case 'key':
      return clocks.timeOf({ ...principal, kind: 'shop' });
    case 'buyer':
      return clocks.timeOf({ ...principal, kind: 'payment', id: principal.paymentId });
    case 'operator':
    case 'edge':
    case 'service':
      return null;
  }
};

// A small table; live mode never reads it.

export const TestClockEntity = defineEntity({
  name: 'TestClock',
  tableName: 'test_clock',
  properties: {
    merchantId: p.uuid().primary(),
    shopId: p.uuid().primary(),
    /** What the clock showed at the real moment `setAt`. It shows it still while it stands. */
    clockAt: instant().groups('audit').serializedName('now'),
    setAt: instant(),
    frozen: p.boolean().groups('audit'),
    /** Where it is advancing to. It stands at every moment on the way for which something waits. */
    targetAt: instant().strictNullable().groups('audit').serializedName('advancingTo'),
    createdAt: instant(),
  },
});
export type TestClock = Row<InferEntity<typeof TestClockEntity>>;

export const clockEntities = [TestClockEntity];
