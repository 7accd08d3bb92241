/** Search results: their texts and their places in the console. */
import type { SearchQuery } from '../../../schema/generated/console.ts';
import type { Search } from '../address.ts';
import { money } from '../amounts.ts';
import { plainMoment, shortId } from '../format.ts';
import { Status, tones } from '../parts/status.tsx';
import { methodText } from '../payments/method.tsx';
import { PaymentStanding } from '../payments/standing.tsx';
import { useViewer } from '../viewer.tsx';
import { useWords } from '../words/words.ts';
import type { Act } from './acts.ts';
import type { Section } from './sections.tsx';

type Hit = SearchQuery['search'][number];
type Payment = NonNullable<Hit['payment']>;
interface Of {
  /** Unique among the results. */
  readonly key: string;
  readonly merchantId: string;
  readonly at: string;
}
type FoundObject =
  | (Of & { readonly kind: 'payment'; readonly payment: Payment })
  | (Of & {
      readonly kind: 'refund';
      readonly payment: Payment;
      readonly refund: NonNullable<Hit['refund']>;
    })
  | (Of & { readonly kind: 'payout'; readonly payout: NonNullable<Hit['payout']> })
  | (Of & {
      readonly kind: 'subscription';
      readonly subscription: NonNullable<Hit['subscription']>;
    })
  | (Of & { readonly kind: 'payment_link'; readonly id: string });
export type Found =
  | FoundObject
  | { readonly kind: 'section'; readonly key: string; readonly section: Section }
  | Act;

/** A hit as the console shows it; an object without a screen is shown as its payment. */
const objectOf = (hit: Hit): FoundObject | null => {
  const { kind, id, merchantId, at, payment, refund, payout, subscription } = hit;
  if (merchantId === null) return null;
  const of = { key: `${kind} ${merchantId} ${id}`, merchantId, at };
  if (refund && payment) return { ...of, kind: 'refund', refund, payment };
  if (payout) return { ...of, kind: 'payout', payout };
  if (subscription) return { ...of, kind: 'subscription', subscription };
  if (kind === 'payment_link') return { ...of, kind, id };
  return payment
    ? { ...of, key: `payment ${payment.merchantId} ${payment.id}`, kind: 'payment', payment }
    : null;
};

/**
 * The results without duplicates: a payment that matches by itself and by its parts appears once.
 */
export const objectsIn = (hits: readonly Hit[]): readonly FoundObject[] => [
  ...new Map(
    hits.flatMap((hit) => {
      const one = objectOf(hit);
      return one ? [[one.key, one] as const] : [];
    }),
  ).values(),
];

/** The section that shows it. */
export const sectionOf = ({ kind }: FoundObject): Section => {
  switch (kind) {
    case 'payment':
      return 'payments';
    case 'refund':
      return 'refunds';
    case 'payout':
      return 'payouts';
    case 'subscription':
      return 'subscriptions';
    case 'payment_link':
      return 'paylinks';
  }
};

const second_ms = 1_000;

/** The second of its creation: a list filtered by it shows little else. */
const madeIn = (at: string): Search => {
  const from_ms = Math.floor(Date.parse(at) / second_ms) * second_ms;
  return {
    since: new Date(from_ms).toISOString(),
    until: new Date(from_ms + second_ms).toISOString(),
  };
};

/** The address of a result: merchant, mode, and the open object or the filtered list. */
export const placeOf = (one: FoundObject): Search => {
  const merchant = one.merchantId;
  switch (one.kind) {
    case 'payment': {
      const { merchantId, id, mode } = one.payment;
      return { mode, open: `${merchantId}/${id}` };
    }
    case 'refund': {
      const { mode, id } = one.payment;
      return { mode, merchant, ...madeIn(one.at), open: `${merchant}/${id}` };
    }
    case 'payout':
      return { mode: one.payout.mode, merchant, open: `${merchant}/${one.payout.id}` };
    case 'subscription': {
      const { id, mode } = one.subscription;
      return { mode, merchant, open: `${merchant}/${id}` };
    }
    case 'payment_link':
      return { merchant, open: one.id };
  }
};

const PaymentText = ({ payment }: { readonly payment: Payment }) => {
  const words = useWords();
  const isOfMerchant = useViewer().merchantId !== null;
  const { shopName, merchant } = payment;
  return (
    <>
      <span>{money(payment.amount, payment.currency, words.locale)}</span>
      <span>{payment.orderId}</span>
      <PaymentStanding payment={payment} />
      <span className="quiet found-facts">
        {plainMoment(payment.createdAt, words.locale)} · {methodText(payment, words)} · {shopName}
        {!isOfMerchant && ` · ${merchant.name}`} · <span className="mono">{payment.publicId}</span>
      </span>
    </>
  );
};

const ObjectText = ({ one }: { readonly one: FoundObject }) => {
  const words = useWords();
  switch (one.kind) {
    case 'payment':
      return <PaymentText payment={one.payment} />;
    case 'refund':
      return (
        <>
          <span>{money(one.refund.amount, one.payment.currency, words.locale)}</span>
          <span>{one.payment.orderId}</span>
          <Status tone={tones[one.refund.status]}>
            {words.refund.statuses[one.refund.status]}
          </Status>
        </>
      );
    case 'payout':
      return (
        <>
          <span>{money(one.payout.amount, one.payout.currency, words.locale)}</span>
          <Status tone={tones[one.payout.status]}>
            {words.payout.statuses[one.payout.status]}
          </Status>
        </>
      );
    case 'subscription':
      return (
        <>
          <span>{money(one.subscription.amount, one.subscription.currency, words.locale)}</span>
          <span>{one.subscription.customerRef}</span>
        </>
      );
    case 'payment_link':
      return <span className="quiet mono">{shortId(one.id)}</span>;
  }
};

/** One result line; the section comes first, unless it is a payment. */
export const FoundText = ({ one }: { readonly one: Found }) => {
  const { sections } = useWords();
  if (one.kind === 'act') return <span>{one.name}</span>;
  if (one.kind === 'section') return <span>{sections[one.section]}</span>;
  return (
    <span className="found">
      {one.kind !== 'payment' && <span className="quiet">{sections[sectionOf(one)]}</span>}
      <ObjectText one={one} />
    </span>
  );
};
