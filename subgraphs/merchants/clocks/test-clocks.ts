/**
 * Test clocks in the cabinet: a shop's own time in test mode, to see in seconds what takes months.
 * Links expire, sessions lapse, subscriptions are charged and webhooks retried by it
 * (`kernel/clock/keep-clocks`). Live mode never sees a clock.
 */
import type pg from 'pg';
import { TestClockEntity, type TestClock } from '../../kernel/clock/entities.ts';
import { shownAt, type TestClocks } from '../../kernel/clock/test-clocks.ts';
import { isUuid } from '../../kernel/rules/uuid.ts';
import type { Database } from '../../kernel/database/orm.ts';
import {
  columns,
  propertyNames,
  run,
  type Runner,
  type Statement,
} from '../../kernel/database/statement.ts';
import { isRefused, refused, type Refused } from '../../kernel/rules/refusal.ts';
import type { ShopKey } from '../keys/api-keys.ts';
import { changeWithAudit, type Acting, type Audited } from '../audit.ts';

/** A clock and what it shows now. */
export type ShownClock = TestClock & { readonly now: Temporal.Instant };

export interface ClockVerbs {
  readonly database: Pick<Database, 'pool'>;
  readonly clocks: TestClocks;
  /** The real time. */
  readonly realNow: () => Temporal.Instant;
  /** Wakes the worker: a clock has something due. */
  readonly wakeClock: (shop: ShopKey) => void;
}

/**
 * How far ahead of where it stands a clock can be set at once, and how far from the real time it
 * may be made, in years.
 */
const advance_max_years = 5;
const madeWithin_years = 10;

const shown = `${columns(propertyNames(TestClockEntity))}, ${shownAt('$3')} as now`;
const lockShop: Statement = {
  name: 'test_clock.lock_shop',
  text: 'select 1 from shop where merchant_id = $1 and id = $2 for update',
};
const find: Statement = {
  name: 'test_clock.find',
  text: `select ${shown} from test_clock where merchant_id = $1 and shop_id = $2`,
};
const lock: Statement = { name: 'test_clock.find_locked', text: `${find.text} for update` };
const insert: Statement = {
  name: 'test_clock.insert',
  text: `insert into test_clock (merchant_id, shop_id, clock_at, set_at, frozen, created_at) values ($1, $2, $4, $3, $5, $3)
    on conflict (merchant_id, shop_id) do nothing returning ${shown}`,
};
const update: Statement = {
  name: 'test_clock.update',
  text: `update test_clock set clock_at = $4, set_at = $3, frozen = $5, target_at = $6 where merchant_id = $1 and shop_id = $2 returning ${shown}`,
};
const remove: Statement = {
  name: 'test_clock.remove',
  text: 'delete from test_clock where merchant_id = $1 and shop_id = $2',
};

const noClock = refused('not_found', 'the shop has no test clock');

/** The shop's clock; null when it lives by the real time. */
export const findClock = async (
  runner: Runner,
  { merchantId, shopId }: ShopKey,
  realNow: Temporal.Instant,
): Promise<ShownClock | null> => {
  if (!isUuid(merchantId) || !isUuid(shopId)) return null;
  const [clock] = await run<ShownClock>(runner, find, [merchantId, shopId, realNow]);
  return clock ?? null;
};

const auditState = ({ now, frozen, targetAt }: ShownClock) => ({
  now,
  frozen,
  advancingTo: targetAt,
});

const distant = (from: Temporal.Instant, years: number): Temporal.Instant =>
  from.toZonedDateTimeISO('UTC').add({ years }).toInstant();
const isBefore = (one: Temporal.Instant, other: Temporal.Instant): boolean =>
  Temporal.Instant.compare(one, other) < 0;

/**
 * Gives a shop a clock that shows `at` and stands, or runs from there when it is not `frozen`.
 * Refuses with `not_found`, or with `bad_request` when the shop has one or `at` is more than 10
 * years from now.
 */
export const createClock = async (
  verbs: ClockVerbs,
  acting: Acting,
  { at, frozen, ...shop }: ShopKey & { readonly at: Temporal.Instant; readonly frozen: boolean },
): Promise<ShownClock | Refused> => {
  const real = verbs.realNow();
  if (
    isBefore(at, distant(real, -madeWithin_years)) ||
    isBefore(distant(real, madeWithin_years), at)
  ) {
    return refused(
      'bad_request',
      `at: expected a moment within ${madeWithin_years} years from now, got ${at.toString()}`,
    );
  }
  const created = await change(verbs, acting, { shop, verb: 'create' }, async (client) => {
    if ((await run(client, lockShop, [shop.merchantId, shop.shopId])).length === 0)
      return refused('not_found', 'there is no such shop');
    const [clock] = await run<ShownClock>(client, insert, [
      shop.merchantId,
      shop.shopId,
      real,
      at,
      frozen,
    ]);
    return clock
      ? { before: null, after: auditState(clock), result: clock }
      : refused('bad_request', 'shopId: the shop has a test clock already');
  });
  if (!isRefused(created)) await verbs.clocks.announce();
  return created;
};

const change = async <Result>(
  { database }: ClockVerbs,
  acting: Acting,
  { shop: { merchantId, shopId }, verb }: { readonly shop: ShopKey; readonly verb: string },
  work: (client: pg.PoolClient) => Promise<Audited<Result> | Refused>,
): Promise<Result | Refused> =>
  isUuid(shopId)
    ? changeWithAudit(
        database,
        acting,
        { action: `test_clock.${verb}`, merchantId, subject: { kind: 'shop', id: shopId } },
        work,
      )
    : noClock;

/**
 * Sets a clock that does not advance at the moment; `decide` returns what changes, or refuses.
 */
const set = async (
  verbs: ClockVerbs,
  acting: Acting,
  { shop, verb }: { readonly shop: ShopKey; readonly verb: string },
  decide: (clock: ShownClock) => Partial<Pick<TestClock, 'frozen' | 'targetAt'>> | Refused,
): Promise<ShownClock | Refused> => {
  const changed = await change(verbs, acting, { shop, verb }, async (client) => {
    const key = [shop.merchantId, shop.shopId, verbs.realNow()];
    const [before] = await run<ShownClock>(client, lock, key);
    if (!before) return noClock;
    if (before.targetAt)
      return refused(
        'bad_request',
        `the clock is on its way to ${before.targetAt.toString()}; wait until it has arrived`,
      );
    const decided = decide(before);
    if (isRefused(decided)) return decided;
    const { frozen, targetAt } = { ...before, ...decided };
    const [after = before] = await run<ShownClock>(client, update, [
      ...key,
      before.now,
      frozen,
      targetAt,
    ]);
    return { before: auditState(before), after: auditState(after), result: after };
  });
  if (!isRefused(changed)) verbs.wakeClock(shop);
  return changed;
};

/**
 * Advances a clock. It stops at every moment on the way for which something waits; `advancingTo` is
 * null when it has arrived. Refuses with `not_found`, or with `bad_request` what is not ahead, more
 * than 5 years ahead, or asked for while it is on its way.
 */
export const advanceClock = (
  verbs: ClockVerbs,
  acting: Acting,
  { to, ...shop }: ShopKey & { readonly to: Temporal.Instant },
): Promise<ShownClock | Refused> =>
  set(verbs, acting, { shop, verb: 'advance' }, ({ now }) =>
    isBefore(now, to) && isBefore(to, distant(now, advance_max_years))
      ? { targetAt: to }
      : refused(
          'bad_request',
          `to: expected a moment after ${now.toString()} and within ${advance_max_years} years of it, got ${to.toString()}`,
        ),
  );

/** Stops a clock where it is. Refuses with `not_found`, or with `bad_request` while it advances. */
export const freezeClock = (
  verbs: ClockVerbs,
  acting: Acting,
  shop: ShopKey,
): Promise<ShownClock | Refused> =>
  set(verbs, acting, { shop, verb: 'freeze' }, () => ({ frozen: true }));

/**
 * Lets a clock run from where it stands, as fast as the real one. Refuses with `not_found`, or with
 * `bad_request` while it advances.
 */
export const resumeClock = (
  verbs: ClockVerbs,
  acting: Acting,
  shop: ShopKey,
): Promise<ShownClock | Refused> =>
  set(verbs, acting, { shop, verb: 'resume' }, () => ({ frozen: false }));

/**
 * Returns a shop to the real time; what waits for a later moment waits on. Refuses with
 * `not_found`.
 */
export const removeClock = async (
  verbs: ClockVerbs,
  acting: Acting,
  shop: ShopKey,
): Promise<{ readonly shopId: string } | Refused> => {
  const removed = await change(verbs, acting, { shop, verb: 'remove' }, async (client) => {
    const [before] = await run<ShownClock>(client, lock, [
      shop.merchantId,
      shop.shopId,
      verbs.realNow(),
    ]);
    if (!before) return noClock;
    await run(client, remove, [shop.merchantId, shop.shopId]);
    return { before: auditState(before), after: null, result: { shopId: shop.shopId } };
  });
  if (!isRefused(removed)) await verbs.clocks.announce();
  return removed;
};
