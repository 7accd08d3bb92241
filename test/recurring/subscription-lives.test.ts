import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { openHarness, type Harness } from './harness.ts';
import { live } from './subscription-life.ts';

let harness: Harness;
before(async () => {
  harness = await openHarness();
});
after(() => harness.close());
beforeEach(async () => {
  // Each life begins at the same moment, and alone: what the one before has left is charged no
  // more.
  const began = Temporal.Instant.from('2026-11-21T10:00:00Z');
  harness.pass({ milliseconds: began.epochMilliseconds - harness.call().now.epochMilliseconds });
  await harness.database.pool.query('update subscription set due_at = null');
});

const life = (title: string, table: string): void => {
  test(title, async () => {
    assert.ok((await live(harness, await harness.merchant(), table)) > 0);
  });
};

describe('a subscription', () => {
  life(
    'without a trial is paid for its first period when it is bound, and charged an interval later',
    `
    start  sbp month 10_000   -> pending
    upcoming                  ->
    on     2026-11-22         -> cancelled binding_expired
    start  sbp month 10_000   -> pending
    pay                       -> active next 2026-12-22
    taken                     -> 10_000
    on     2026-12-21         -> active next 2026-12-22
    on     2026-12-22         -> active next 2027-01-22
    charges                   -> 1.1 succeeded, 2.1 succeeded
    taken                     -> 20_000`,
  );

  life(
    'with a trial begins with a verification and is charged when the trial is over',
    `
    start  cards week 10_000 every 2 trial 14  -> pending
    pay                       -> active next 2026-12-05
    taken                     -> 0
    on     2026-12-04         -> active next 2026-12-05
    on     2026-12-05         -> active next 2026-12-19
    charges                   -> 0.1 succeeded, 1.1 succeeded
    upcoming                  -> 2026-12-19 2027-01-02 2027-01-16 2027-01-30 2027-02-13 2027-02-27 2027-03-13 2027-03-27 2027-04-10 2027-04-24 2027-05-08 2027-05-22
    taken                     -> 10_000`,
  );

  life(
    'has no trial by tpay',
    `
    start  tpay month 10_000 trial 7  -> refused bad_request
    start  tpay month 10_000  -> pending`,
  );

  life(
    'can be cancelled more than once, and is charged no more',
    `
    start  sbp year 10_000    -> pending
    pay                       -> active next 2027-11-21
    on     2027-11-21         -> active next 2028-11-21
    cancel too dear           -> cancelled too dear
    on     2028-11-21         -> cancelled too dear
    cancel                    -> cancelled too dear
    charges                   -> 1.1 succeeded, 2.1 succeeded`,
  );
});

describe('a binding', () => {
  life(
    'that expires cancels the subscription',
    `
    start  cards month 10_000 -> pending
    expire                    -> cancelled binding_expired
    charges                   -> 1.1 failed link_expired`,
  );

  life(
    'that the bank declines cancels the subscription',
    `
    start  sbp month 10_002   -> pending
    decline                   -> cancelled binding_failed`,
  );

  life(
    'is cancelled with a pending subscription',
    `
    start  sbp month 10_000   -> pending
    cancel changed my mind    -> cancelled changed my mind
    charges                   -> 1.1 cancelled
    expire                    -> cancelled changed my mind
    taken                     -> 0`,
  );
});

describe('a declined charge', () => {
  life(
    'is tried again after one day and after three; a success brings the subscription back and the schedule keeps its dates',
    `
    start  sbp month 10_000   -> pending
    pay                       -> active next 2026-12-21
    priced 10_002             -> active next 2026-12-21
    on     2026-12-21         -> past_due next 2027-01-21 retry 2026-12-22
    on     2026-12-22         -> past_due next 2027-01-21 retry 2026-12-25
    priced 10_000             -> past_due next 2027-01-21 retry 2026-12-25
    on     2026-12-24         -> past_due next 2027-01-21 retry 2026-12-25
    on     2026-12-25         -> active next 2027-01-21
    on     2027-01-21         -> active next 2027-02-21
    charges                   -> 1.1 succeeded, 2.1 failed insufficient_funds, 2.2 failed insufficient_funds, 2.3 succeeded, 3.1 succeeded
    reported                  -> active past_due active
    taken                     -> 30_000`,
  );

  life(
    'for the third time in a row ends the subscription',
    `
    start  sbp month 10_000   -> pending
    pay                       -> active next 2026-12-21
    priced 10_001             -> active next 2026-12-21
    on     2026-12-21         -> past_due next 2027-01-21 retry 2026-12-22
    on     2026-12-22         -> past_due next 2027-01-21 retry 2026-12-25
    on     2026-12-25         -> cancelled payment_failed
    upcoming                  ->
    on     2027-06-21         -> cancelled payment_failed
    reported                  -> active past_due cancelled
    taken                     -> 10_000`,
  );

  life(
    'that is hard ends it at once',
    `
    start  sbp month 10_000   -> pending
    pay                       -> active next 2026-12-21
    priced 10_003             -> active next 2026-12-21
    on     2026-12-21         -> cancelled payment_failed
    charges                   -> 1.1 succeeded, 2.1 failed expired_card`,
  );

  life(
    'of a daily subscription holds the next period back until it is settled, which is then made up for',
    `
    start  sbp day 10_000     -> pending
    pay                       -> active next 2026-11-22
    priced 10_001             -> active next 2026-11-22
    on     2026-11-22         -> past_due next 2026-11-23 retry 2026-11-23
    priced 10_000             -> past_due next 2026-11-23 retry 2026-11-23
    on     2026-11-23         -> active next 2026-11-24
    charges                   -> 1.1 succeeded, 2.1 failed do_not_honor, 2.2 succeeded, 3.1 succeeded`,
  );
});

describe('a charge without an answer', () => {
  life(
    'is not tried again while it may still come; when its session ends it has failed',
    `
    start  sbp month 10_000   -> pending
    pay                       -> active next 2026-12-21
    priced 10_006             -> active next 2026-12-21
    on     2026-12-21         -> active next 2027-01-21
    charges                   -> 1.1 succeeded, 2.1 open
    expire                    -> past_due next 2027-01-21 retry 2026-12-22
    charges                   -> 1.1 succeeded, 2.1 failed session_expired`,
  );
});

describe('a pause', () => {
  life(
    'charges nothing, and what was missed is not charged afterwards',
    `
    start  sbp month 10_000   -> pending
    pause                     -> refused bad_request
    pay                       -> active next 2026-12-21
    pause                     -> paused
    pause                     -> paused
    upcoming                  ->
    on     2027-02-25         -> paused
    resume                    -> active next 2027-03-21
    resume                    -> active next 2027-03-21
    on     2027-03-20         -> active next 2027-03-21
    on     2027-03-21         -> active next 2027-04-21
    charges                   -> 1.1 succeeded, 5.1 succeeded
    cancel                    -> cancelled
    resume                    -> refused bad_request`,
  );

  life(
    'ends the retries of a failed charge',
    `
    start  sbp month 10_000   -> pending
    pay                       -> active next 2026-12-21
    priced 10_001             -> active next 2026-12-21
    on     2026-12-21         -> past_due next 2027-01-21 retry 2026-12-22
    pause                     -> paused
    on     2026-12-23         -> paused
    priced 10_000             -> paused
    resume                    -> active next 2027-01-21
    on     2027-01-21         -> active next 2027-02-21
    charges                   -> 1.1 succeeded, 2.1 failed do_not_honor, 3.1 succeeded`,
  );

  life(
    'lets a charge end that began before it, and resuming waits for that',
    `
    start  sbp month 10_000   -> pending
    pay                       -> active next 2026-12-21
    priced 10_006             -> active next 2026-12-21
    on     2026-12-21         -> active next 2027-01-21
    pause                     -> paused
    resume                    -> active next 2027-01-21
    expire                    -> past_due next 2027-01-21 retry 2026-12-22`,
  );
});

test('a year of monthly charges with two declines is lived in seconds, and each date is charged once', async () => {
  const dates = Array.from({ length: 12 }, (_, month) =>
    Temporal.PlainDate.from('2026-12-21').add({ months: month }).toString(),
  );
  const lines = dates.flatMap((date, index) => {
    const next = Temporal.PlainDate.from('2026-12-21').add({ months: index + 1 });
    if (index !== 3 && index !== 7) return [`on ${date} -> active next ${next.toString()}`];
    const retry = Temporal.PlainDate.from(date).add({ days: 1 }).toString();
    return [
      `priced 10_002 -> active next ${date}`,
      `on ${date} -> past_due next ${next.toString()} retry ${retry}`,
      `priced 10_000 -> past_due next ${next.toString()} retry ${retry}`,
      `on ${retry} -> active next ${next.toString()}`,
    ];
  });
  const key = await harness.merchant();
  const upcoming = `upcoming -> ${dates.join(' ')}`;
  await live(
    harness,
    key,
    [
      'start sbp month 10_000 -> pending',
      'pay -> active next 2026-12-21',
      upcoming,
      ...lines,
      'taken -> 130_000',
    ].join('\n'),
  );
});
