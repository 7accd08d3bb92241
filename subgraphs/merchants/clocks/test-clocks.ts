/**
 * Test clocks in the cabinet: a shop's own time in test mode, which shows months of activity in
 * seconds. Links, sessions, subscriptions and webhook retries follow the clock
 * (`platform/clock/keep-clocks`). Live mode never uses a clock.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import type {
  MutationResolvers,
  MutationtestClockAdvanceArgs,
  MutationtestClockCreateArgs,
  QueryResolvers,
} from '../../../schema/generated/merchants.ts';
import { merchantOf, asType, byVerb, refusal } from '../../platform/access/access.ts';
import type { KeyPrincipal } from '../../platform/access/principal.ts';
import type { Bus } from '../../platform/bus/bus.ts';
import {
  TestClockEntity,
  type TestClock,
  type TestClocks,
} from '../../platform/clock/test-clocks.ts';
import { forUpdate } from '../../platform/database/orm-connections.ts';
import type { OnDatabase } from '../../platform/database/orm.ts';
import type { AuditVerb } from '../../rules/audit-action.ts';
import { isUuid } from '../../rules/ids.ts';
import { isRefusal, refuse, type Refusal } from '../../rules/refusal.ts';
import {
  changeEntities,
  changing,
  type Acting,
  type EntryNotes,
} from '../../platform/database/audit.ts';
import { ShopEntity } from '../../platform/database/entities.ts';
import type { ShopKey } from '../keys/api-keys.ts';
import { followClock, followRealTime } from '../webhooks/clock-participant.ts';

/** A clock and what it shows now. */
type ShownClock = TestClock & {
  readonly now: Temporal.Instant;
  readonly advancingTo: Temporal.Instant | null;
};

export interface ClockVerbs extends OnDatabase<'emOf'> {
  readonly clocks: TestClocks;
  /** Notified when the time of a shop's keys changes. */
  readonly bus: Pick<Bus, 'publish'>;
  /** The real time. */
  readonly realNow: () => Temporal.Instant;
  /** Wakes the worker: a clock has something due. */
  readonly wakeClock: (shop: ShopKey) => void;
}

/** Limits in years: one advance of a clock, and the distance of a new clock from the real time. */
const advance_max_years = 5;
const madeWithin_years = 10;

const noClock = refuse('not_found', 'the shop has no test clock');

/** A moment as the database keeps it. */
const inMilliseconds = (moment: Temporal.Instant): Temporal.Instant =>
  Temporal.Instant.fromEpochMilliseconds(moment.epochMilliseconds);

/** A clock with what it shows at the real moment `real`. */
const shownAt = (clock: TestClock, real: Temporal.Instant): ShownClock => {
  const { clockAt, setAt, frozen, targetAt } = clock;
  const now = frozen || targetAt ? clockAt : clockAt.add(setAt.until(real));
  return { ...clock, now, advancingTo: targetAt };
};

/** The shop's clock; null when it uses the real time. */
const findClock = async (
  em: EntityManager,
  { merchantId, shopId }: ShopKey,
  realNow: Temporal.Instant,
): Promise<ShownClock | null> => {
  if (!isUuid(merchantId) || !isUuid(shopId)) return null;
  const key = { merchantId, shopId };
  const clock = await em.findOne(TestClockEntity, key, { disableIdentityMap: true });
  return clock && shownAt(clock, inMilliseconds(realNow));
};

const distant = (from: Temporal.Instant, years: number): Temporal.Instant =>
  from.toZonedDateTimeISO('UTC').add({ years }).toInstant();
const isBefore = (one: Temporal.Instant, other: Temporal.Instant): boolean =>
  Temporal.Instant.compare(one, other) < 0;

/**
 * Creates a clock for a shop. It shows `at` and is stopped when `frozen`, or runs from there.
 * Refuses with `not_found`, or with `bad_request` when the shop has one or `at` is more than 10
 * years from now.
 */
const createClock = async (
  verbs: ClockVerbs,
  acting: Acting,
  { at, frozen, ...shop }: Required<MutationtestClockCreateArgs>,
): Promise<ShownClock | Refusal> => {
  const real = inMilliseconds(verbs.realNow());
  if (
    isBefore(at, distant(real, -madeWithin_years)) ||
    isBefore(distant(real, madeWithin_years), at)
  ) {
    return refuse(
      'bad_request',
      `at: expected a moment within ${madeWithin_years} years from now, got ${at.toString()}`,
    );
  }
  const { merchantId, shopId } = shop;
  const create = changing(ShopEntity, { merchantId, id: shopId }, 'shop', async (_, em) => {
    if (await em.findOne(TestClockEntity, { merchantId, shopId }, forUpdate))
      return refuse('bad_request', 'shopId: the shop already has a test clock');
    const clockAt = inMilliseconds(at);
    const made = { clockAt, setAt: real, frozen, targetAt: null, createdAt: real };
    await followClock(em, shop);
    return em.create(TestClockEntity, { merchantId, shopId, ...made });
  });
  const created = await change(verbs, acting, { shop, verb: 'create' }, create);
  if (isRefusal(created)) return created;
  await announce(verbs, shop);
  return shownAt(created, real);
};

/** The work under the new time is done first; then the keys see the new time. */
const announce = async ({ clocks, bus }: ClockVerbs, { merchantId }: ShopKey): Promise<void> => {
  await clocks.announce();
  await bus.publish('keys', { merchantId });
};

const change = async <Result extends object>(
  { database }: ClockVerbs,
  acting: Acting,
  {
    shop: { merchantId, shopId },
    verb,
  }: { readonly shop: ShopKey; readonly verb: AuditVerb<'test_clock'> },
  work: (em: EntityManager, notes: EntryNotes) => Promise<Result | Refusal>,
): Promise<Result | Refusal> =>
  isUuid(shopId)
    ? changeEntities(
        database,
        acting,
        { action: `test_clock.${verb}`, merchantId, id: shopId, kind: 'shop' },
        work,
      )
    : noClock;

/** Locks a clock for a change. The audit entry shows the displayed time, not the stored columns. */
const lockClock = async (
  em: EntityManager,
  notes: EntryNotes,
  { merchantId, shopId }: ShopKey,
  real: Temporal.Instant,
) => {
  const clock = await em.findOne(TestClockEntity, { merchantId, shopId }, forUpdate);
  if (!clock) return null;
  const before = shownAt(clock, real);
  notes.before = { now: before.now, frozen: before.frozen, advancingTo: before.targetAt };
  return { clock, before };
};

/**
 * Changes a clock that is not advancing; `decide` returns the changes, or refuses. Refuses with
 * `not_found`, or with `bad_request` while it advances.
 */
const set = async (
  verbs: ClockVerbs,
  acting: Acting,
  { shop, verb }: { readonly shop: ShopKey; readonly verb: AuditVerb<'test_clock'> },
  decide: (clock: ShownClock) => Partial<Pick<TestClock, 'frozen' | 'targetAt'>> | Refusal,
): Promise<ShownClock | Refusal> => {
  const real = inMilliseconds(verbs.realNow());
  const changed = await change(verbs, acting, { shop, verb }, async (em, notes) => {
    const found = await lockClock(em, notes, shop, real);
    if (!found) return noClock;
    const { clock, before } = found;
    if (before.targetAt)
      return refuse(
        'bad_request',
        `the clock is advancing to ${before.targetAt.toString()}; wait until it arrives`,
      );
    const decided = decide(before);
    if (isRefusal(decided)) return decided;
    return em.assign(clock, { clockAt: before.now, setAt: real, ...decided });
  });
  if (isRefusal(changed)) return changed;
  verbs.wakeClock(shop);
  return shownAt(changed, real);
};

/**
 * Advances a clock. It stops at each moment with something due; `advancingTo` is null once it has
 * arrived. Refuses with `not_found`, or with `bad_request` a moment that is not ahead or more than
 * 5 years ahead, and a clock that is already advancing.
 */
const advanceClock = (
  verbs: ClockVerbs,
  acting: Acting,
  { to, ...shop }: MutationtestClockAdvanceArgs,
): Promise<ShownClock | Refusal> =>
  set(verbs, acting, { shop, verb: 'advance' }, ({ now }) =>
    isBefore(now, to) && isBefore(to, distant(now, advance_max_years))
      ? { targetAt: inMilliseconds(to) }
      : refuse(
          'bad_request',
          `to: expected a moment after ${now.toString()} and within ${advance_max_years} years of it, got ${to.toString()}`,
        ),
  );

/** Stops a clock, or starts it at the speed of real time. Refuses as `set` does. */
const switchClock = (
  verbs: ClockVerbs,
  acting: Acting,
  shop: ShopKey,
  frozen: boolean,
): Promise<ShownClock | Refusal> =>
  set(verbs, acting, { shop, verb: frozen ? 'freeze' : 'resume' }, () => ({ frozen }));

/**
 * Returns a shop to the real time; work due at a later moment keeps that moment. Refuses with
 * `not_found`.
 */
const removeClock = async (
  verbs: ClockVerbs,
  acting: Acting,
  shop: ShopKey,
): Promise<{ readonly shopId: string } | Refusal> => {
  const removed = await change(verbs, acting, { shop, verb: 'remove' }, async (em, notes) => {
    const found = await lockClock(em, notes, shop, inMilliseconds(verbs.realNow()));
    if (!found) return noClock;
    // The clock's row is locked, so retries that were stored under it are visible here.
    await followRealTime(em, shop);
    em.remove(found.clock);
    return { shopId: shop.shopId };
  });
  if (!isRefusal(removed)) await announce(verbs, shop);
  return removed;
};

// GraphQL resolvers for test clocks.

const unnamed = (): never => {
  throw refusal('bad_request', 'shopId: required');
};

/** The shop of a key that reads its clock; null where it may not. */
const ofKey = ({ mode, shopId }: KeyPrincipal, named: string | null | undefined): string | null =>
  mode === 'test' && (named ?? shopId) === shopId ? shopId : null;

export const clockQueries = ({ database, realNow }: ClockVerbs): QueryResolvers => ({
  testClock: async (_, { merchantId, shopId }, context) => {
    const { principal } = context;
    const asked = principal.kind === 'key' ? ofKey(principal, shopId) : (shopId ?? unnamed());
    if (asked === null) return null;
    const shop = { merchantId: merchantOf(principal, merchantId), shopId: asked };
    return findClock(database.emOf(context), shop, realNow());
  },
});

/** The mutations of test clocks. Each writes an audit entry. */
export const clockMutations = (verbs: ClockVerbs): MutationResolvers => ({
  testClockCreate: byVerb('TestClock', createClock, verbs),
  testClockAdvance: byVerb('TestClock', advanceClock, verbs),
  testClockFreeze: async (_, shop, context) =>
    asType('TestClock', await switchClock(verbs, context, shop, true)),
  testClockResume: async (_, shop, context) =>
    asType('TestClock', await switchClock(verbs, context, shop, false)),
  testClockRemove: byVerb('TestClockRemoved', removeClock, verbs),
});
