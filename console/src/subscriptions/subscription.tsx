/** One subscription over its list: its terms, its charges, its next dates, and what may be done. */
import * as graph from '../../../schema/generated/console.ts';
import {
  Facts,
  Id,
  Money,
  Moment,
  Status,
  tones,
  CustomerLink,
  ObjectLink,
  type ObjectId,
} from '../parts/texts.tsx';
import { ObjectDrawer } from '../parts/modal.tsx';
import { Empty, Waiting } from '../parts/states.tsx';
import { useAsk } from '../parts/use-ask.ts';
import { sharedWords } from '../words/shared.ts';
import { subscriptionWords as own } from '../words/subscriptions.ts';
import { FailureName } from '../words/failures.tsx';
import { words } from '../words/words.ts';
import { wholeUnits } from '../format.ts';
import { reason_max_chars } from '../../../schema/limits.ts';
import { actButton } from '../parts/act-form.tsx';
import { send } from '../parts/outcome.tsx';

type SubscriptionDetails = NonNullable<graph.SubscriptionQuery['billingSubscription']>;

const SubscriptionActs = ({
  subscription: { merchantId, id, status },
}: {
  readonly subscription: SubscriptionDetails;
}) => {
  if (status === 'cancelled') return null;
  const text = { label: words.columns.reason, hint: own.reasonHint };
  return (
    <div className="acts">
      {(status === 'active' || status === 'past_due') &&
        actButton({
          permission: 'subscriptionPause',
          title: own.pause,
          consequence: own.pauseText,
          fields: { reason: { ...text, maxLength: reason_max_chars, isOptional: true } },
          act: ({ reason }) =>
            send(
              graph.PauseSubscription,
              { merchantId, id, reason: reason || null },
              own.pausedNow,
            ),
        })}
      {status === 'paused' &&
        actButton({
          permission: 'subscriptionResume',
          isMain: true,
          title: own.resume,
          consequence: own.resumeText,
          act: () => send(graph.ResumeSubscription, { merchantId, id }, own.resumed),
        })}
      {actButton({
        permission: 'subscriptionCancel',
        title: own.cancel,
        consequence: own.cancelText,
        fields: { reason: text },
        act: ({ reason }) =>
          send(graph.CancelSubscription, { merchantId, id, reason }, own.cancelled),
      })}
    </div>
  );
};

type Charge = SubscriptionDetails['charges'][number];

const ChargeLine = ({
  charge,
  merchantId,
}: {
  readonly charge: Charge;
  readonly merchantId: string;
}) => {
  const { kind, period, attempt, status, failureCode, paymentId, amount, currency } = charge;
  return (
    <li data-tone={status === 'open' ? 'moving' : tones[status]}>
      <div className="line">
        <span>
          {kind === 'subscription_init' ? own.binding : own.charge(period, attempt)}:{' '}
          {own.chargeStatuses[status]} <Money amount={amount} currency={currency} />{' '}
          {failureCode !== null && <FailureName code={failureCode} />}{' '}
          {paymentId !== null && (
            <ObjectLink merchantId={merchantId} id={paymentId}>
              {words.columns.payment}
            </ObjectLink>
          )}
        </span>
        <Moment at={charge.settledAt ?? charge.createdAt} />
      </div>
    </li>
  );
};

const Charges = ({ subscription }: { readonly subscription: SubscriptionDetails }) => {
  const { charges, merchantId } = subscription;
  return (
    <section>
      <h2>{own.charges}</h2>
      {charges.length === 0 && <p className="quiet">{own.noCharges}</p>}
      <ol className="timeline">
        {charges.toReversed().map((charge) => (
          <ChargeLine
            key={`${charge.kind} ${charge.period} ${charge.attempt}`}
            charge={charge}
            merchantId={merchantId}
          />
        ))}
      </ol>
    </section>
  );
};

const Upcoming = ({ dates }: { readonly dates: readonly string[] }) => (
  <section>
    <h2>{own.upcoming}</h2>
    {dates.length === 0 ? (
      <p className="quiet">{own.noUpcoming}</p>
    ) : (
      <ul className="chips">
        {dates.slice(0, 6).map((at) => (
          <li key={at} className="chip still">
            <Moment at={at} />
          </li>
        ))}
      </ul>
    )}
  </section>
);

const Terms = ({ subscription }: { readonly subscription: SubscriptionDetails }) => {
  const { nextChargeAt, retryAt, lastChargeAt, pausedAt, cancelledAt, token } = subscription;
  const at = (moment: string | null) => (moment === null ? null : <Moment at={moment} />);
  return (
    <Facts
      facts={[
        [
          own.customer,
          <CustomerLink
            key="customer"
            merchantId={subscription.merchantId}
            customer={subscription.customerRef}
          />,
        ],
        [own.plan, subscription.planName],
        [
          words.columns.method,
          [words.payment.methods[subscription.method], token.cardBrand, token.cardMask]
            .filter(Boolean)
            .join(' '),
        ],
        [own.trial, subscription.trialDays > 0 ? wholeUnits(subscription.trialDays, 'day') : null],
        [own.nextCharge, at(nextChargeAt)],
        [own.retry, at(retryAt)],
        [own.lastCharge, at(lastChargeAt)],
        [own.paused, at(pausedAt)],
        [own.ended, at(cancelledAt)],
        [own.why, subscription.cancelReason],
        [words.columns.shop, subscription.shop.name],
        [words.payment.id, <Id key="id" id={subscription.id} whole />],
        [words.columns.createdHer, at(subscription.createdAt)],
      ]}
    />
  );
};

const View = ({ merchantId, id }: ObjectId) => {
  const { data, error } = useAsk(graph.Subscription, { merchantId, id }, { follow: {} });
  if (!data) return <Waiting error={error} />;
  const { billingSubscription: subscription } = data;
  if (!subscription) return <Empty title={sharedWords.notFound} />;
  const { amount, currency, status, period, intervalCount } = subscription;
  return (
    <article className="payment">
      <header className="payment-head">
        <p className="amount">
          <Money amount={amount} currency={currency} />
        </p>
        <Status tone={tones[status]}>{own.statuses[status]}</Status>
        <p className="quiet line">{own.every(intervalCount, period)}</p>
      </header>
      <SubscriptionActs subscription={subscription} />
      <Terms subscription={subscription} />
      <Upcoming dates={subscription.upcoming} />
      <Charges subscription={subscription} />
    </article>
  );
};

export const SubscriptionDrawer = () => <ObjectDrawer name={own.one} view={View} />;
