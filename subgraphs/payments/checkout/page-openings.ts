/**
 * Notes that a buyer has opened a payment's page, beside the page and in no statement of its own. A
 * preview that a messenger makes of the address counts as an opening.
 */
import { LRUCache } from 'lru-cache';
import { Counter } from 'prom-client';
import { rfc3339 } from '../../../schema/scalars.ts';
import { bufferInto, type BufferedRows } from '../../platform/database/batch-calls.ts';
import type { Seller } from '../../platform/database/find-seller.ts';
import type { Runner } from '../../platform/database/statement.ts';
import { metrics } from '../../platform/tracing/telemetry.ts';
import type { Payment } from '../entities.ts';
import type { PaymentKey } from '../store-payment.ts';

/** A page, with what those of its fields are read by that are read only where asked for. */
export interface CheckoutPage {
  readonly payment: Payment;
  readonly now: Temporal.Instant;
  readonly shopSite: string | null;
  readonly seller: () => Promise<Seller>;
}

/** Payments whose opening this process has noted; one that fell out is noted again. */
const openings_max = 10_000;

const unnoted = new Counter({
  name: 'page_openings_unrecorded_total',
  help: 'Views of hosted pages that were not recorded, because the database did not accept them in time.',
  registers: [metrics],
});

const bufferOpenings = bufferInto('page_opening');

export interface PageOpenings extends Pick<BufferedRows, 'close'> {
  /** Notes an opening, if it is the first of this payment here; it never waits and never fails. */
  readonly note: (payment: PaymentKey, now: Temporal.Instant) => void;
}

/** The openings that this process sees. */
export const openPageOpenings = (runner: Runner): PageOpenings => {
  const noted = new LRUCache<string, true>({ max: openings_max });
  const rows = bufferOpenings(runner, (lost) => unnoted.inc(lost));
  return {
    note: ({ merchantId, paymentId }, now) => {
      if (noted.has(paymentId)) return;
      noted.set(paymentId, true);
      rows.add({ merchant_id: merchantId, payment_id: paymentId, created_at: rfc3339(now) });
    },
    close: rows.close,
  };
};
