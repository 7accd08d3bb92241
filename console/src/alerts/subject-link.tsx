/** The link from an alert to what it is about. */
import { Link } from '@tanstack/react-router';
import type { AlertsQuery } from '../../../schema/generated/console.ts';
import { kept, readSearch, useAddress } from '../address.ts';
import { useAlertWords } from '../words/alerts.ts';

/** The link to the payment that an alert is about, or to another page that shows its subject. */
export const SubjectLink = ({
  alert: { payment, place },
}: {
  readonly alert: Pick<AlertsQuery['alerts']['nodes'][number], 'payment' | 'place'>;
}) => {
  const words = useAlertWords();
  const { search } = useAddress();
  if (payment) {
    const { id, merchantId, publicId } = payment;
    return (
      <Link to="/payments/$merchantId/$id" params={{ merchantId, id }} search={kept(search)}>
        {words.toPayment(publicId)}
      </Link>
    );
  }
  const { pathname, searchParams } = new URL(place, location.origin);
  if (pathname === '/alerts') return null;
  return (
    <Link
      to={pathname}
      search={{ ...kept(search), ...readSearch(Object.fromEntries(searchParams)) }}
    >
      {words.toSubject}
    </Link>
  );
};
