/** What the database has of an event's deliveries. */
import type { Harness } from './harness.ts';

export interface Delivery {
  readonly status: string;
  readonly attempts: number;
  readonly wait_s: number | null;
  readonly leased: boolean;
  readonly url: string;
}

/** Deliveries of an event; `wait_s` is from the last attempt to the next. */
export const deliveriesOf = async (
  { pool }: Harness,
  eventId: string,
): Promise<readonly Delivery[]> => {
  const { rows } = await pool.query<Delivery>(
    `select status, attempts, url, lease_until is not null as leased,
       extract(epoch from next_attempt_at - (select max(at) from webhook_attempt where delivery_id = d.id))::float8 as wait_s
     from webhook_delivery d where event_id = $1`,
    [eventId],
  );
  return rows;
};

export interface Attempt {
  readonly number: number;
  readonly status: number | null;
  readonly error: string | null;
  readonly response_head: string | null;
  readonly duration_ms: number;
}

/** Attempts of an event's deliveries, first to last. */
export const attemptsOf = async (
  { pool }: Harness,
  eventId: string,
): Promise<readonly Attempt[]> => {
  const { rows } = await pool.query<Attempt>(
    `select number, a.status, error, response_head, duration_ms from webhook_attempt a
     join webhook_delivery d on d.merchant_id = a.merchant_id and d.id = delivery_id where event_id = $1 order by number`,
    [eventId],
  );
  return rows;
};
