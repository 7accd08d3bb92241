/** The link from an alert to its payment. */
import { Link } from '@tanstack/react-router';
import type { AlertsQuery } from '../../../schema/generated/console.ts';
import { kept, useAddress } from '../address.ts';
import { useAlertWords } from '../words/alerts.ts';

/** The link to the payment that an alert is about. */
export const PaymentLink = ({
  alert: { payment },
}: {
  readonly alert: Pick<AlertsQuery['alerts']['nodes'][number], 'payment'>;
}) => {
  const words = useAlertWords();
  const { search } = useAddress();
  if (!payment) return null;
  const { id, merchantId, publicId } = payment;
  return (
    <Link to="/payments/$merchantId/$id" params={{ merchantId, id }} search={kept(search)}>
      {words.toPayment(publicId)}
    </Link>
  );
};
