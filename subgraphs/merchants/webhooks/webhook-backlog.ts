/**
 * Measures the webhook backlog: events not relayed, deliveries not delivered, and the oldest age.
 */
import { run, type Runner, type Statement } from '../../platform/database/statement.ts';
import { watchGauges } from '../../platform/tracing/telemetry.ts';

interface WebhookBacklog {
  /** Events that have no deliveries yet. */
  readonly unrelayed: number;
  /** Due deliveries without an attempt. A lasting backlog means that the workers do not keep up. */
  readonly untried: number;
  /** Deliveries with failed attempts that wait for a retry. */
  readonly retrying: number;
  /** Since the event of the oldest one in any of the three, in seconds; 0 when there is none. */
  readonly oldest_s: number;
}

// By the index of pending deliveries: some milliseconds for each ten thousand.
const backlog: Statement = {
  name: 'webhook.backlog',
  text: `
    with undelivered as (
      select count(*) filter (where attempts = attempts_before)::int as untried, count(*) filter (where attempts > attempts_before)::int as retrying,
        min(created_at) as oldest
      from webhook_delivery where status = 'pending'
    ), outbox as (
      select count(*)::int as unrelayed, min(created_at) as oldest from event where sequence is null and webhook_event is not null
    )
    select unrelayed, untried, retrying,
      greatest(0, coalesce(extract(epoch from now() - least(undelivered.oldest, outbox.oldest)), 0))::float8 as oldest_s
    from undelivered, outbox`,
};

/**
 * Adds the gauges `webhook_backlog` (by `state`: unrelayed, untried, retrying) and
 * `webhook_oldest_undelivered_seconds` to the metrics of this process. They are read on each
 * scrape, so all processes report the same: take the maximum over processes. While the database is
 * down they keep their last values. Returns a function that removes them.
 */
export const watchWebhookBacklog = (runner: Runner): (() => void) => {
  let reading: Promise<WebhookBacklog | null> | null = null;
  /** One query for both gauges of a scrape. */
  const look = (): Promise<WebhookBacklog | null> =>
    (reading ??= run<WebhookBacklog>(runner, backlog, [])
      .then(([row]) => row ?? null)
      .catch(() => null)
      .finally(() => (reading = null)));
  return watchGauges(
    {
      name: 'webhook_backlog',
      help: 'Pending webhooks, by stage.',
      labelNames: ['state'],
      async collect() {
        const seen = await look();
        for (const state of seen ? (['unrelayed', 'untried', 'retrying'] as const) : [])
          this.set({ state }, seen?.[state] ?? 0);
      },
    },
    {
      name: 'webhook_oldest_undelivered_seconds',
      help: 'Age of the oldest pending webhook, in seconds; 0 when none is pending.',
      async collect() {
        const seen = await look();
        if (seen) this.set(seen.oldest_s);
      },
    },
  );
};
