/** A payment's status as people see it: a payment that was refunded in part says so. */
import type { PaymentRowFragment, PaymentStatus } from '../../../schema/generated/console.ts';
import { Status, tones } from '../parts/status.tsx';
import { useWords } from '../words/words.ts';

export type Standing = PaymentStatus | 'partly_refunded';

const standingOf = ({
  status,
  amountRefunded,
}: Pick<PaymentRowFragment, 'status' | 'amountRefunded'>): Standing =>
  status === 'succeeded' && amountRefunded > 0 ? 'partly_refunded' : status;

/** The status of a payment. */
export const PaymentStanding = ({
  payment,
}: {
  readonly payment: Pick<PaymentRowFragment, 'status' | 'amountRefunded'>;
}) => {
  const standing = standingOf(payment);
  return <Status tone={tones[standing]}>{useWords().payment.statuses[standing]}</Status>;
};
