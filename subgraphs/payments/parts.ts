/** What the resolvers of the payments subgraph work with. */
import type { Banks } from '../acquirers/route.ts';
import type { TestClocks } from '../platform/clock/test-clocks.ts';
import type { CustomerVault } from '../platform/database/kept-keys.ts';
import type { Database } from '../platform/database/orm.ts';
import type { WakeRelay } from '../platform/events/relay.ts';
import type { Policies } from '../platform/policies/policies.ts';
import type { TargetSwitch } from '../platform/http/webhook-url.ts';
import type { Refresh } from './bank-answers/refresh-payment.ts';
import type { PageDeps } from '../platform/access/keys.ts';
import type { PageOpenings, ShownPayments } from './checkout/shown-payments.ts';
import type { Payment, Refund } from './entities.ts';

export interface PaymentsDeps extends PageDeps, TargetSwitch {
  readonly database: Database;
  readonly banks: Banks;
  readonly policies: Pick<Policies, 'current'>;
  /** Seals what receipts say of buyers. */
  readonly customers: CustomerVault;
  /** The time of a payment's shop, for calls of the service itself. */
  readonly clocks: Pick<TestClocks, 'timeOf' | 'stands'>;
  /** Notes that a buyer has opened a page. */
  readonly openings: Pick<PageOpenings, 'note'>;
  /** Notifies the relay that the outbox has something. */
  readonly wakeRelay: WakeRelay;
  /**
   * Queries the bank about a payment when it is to be asked, if it is still in progress then. The
   * sweep replaces a lost request.
   */
  readonly askLater: (payment: Pick<Payment, 'id' | 'askAt'>, now: Temporal.Instant) => void;
  /** The payment has an end: it need not be asked about. */
  readonly askNoMore: (paymentId: string) => void;
  /** The same for a refund. */
  readonly sendRefundLater: (
    refund: Pick<Refund, 'merchantId' | 'id' | 'askAt'>,
    now: Temporal.Instant,
  ) => void;
}

/**
 * The same, with the refresh on reads and the payments that this process created or showed last.
 */
export type ReadingDeps = PaymentsDeps & {
  readonly refresh: Refresh;
  readonly shown: ShownPayments;
};
