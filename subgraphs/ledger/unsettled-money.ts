/**
 * Money with an unknown outcome, by its age. Unknown is not failed, so operators must watch what
 * stays unknown.
 */
import { run, type Runner, type Statement } from '../platform/database/statement.ts';
import type { Mode } from '../rules/mode.ts';
import { watchGauges } from '../platform/tracing/telemetry.ts';

const unsettledKinds = ['payment', 'hold', 'refund', 'payout'] as const;
/** Up to ten minutes, an hour, a day, and longer. */
const unsettledAges = ['10m', '1h', '1d', 'older'] as const;
type Age = (typeof unsettledAges)[number];

interface Unsettled {
  readonly kind: (typeof unsettledKinds)[number];
  readonly mode: Mode;
  readonly currency: string;
  readonly age: Age;
  readonly count: number;
  /** In minor units: a sum that a metric's floating point may round. */
  readonly amount: number;
}

// A payment's time runs from the session's end: until then its buyer may take as long as it lasts.
// A hold's time runs from its order to capture or to give up, which its key begins with,
// where that lies between the payment's creation and now, as under a test clock it may not. Each part reads a partial index of what is not final.
const unsettled: Statement = {
  name: 'money.unsettled',
  text: `
    with waiting as (
      select 'payment' as kind, mode, currency, amount, processing_until as since from payment where status = 'processing'
      union all
      select 'hold', mode, currency, case hold_order when 'capture' then coalesce(amount_captured, amount) else amount end,
        case when keyed_at between created_at and now() then keyed_at else now() end
        from (select *, to_timestamp(('x' || left(replace(hold_key::text, '-', ''), 12))::bit(48)::bigint / 1000.0) as keyed_at
          from payment where hold_order is not null) as keyed
      union all
      select 'refund', refund.mode, payment.currency, refund.amount, refund.created_at from refund
        join payment on payment.merchant_id = refund.merchant_id and payment.id = refund.payment_id where refund.status = 'pending'
      union all
      select 'payout', mode, currency, amount, created_at from payout where status = 'pending'
    ), aged as (
      select *, case when since > now() - interval '10 minutes' then '10m' when since > now() - interval '1 hour' then '1h'
        when since > now() - interval '1 day' then '1d' else 'older' end as age
      from waiting
    )
    select kind, mode, currency, age, count(*)::int as count, sum(amount)::float8 as amount from aged group by kind, mode, currency, age`,
};

/**
 * Adds the gauges `money_unsettled` (by kind, mode and age) and `money_unsettled_minor_units` (by
 * currency, too) to the metrics of this process. They are read when they are scraped, so every
 * process that has them reports the same: take the maximum over processes. While the database is
 * away they keep their last values. Gives what takes them off again.
 */
export const watchUnsettledMoney = (runner: Runner): (() => void) => {
  let reading: Promise<readonly Unsettled[] | null> | null = null;
  /** One look for both gauges of a scrape. */
  const look = (): Promise<readonly Unsettled[] | null> =>
    (reading ??= run<Unsettled>(runner, unsettled, [])
      .catch(() => null)
      .finally(() => (reading = null)));
  return watchGauges(
    {
      name: 'money_unsettled',
      help: 'Payments, hold orders, refunds and payouts without a final state, by age: payments since their session ended, the others since they were created.',
      labelNames: ['kind', 'mode', 'age'],
      async collect() {
        const found = await look();
        if (!found) return;
        for (const kind of unsettledKinds)
          for (const mode of ['live', 'test'])
            for (const age of unsettledAges) this.set({ kind, mode, age }, 0);
        for (const { kind, mode, age, count } of found) this.inc({ kind, mode, age }, count);
      },
    },
    {
      name: 'money_unsettled_minor_units',
      help: 'Total amount of payments, holds, refunds and payouts without a final state, by age, in minor units.',
      labelNames: ['kind', 'mode', 'currency', 'age'],
      async collect() {
        const found = await look();
        if (found) this.reset();
        for (const { kind, mode, currency, age, amount } of found ?? [])
          this.set({ kind, mode, currency, age }, amount);
      },
    },
  );
};
