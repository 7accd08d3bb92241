import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import fc from 'fast-check';
import {
  dateOf,
  datesFrom,
  firstIndexAfter,
  schedulePeriods,
  type Schedule,
  type SchedulePeriod,
} from '../../subgraphs/recurring/rules/schedule.ts';
import {
  activated,
  begun,
  settled,
  type Standing,
  type StandingPatch,
  type ChargeEnd,
} from '../../subgraphs/recurring/rules/subscription.ts';
import { searching } from '../fuzz/cases.ts';
import { size } from '../support/size.ts';

const awkward = [
  '2024-02-29T00:00:00Z',
  '2028-02-29T23:59:59.999Z',
  '2027-01-31T12:00:00Z',
  '2026-08-31T00:00:00.001Z',
  '2026-12-31T23:00:00Z',
  '2027-01-30T06:00:00Z',
];
const anchor = fc.oneof(
  fc.constantFrom(...awkward).map((text) => Temporal.Instant.from(text)),
  fc
    .integer({ min: Date.UTC(2020, 0, 1), max: Date.UTC(2035, 11, 31) })
    .map((ms) => Temporal.Instant.fromEpochMilliseconds(ms)),
);
const schedule: fc.Arbitrary<Schedule> = fc.record({
  anchor,
  period: fc.constantFrom(...schedulePeriods),
  intervalCount: fc.oneof(
    { weight: 5, arbitrary: fc.integer({ min: 1, max: 14 }) },
    { weight: 1, arbitrary: fc.integer({ min: 15, max: 400 }) },
  ),
});

const holds = (t: TestContext, property: fc.IProperty<any>, cases: number): void =>
  fc.assert(property, searching(t, size(cases / 2, cases)));

/**
 * The n-th date by the calendar of `Date`, from the contract alone: the month's last day where the
 * day does not exist.
 */
const dateByHand = (from: Date, period: SchedulePeriod, count: number): number => {
  const months = { day: 0, week: 0, month: count, year: count * 12 }[period];
  const days = { day: count, week: count * 7, month: 0, year: 0 }[period];
  const firstOfMonth = new Date(Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + months, 1));
  const [year, month] = [firstOfMonth.getUTCFullYear(), firstOfMonth.getUTCMonth()];
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  const day = months === 0 ? from.getUTCDate() + days : Math.min(from.getUTCDate(), lastDay);
  return Date.UTC(
    year,
    month,
    day,
    from.getUTCHours(),
    from.getUTCMinutes(),
    from.getUTCSeconds(),
    from.getUTCMilliseconds(),
  );
};

describe('dates of a schedule', () => {
  test('31 January, 28 February, 31 March; 29 February comes back every fourth year', () => {
    const days = (text: string, period: SchedulePeriod, count: number) =>
      datesFrom({ anchor: Temporal.Instant.from(text), period, intervalCount: 1 }, 0, count).map(
        (date) => date.toString().slice(0, 10),
      );
    assert.deepEqual(days('2027-01-31T10:00:00Z', 'month', 4), [
      '2027-01-31',
      '2027-02-28',
      '2027-03-31',
      '2027-04-30',
    ]);
    assert.deepEqual(days('2028-02-29T10:00:00Z', 'year', 5), [
      '2028-02-29',
      '2029-02-28',
      '2030-02-28',
      '2031-02-28',
      '2032-02-29',
    ]);
  });

  test('the n-th date is counted from the first, by whatever calendar it is counted', (t) => {
    const property = fc.property(schedule, fc.nat({ max: 120 }), (plan, index) => {
      const from = new Date(plan.anchor.epochMilliseconds);
      assert.equal(
        dateOf(plan, index).epochMilliseconds,
        dateByHand(from, plan.period, index * plan.intervalCount),
      );
    });
    holds(t, property, 3_000);
  });

  test('periods tile time over years: every moment lies in exactly one, and the next date after it is the end of that one', (t) => {
    const property = fc.property(
      schedule,
      fc.nat({ max: 60 }),
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      (plan, index, share) => {
        const [begin, end] = [
          dateOf(plan, index).epochMilliseconds,
          dateOf(plan, index + 1).epochMilliseconds,
        ];
        assert(begin < end, 'a period has no length');
        const moment = Temporal.Instant.fromEpochMilliseconds(
          begin + Math.floor((end - begin) * share),
        );
        assert.equal(firstIndexAfter(plan, moment), index + 1);
      },
    );
    holds(t, property, 3_000);
  });

  test('a moment before the first date has the first date before it', (t) => {
    const property = fc.property(schedule, fc.integer({ min: 1, max: 400 }), (plan, days) => {
      assert.equal(firstIndexAfter(plan, plan.anchor.subtract({ hours: days * 24 })), 0);
    });
    holds(t, property, 200);
  });

  test('the projection ends where a year has no four digits', () => {
    const plan: Schedule = {
      anchor: Temporal.Instant.from('2026-01-31T00:00:00Z'),
      period: 'year',
      intervalCount: 1_000,
    };
    assert.equal(datesFrom(plan, 1).length, 7);
  });
});

const pending = (plan: Schedule, trialDays: number): Standing => ({
  status: 'pending',
  period: plan.period,
  intervalCount: plan.intervalCount,
  trialDays,
  anchorAt: null,
  periods: 0,
  failures: 0,
  nextChargeAt: null,
});

interface Lived extends Standing {
  readonly dueAt: Temporal.Instant | null;
}

const after = (
  standing: Standing & { dueAt?: Temporal.Instant | null },
  patch: StandingPatch,
): Lived => ({ ...standing, dueAt: null, ...patch });

const end = fc.constantFrom<ChargeEnd>(
  { kind: 'succeeded' },
  { kind: 'succeeded' },
  { kind: 'succeeded' },
  { kind: 'failed', failureCode: 'insufficient_funds' },
  { kind: 'dropped' },
);

describe('what is charged', () => {
  test('the dates charged are those of the projection, in order and each once, whatever fails on the way', (t) => {
    let charged = 0;
    const property = fc.property(
      schedule,
      fc.integer({ min: 0, max: 40 }),
      fc.infiniteStream(end),
      (plan, trialDays, ends) => {
        const boundAt = plan.anchor;
        let standing = after(
          pending(plan, trialDays),
          activated(pending(plan, trialDays), boundAt),
        );
        const projection = datesFrom(
          { ...plan, anchor: boundAt.add({ hours: trialDays * 24 }) },
          standing.periods,
        );
        const begunDates: string[] = [];
        for (
          let step = 0;
          step < 60 && standing.dueAt !== null && begunDates.length < projection.length;
          step += 1
        ) {
          const { dueAt: now, nextChargeAt } = standing;
          const { charge, patch } = begun(standing);
          if (charge.attempt === 1) {
            assert.equal(charge.period, standing.periods + 1);
            begunDates.push(String(nextChargeAt));
          }
          const next = ends.next();
          const result = next.done ? ({ kind: 'succeeded' } as const) : next.value;
          standing = after(standing, {
            ...patch,
            ...settled({ ...standing, ...patch }, charge, result, now),
          });
          charged += 1;
        }
        assert.deepEqual(begunDates, projection.slice(0, begunDates.length).map(String));
        assert(
          standing.status === 'cancelled' || begunDates.length === projection.length,
          `${begunDates.length} of ${projection.length}`,
        );
      },
    );
    holds(t, property, 300);
    assert(charged > 300);
  });

  test('a third failure in a row ends the subscription, a hard decline at once, and a success in between begins the count anew', () => {
    const plan: Schedule = {
      anchor: Temporal.Instant.from('2026-01-31T00:00:00Z'),
      period: 'month',
      intervalCount: 1,
    };
    const start = after(pending(plan, 0), activated(pending(plan, 0), plan.anchor));
    const soft: ChargeEnd = { kind: 'failed', failureCode: 'insufficient_funds' };
    const live = (ends: readonly ChargeEnd[]): string[] => {
      let standing = start;
      return ends.map((result) => {
        const now = standing.dueAt ?? assert.fail('nothing is due');
        const { charge, patch } = begun(standing);
        standing = after(standing, {
          ...patch,
          ...settled({ ...standing, ...patch }, charge, result, now),
        });
        return `${charge.period}.${charge.attempt} ${standing.status} ${standing.dueAt?.toString().slice(0, 10) ?? '-'}`;
      });
    };
    assert.deepEqual(live([soft, soft, soft]), [
      '2.1 past_due 2026-03-01',
      '2.2 past_due 2026-03-04',
      '2.3 cancelled -',
    ]);
    assert.deepEqual(live([soft, { kind: 'succeeded' }, soft]), [
      '2.1 past_due 2026-03-01',
      '2.2 active 2026-03-31',
      '3.1 past_due 2026-04-01',
    ]);
    assert.deepEqual(live([{ kind: 'failed', failureCode: 'stolen_card' }]), ['2.1 cancelled -']);
  });
});
