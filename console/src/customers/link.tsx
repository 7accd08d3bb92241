/** The way to everything of one customer. */
import { Link } from '@tanstack/react-router';
import { kept, useAddress } from '../address.ts';

export interface OfCustomer {
  readonly merchantId: string;
  readonly customer: string;
}

export const CustomerLink = ({ merchantId, customer }: OfCustomer) => {
  const { search } = useAddress();
  return (
    <Link
      to="/customer"
      search={{ ...kept(search), merchant: merchantId, customer }}
      onClick={(event) => event.stopPropagation()}
    >
      {customer}
    </Link>
  );
};
