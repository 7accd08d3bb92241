/** A payment where it is one of many: its status, its method, and the drawer over its list. */
import type * as graph from '../../../schema/generated/console.ts';
import { useAddress } from '../address.ts';
import { later } from '../parts/later.tsx';
import { Status, tones } from '../parts/texts.tsx';
import { words } from '../words/words.ts';

type Standing = graph.PaymentStatus | 'partly_refunded';

/** What a list is asked for; a payment that was refunded in part is one that succeeded, too. */
export const askedOf = (chosen: readonly Standing[]) => {
  const statuses = chosen.map((one) => (one === 'partly_refunded' ? 'succeeded' : one));
  const isNarrow = chosen.includes('partly_refunded') && !chosen.includes('succeeded');
  return {
    status: statuses.length > 0 ? [...new Set(statuses)] : null,
    filter: isNarrow ? { partlyRefunded: true } : {},
  };
};

export const standsAs = (
  payment: Pick<graph.PaymentRowFragment, 'status' | 'amountRefunded'>,
  chosen: readonly Standing[],
): boolean =>
  chosen.length === 0 || chosen.includes(payment.status) || chosen.includes(standingOf(payment));

const standingOf = ({
  status,
  amountRefunded,
}: Pick<graph.PaymentRowFragment, 'status' | 'amountRefunded'>): Standing =>
  status === 'succeeded' && amountRefunded > 0 ? 'partly_refunded' : status;

export const PaymentStanding = ({
  payment,
}: {
  readonly payment: Pick<graph.PaymentRowFragment, 'status' | 'amountRefunded'>;
}) => {
  const standing = standingOf(payment);
  return <Status tone={tones[standing]}>{words.payment.statuses[standing]}</Status>;
};

export const methodText = ({
  method,
  customerCardMask,
  customerPhoneMask,
}: graph.PaymentRowFragment): string =>
  [words.payment.methods[method], customerCardMask ?? customerPhoneMask].filter(Boolean).join(' ');

export type PaymentDetails = NonNullable<graph.PaymentQuery['payment']>;

/** The refunds that have not ended, as they began. */
export const refundsUnderWay = ({ timeline }: PaymentDetails) =>
  timeline
    .filter((one) => one.__typename === 'TimelineRefund')
    .filter(
      ({ refundStatus, refund }) => refundStatus === 'pending' && refund.completedAt === null,
    );

const LaterDrawer = later(async () => (await import('./payment.tsx')).OpenDrawer);

export const PaymentDrawer = () =>
  useAddress().search.open === undefined ? null : <LaterDrawer />;
