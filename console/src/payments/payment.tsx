/** One payment: its facts, its money, its timeline and its actions. */
import { useEffect } from 'react';
import { Payment } from '../../../schema/generated/console.ts';
import { useLive } from '../graph/live.tsx';
import { Empty, Failure } from '../parts/states.tsx';
import { Skeleton } from '../parts/table.tsx';
import { Money, Moment } from '../parts/texts.tsx';
import { useAsk } from '../parts/use-ask.ts';
import { WaitingRefunds } from '../refunds/drafts.tsx';
import { useWords } from '../words/words.ts';
import { PaymentActs } from './acts.tsx';
import { PaymentFacts } from './facts.tsx';
import { ForBuyer } from './for-buyer.tsx';
import { methodText } from './method.tsx';
import { Notes } from './notes.tsx';
import { PaymentStanding } from './standing.tsx';
import { Timeline } from './timeline.tsx';
import type { PaymentDetails } from './payment-details.ts';

/** The poll interval of a payment while something of it is in progress. */
const poll_ms = 4_000;
/** Webhooks and movements follow an event within a moment. */
const settle_ms = 1_500;

/** Whether a change without a stream event is still to come. */
const isUnderWay = ({ status, webhookDeliveries, receipts }: PaymentDetails): boolean =>
  status === 'processing' ||
  webhookDeliveries.some((delivery) => delivery.status === 'pending') ||
  receipts.some((receipt) => receipt.status === 'pending');

/** Reloads on every event of the payment, and while something is in progress. */
const usePayment = (merchantId: string, id: string) => {
  const { listen, epoch } = useLive();
  const { data, error, again } = useAsk(Payment, { merchantId, id });
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = listen((changes) => {
      const isAbout = changes.some(
        (change) =>
          (change.kind === 'payment' && change.row.id === id) ||
          (change.kind === 'refund' && change.row.paymentId === id),
      );
      if (!isAbout) return;
      again();
      clearTimeout(timer);
      timer = setTimeout(again, settle_ms);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [listen, id, again]);
  useEffect(() => {
    if (epoch > 0) again();
  }, [epoch, again]);
  const mayChange = data?.payment ? isUnderWay(data.payment) : false;
  useEffect(() => {
    if (!mayChange) return undefined;
    const timer = setInterval(() => {
      if (!document.hidden) again();
    }, poll_ms);
    return () => clearInterval(timer);
  }, [mayChange, again]);
  return { data, error, again };
};

const Strip = ({ payment }: { readonly payment: PaymentDetails }) => {
  const { strip } = useWords().payment;
  const { currency, status } = payment;
  const left = payment.amountCaptured - payment.amountRefunded;
  const parts: (readonly [string, number])[] = [
    [strip.ordered, payment.amount],
    ...(payment.amountCapturable > 0 ? [[strip.held, payment.amountCapturable] as const] : []),
    ...(payment.amountCaptured > 0 ? [[strip.captured, payment.amountCaptured] as const] : []),
    ...(payment.fee === null ? [] : [[strip.fee, payment.fee] as const]),
    ...(payment.net === null ? [] : [[strip.net, payment.net] as const]),
    ...(payment.amountRefunded > 0 ? [[strip.refunded, payment.amountRefunded] as const] : []),
    ...(status === 'succeeded' ? [[strip.remaining, left] as const] : []),
  ];
  return (
    <dl className="strip">
      {parts.map(([name, amount]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <Money amount={amount} currency={currency} />
          </dd>
        </div>
      ))}
    </dl>
  );
};

const Head = ({ payment }: { readonly payment: PaymentDetails }) => {
  const words = useWords();
  return (
    <header className="payment-head">
      <p className="amount">
        <Money amount={payment.amount} currency={payment.currency} />
      </p>
      <PaymentStanding payment={payment} />
      <p className="quiet line">
        {payment.shopName} · {payment.orderId} · {methodText(payment, words)} ·{' '}
        <Moment at={payment.createdAt} />
      </p>
    </header>
  );
};

/** The payment with everything about it. */
export const PaymentView = ({
  merchantId,
  id,
}: {
  readonly merchantId: string;
  readonly id: string;
}) => {
  const words = useWords();
  const { data, error, again } = usePayment(merchantId, id);
  if (error && !data) return <Failure error={error} again={again} />;
  if (!data) return <Skeleton />;
  const { payment } = data;
  if (!payment) return <Empty title={words.payment.notFound} />;
  return (
    <article className="payment">
      <Head payment={payment} />
      <PaymentActs payment={payment} again={again} />
      {payment.lateSuccess && <p className="note">{words.payment.late}</p>}
      <Strip payment={payment} />
      {payment.status === 'succeeded' && <WaitingRefunds payment={payment} again={again} />}
      <ForBuyer payment={payment} />
      <Notes payment={payment} again={again} />
      <Timeline payment={payment} />
      <PaymentFacts payment={payment} />
    </article>
  );
};
